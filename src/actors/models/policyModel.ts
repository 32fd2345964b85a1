import type { Model, ModelRequest } from '../../protocol/model.ts'
import type { Clock } from '../../protocol/clock.ts'
import { pause } from '../pause.ts'
import { systemClock } from '../../protocol/systemClock.ts'
import { partsOf, toReply, type ReplyShape } from './replyShape.ts'

/** Decides a reply from the request. May throw: that is a failed model call. */
export type Policy = (request: ModelRequest, at: { readonly turnIndex: number }) => ReplyShape | Promise<ReplyShape>

export interface PolicyModelOptions {
  readonly id?: string
  /** Milliseconds between words, on `clock`: a demo that can be watched. Default 0. */
  readonly wordDelayMs?: number
  readonly clock?: Clock
}

/** A model that is a plain function: for demos and tests without a key. It streams what the function decides, word by word. */
export function policyModel(decide: Policy, options: PolicyModelOptions = {}): Model {
  const { wordDelayMs = 0, clock = systemClock } = options
  return {
    id: options.id ?? 'embedded:policy',
    async *stream(request, { signal, turnIndex = countReplies(request) }: { signal: AbortSignal; turnIndex?: number }) {
      const reply = toReply(await decide(request, { turnIndex }), request, turnIndex)
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
