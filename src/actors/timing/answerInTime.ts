import type { Cancellation } from './cancellation.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { TimeLimit } from './timeLimit.ts'

/**
 * Resolves with the answer of a function of the application. Rejects with the error that it throws, when the time is
 * up, or when the cancellation comes first. The function's signal is aborted then.
 */
export async function answerInTime<T>(
  { clock }: Pick<AgentPorts, 'clock'>,
  { name, timeoutMs }: { readonly name: string; readonly timeoutMs: number },
  cancellation: Cancellation,
  ask: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const limit = new TimeLimit(clock, timeoutMs, cancellation)
  try {
    return await limit.race(async () => ask(limit.cancellation.signal))
  } catch (thrown) {
    if (limit.isOver) throw new Error(`${name} gave no answer within ${timeoutMs} ms`, { cause: thrown })
    throw thrown
  } finally {
    limit.end()
  }
}
