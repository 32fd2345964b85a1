import { estimateTokens } from '../../../../src/conversation/limits/tokenCounter.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { totalTokens, type Usage } from '../../../../src/protocol/messages.ts'
import type { ModelPart, ModelRequest } from '../../../../src/protocol/ports/model.ts'
import { toldBy } from '../../../../src/actors/turn/countUsage.ts'
import { pausedError, type Caller, type Gate } from '../../../../src/actors/models/openStream.ts'
import { relay } from '../../../../src/actors/models/relay.ts'
import type { ModelQueue, Permit } from './modelQueue.ts'

/** Returns the gate of one caller, which makes each call when the queue lets it through. */
export const gateOf = (queue: ModelQueue, clock: Clock, caller: Caller): Gate => ({
  pausedMs: (model) => queue.pausedMs(model),
  call: (model, request, options, unlessPaused = false) =>
    relay(async function* (source) {
      const { signal } = options
      const since = clock.now()
      const wait: { over?: (ms?: number) => void } = {}
      const permit = await queue.enter({
        model: model.id,
        root: caller.root,
        tokens: () => caller.tokens ?? tokensOf(request),
        signal,
        unlessPaused,
        waits: (why, ahead) => void (wait.over = caller.waits(model.id, why, ahead)),
      })
      if (permit === undefined) {
        wait.over?.()
        if (!signal.aborted) yield { type: 'error', error: pausedError(queue.pausedMs(model.id)) }
        return
      }
      wait.over?.(clock.now() - since)
      const leave = (): void => permit.leave()
      signal.addEventListener('abort', leave, { once: true })
      try {
        if (signal.aborted) return
        const parts = source.read(model.stream(request, options))
        for (;;) {
          const { done, value } = await parts.next()
          if (done === true) return
          heed(value, permit, (ms) => queue.pause(model.id, ms))
          yield value
        }
      } finally {
        signal.removeEventListener('abort', leave)
        leave()
      }
    }),
})

/** Reports a call's usage, and any pause that the provider asked for. */
function heed(part: ModelPart, permit: Permit, pause: (ms: number) => void): void {
  if (part?.type !== 'done' && part?.type !== 'error') return
  const usage: Partial<Usage> | undefined = part.type === 'done' ? part.reply?.usage : part.error?.usage
  const tokens = totalTokens(toldBy(usage))
  if (tokens > 0) permit.used(tokens)
  if (part.type === 'error' && part.error?.kind === 'rateLimited' && Number(part.error.retryAfterMs) > 0)
    pause(Number(part.error.retryAfterMs))
  permit.leave()
}

/** Estimates the tokens of a request roughly. A request outside a conversation is short, and its reply reports the usage. */
function tokensOf({ system, messages, tools }: ModelRequest): number {
  const said = messages.reduce(
    (sum, { content }) => sum + estimateTokens.message({ role: 'user', content: content as never, source: 'prompt' }),
    0,
  )
  return estimateTokens.text(system) + said + (tools.length === 0 ? 0 : estimateTokens.text(JSON.stringify(tools)))
}
