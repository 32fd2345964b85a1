import { estimateTokens } from '../conversation/tokenCounter.ts'
import type { Clock } from '../protocol/clock.ts'
import type { Model, ModelReply } from '../protocol/model.ts'
import { Cancellation } from './cancellation.ts'
import { countUsage } from './countUsage.ts'
import { readReply } from './readReply.ts'

/** One question to a model, outside any conversation, under a time limit. Never rejects. */
export async function askModel(
  model: Model,
  question: {
    readonly system: string
    readonly text: string
    readonly maxTokens: number
    readonly timeoutMs: number
    readonly clock: Clock
    readonly signal: AbortSignal
  },
): Promise<{ ok: true; reply: ModelReply } | { ok: false; problem: string }> {
  const { system, text, maxTokens, timeoutMs, clock, signal } = question
  if (signal.aborted) return { ok: false, problem: 'aborted' }
  const limit = new Cancellation()
  const stop = (): void => limit.abort()
  signal.addEventListener('abort', stop, { once: true })
  const cancel = clock.after(timeoutMs, stop)
  const messages = [{ role: 'user', content: [{ type: 'text', text }] }] as const
  const result = await readReply(
    model,
    { system, messages, tools: [], settings: { maxTokens } },
    { cancellation: limit, isOnce: true },
    () => {},
  )
  cancel()
  signal.removeEventListener('abort', stop)
  if (result === null)
    return { ok: false, problem: signal.aborted ? 'aborted' : `it took too long, over ${timeoutMs} ms` }
  if (!result.ok) return { ok: false, problem: result.failure.error.message }
  const input = estimateTokens.text(system) + estimateTokens.text(text)
  return { ok: true, reply: { ...result.reply, usage: countUsage(result.reply, input, estimateTokens) } }
}
