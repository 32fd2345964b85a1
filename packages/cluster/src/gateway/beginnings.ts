import type { Clock } from '../../../../src/protocol/ports/clock.ts'

/** How long a stop waits at most for what was asked before it, in milliseconds: as long as an agent is looked for. */
const waitMs = 10_000

/** An agent that is asked, and the name of the client that asks, as far as its permit gives it one. */
export interface Asked {
  readonly agentId: string
  readonly who: string | undefined
}

/** A stop does not wait for what another client asks, which could hold it up by asking on and on. */
const keyOf = ({ agentId, who }: Asked): string => JSON.stringify([agentId, who])

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

  /** Number of agents with such requests, counted for each client. */
  get size(): number {
    return this.#open.size
  }

  /** Enters a request. Returns a function to call once a worker has begun to answer it, or none will; idempotent. */
  enter(asked: Asked): () => void {
    const key = keyOf(asked)
    const { promise, resolve } = Promise.withResolvers<void>()
    const all = this.#open.get(key) ?? new Set()
    this.#open.set(key, all.add(promise))
    return () => {
      resolve()
      all.delete(promise)
      if (all.size === 0 && this.#open.get(key) === all) this.#open.delete(key)
    }
  }

  /** Resolves once all requests that the client entered so far for the agent have begun, or the time for that is over, or `signal` is aborted. */
  async before(asked: Asked, signal: AbortSignal): Promise<void> {
    const earlier = [...(this.#open.get(keyOf(asked)) ?? [])]
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
