import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Model, ModelError, ModelPart, ModelRequest } from '../../../../src/protocol/ports/model.ts'
import { partsOf, toReply, wrongInShape, type ReplyShape } from '../../../models/src/replyShape.ts'

/** One scripted reply: a short reply, a function of the request, a failure, or the exact parts to stream. */
export type ScriptedReply =
  | ReplyShape
  | ((request: ModelRequest, options: { signal: AbortSignal }) => ReplyShape | Promise<ReplyShape>)
  | { readonly error: ModelError }
  | { readonly parts: Iterable<ModelPart> | AsyncIterable<ModelPart> }

export interface ScriptedModel extends Model {
  /** Every request seen, in order. */
  readonly requests: readonly ModelRequest[]
  /** @throws RuntimeError if some replies of the script were never requested. */
  assertComplete(): void
}

/**
 * Creates a model that plays a script reply by reply. The first request beyond the script fails with its number.
 *
 * @example
 * ```ts
 * import { scriptedModel } from 'escapement/testing'
 *
 * const model = scriptedModel([{ toolCalls: [{ name: 'list_files', input: {} }] }, 'There are 3 files.'])
 * const agent = await runtime.spawn(defineAgent({ name: 'tested', model, tools }))
 * await agent.prompt('How many files are there?').result
 * model.assertComplete()
 * ```
 */
export function scriptedModel(replies: readonly ScriptedReply[], options: { id?: string } = {}): ScriptedModel {
  const requests: ModelRequest[] = []
  return {
    id: options.id ?? 'embedded:scripted',
    requests,
    assertComplete() {
      if (requests.length >= replies.length) return
      throw new RuntimeError(
        'INVALID_OPTION',
        `The script holds ${replies.length} replies, but only ${requests.length} were asked for.`,
      )
    },
    async *stream(request, { signal }) {
      requests.push(request)
      const scripted = replies[requests.length - 1]
      if (scripted === undefined) {
        const message = `request ${requests.length} is not in the script, which holds ${replies.length} replies`
        yield { type: 'error', error: { kind: 'badRequest', message } }
        return
      }
      for await (const part of play(scripted, request, requests.length - 1, signal)) {
        if (signal.aborted) return
        yield part
      }
    },
  }
}

async function* play(
  scripted: ScriptedReply,
  request: ModelRequest,
  index: number,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  if (typeof scripted === 'object' && 'error' in scripted) yield { type: 'error', error: scripted.error }
  else if (typeof scripted === 'object' && 'parts' in scripted) yield* scripted.parts
  else {
    const shape = typeof scripted === 'function' ? await scripted(request, { signal }) : scripted
    const wrong = wrongInShape(shape)
    if (wrong === undefined) yield* partsOf(toReply(shape, request, index))
    else yield { type: 'error', error: { kind: 'badRequest', message: `reply ${index + 1} of the script: ${wrong}` } }
  }
}
