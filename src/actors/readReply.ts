import { errorInfo, messageOf, type ErrorCode } from '../protocol/errors.ts'
import type { Block } from '../protocol/messages.ts'
import type { Model, ModelErrorKind, ModelPart, ModelReply, ModelRequest } from '../protocol/model.ts'
import type { ReplyFailure } from '../machines/agentTypes.ts'

const codes: { readonly [K in ModelErrorKind]: ErrorCode } = {
  rateLimited: 'MODEL_RATE_LIMITED',
  network: 'MODEL_NETWORK',
  auth: 'MODEL_AUTH',
  overflow: 'MODEL_OVERFLOW',
  badRequest: 'MODEL_BAD_REQUEST',
  other: 'MODEL_FAILED',
}

/** `null`: it was aborted. */
export type ReadReply =
  | { readonly ok: true; readonly reply: ModelReply }
  | { readonly ok: false; readonly failure: ReplyFailure }
  | null

type Delta = Exclude<ModelPart, { type: 'done' | 'error' }>

/**
 * Reads one reply from a model, giving each delta on as it arrives. Never throws: whatever the model does wrong comes back
 * as a failure. Nothing is given on once `signal` is aborted.
 */
export async function readReply(
  model: Model,
  request: ModelRequest,
  options: { signal: AbortSignal; turnIndex?: number },
  onDelta: (delta: Delta) => void,
): Promise<ReadReply> {
  const { signal } = options
  let outcome: Exclude<ReadReply, null> | undefined
  let wrong: string | undefined
  try {
    for await (const part of model.stream(request, options)) {
      if (signal.aborted) return null
      if (outcome !== undefined) return protocolFailure(model, `it yielded "${part?.type}" after its terminal part`)
      switch (part?.type) {
        case 'text.delta':
        case 'thinking.delta':
        case 'toolCall.delta':
          if (typeof part.text !== 'string') return protocolFailure(model, `it yielded a ${part.type} without text`)
          onDelta(part)
          break
        case 'done':
          wrong = wrongIn(part.reply)
          if (wrong !== undefined) return protocolFailure(model, wrong)
          outcome = { ok: true, reply: part.reply }
          break
        case 'error':
          outcome = { ok: false, failure: failureOf(model, part.error) }
          break
        default:
          return protocolFailure(
            model,
            `it yielded a part of unknown type ${JSON.stringify((part as { type?: unknown } | undefined)?.type)}`,
          )
      }
    }
  } catch (thrown) {
    if (signal.aborted) return null
    return outcome ?? { ok: false, failure: failureOf(model, { kind: 'other', message: messageOf(thrown) }) }
  }
  if (signal.aborted) return null
  return outcome ?? protocolFailure(model, 'its stream ended without "done" or "error"', 'network')
}

const stopReasons: ReadonlySet<unknown> = new Set(['stop', 'length', 'toolUse', 'refusal'])

/** What an adapter written by hand may get wrong in a reply; `undefined` when it is right. */
function wrongIn(reply: Partial<ModelReply> | undefined): string | undefined {
  if (!Array.isArray(reply?.content)) return 'its reply has no content'
  const index = reply.content.findIndex((block: Partial<Block> | null) => !isBlock(block))
  if (index >= 0)
    return `block ${index} of its reply is no block: ${JSON.stringify(reply.content[index])?.slice(0, 200)}`
  if (!stopReasons.has(reply.stopReason)) return `its stop reason is ${JSON.stringify(reply.stopReason)}`
  const { usage } = reply
  const counts = [usage?.input, usage?.output, usage?.cacheRead, usage?.cacheWrite]
  return counts.every((count) => typeof count === 'number' && count >= 0) ? undefined : 'its usage lacks token counts'
}

function isBlock(block: Partial<Block> | null | undefined): boolean {
  switch (block?.type) {
    case 'text':
    case 'thinking':
      return typeof block.text === 'string'
    case 'image':
      return typeof block.data === 'string' && typeof block.mimeType === 'string'
    case 'toolCall':
      return typeof block.callId === 'string' && typeof block.name === 'string'
    default:
      return false
  }
}

function failureOf(
  model: Model,
  error: { kind: ModelErrorKind; message: string; retryAfterMs?: number },
): ReplyFailure {
  const kind = Object.hasOwn(codes, error?.kind) ? error.kind : 'other'
  const what = `${model.id}: ${messageOf(error?.message).replace(/[.\s]*$/, '')}.`
  const failure = { kind, error: errorInfo(codes[kind], what) }
  return error?.retryAfterMs === undefined ? failure : { ...failure, retryAfterMs: error.retryAfterMs }
}

/** A stream that just ends may be a lost connection, so it is retried; any other breach is the adapter's and would repeat. */
const protocolFailure = (
  model: Model,
  what: string,
  kind: ModelErrorKind = 'badRequest',
): Exclude<ReadReply, null> => ({
  ok: false,
  failure: { kind, error: errorInfo('MODEL_PROTOCOL', `Model ${model.id} broke the contract of the port: ${what}.`) },
})
