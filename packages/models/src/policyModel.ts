import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { Model, ModelRequest } from '../../../src/protocol/ports/model.ts'
import { type Clock, systemClock } from '../../../src/protocol/ports/clock.ts'
import { pause } from '../../../src/protocol/ports/pause.ts'
import { partsOf, toReply, wrongInShape, type ReplyShape } from './replyShape.ts'

/** Decides a reply from the request. If it throws, the model call has failed. */
export type ModelPolicy = (
  request: ModelRequest,
  at: { readonly turnIndex: number },
) => ReplyShape | Promise<ReplyShape>

export interface PolicyModelOptions {
  readonly id?: string
  /** Milliseconds between words, on `clock`, for demos that people watch. Default 0. */
  readonly wordDelayMs?: number
  readonly clock?: Clock
}

/**
 * Creates a model from a plain function, for demos and tests without an API key. It streams the reply of the function word by word.
 * @throws RuntimeError `INVALID_DEFINITION` for anything but a function.
 */
export function policyModel(decide: ModelPolicy, options: PolicyModelOptions = {}): Model {
  if (typeof decide !== 'function')
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `policyModel takes a function that decides a reply, not ${typeof decide}.`,
    )
  const { wordDelayMs = 0, clock = systemClock } = options
  return {
    id: options.id ?? 'embedded:policy',
    async *stream(request, { signal, turnIndex = countReplies(request) }: { signal: AbortSignal; turnIndex?: number }) {
      const shape = await decide(request, { turnIndex })
      const wrong = wrongInShape(shape)
      if (wrong !== undefined) {
        yield { type: 'error', error: { kind: 'badRequest', message: `the policy cannot be followed, as ${wrong}` } }
        return
      }
      const reply = toReply(shape, request, turnIndex)
      for (const part of partsOf(reply)) {
        if (signal.aborted) return
        if (wordDelayMs > 0 && part.type !== 'done') await pause(wordDelayMs, clock, signal)
        yield part
      }
    },
  }
}

const countReplies = (request: ModelRequest): number =>
  request.messages.filter(({ role }) => role === 'assistant').length
