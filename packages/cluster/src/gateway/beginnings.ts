import type { Clock } from '../../../../src/protocol/ports/clock.ts'

/** How long a stop waits at most for what was asked before it, in milliseconds: as long as an agent is looked for. */
const waitMs = 10_000

/**
 * Requests to agents that no worker has begun to answer yet. Requests to one worker take several connections and may overtake each other; a stop
 * that comes first would find nothing to stop.
 */
export class Beginnings {
  readonly #clock: Clock
  readonly #open = new Map<string, Set<Promise<void>>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Number of agents with such requests. */
  get size(): number {
    return this.#open.size
  }

  /** Enters a request. Returns a function to call once a worker has begun to answer it, or none will; idempotent. */
  enter(agentId: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    const all = this.#open.get(agentId) ?? new Set()
    this.#open.set(agentId, all.add(promise))
    return () => {
      resolve()
      all.delete(promise)
      if (all.size === 0 && this.#open.get(agentId) === all) this.#open.delete(agentId)
    }
  }

  /** Resolves once all requests entered so far for an agent have begun, or the time for that is over, or `signal` is aborted. */
  async before(agentId: string, signal: AbortSignal): Promise<void> {
    const earlier = [...(this.#open.get(agentId) ?? [])]
    if (earlier.length === 0 || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = (): void => resolve()
    const cancel = this.#clock.after(waitMs, end)
    signal.addEventListener('abort', end, { once: true })
    await Promise.race([Promise.all(earlier), promise])
    signal.removeEventListener('abort', end)
    cancel()
  }
}
