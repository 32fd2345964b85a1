import type { Clock } from '../../../../src/protocol/ports/clock.ts'

/** Maximum time for which a stop waits for earlier requests, in milliseconds: as long as an agent is looked for. */
const waitMs = 10_000

/** Agent of a request, and the name of the client that sends it, if its permit names one. */
export interface Asked {
  readonly agentId: string
  readonly who: string | undefined
}

/** Key by client, so that a stop does not wait for another client, which could delay it endlessly with new requests. */
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

  /** Number of agents with such requests, counted separately for each client. */
  get size(): number {
    return this.#open.size
  }

  /** Adds a request. Returns an idempotent function to call once a worker has begun to answer the request, or none will. */
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

  /** Resolves once all requests that the client entered so far for the agent have begun, the time limit passes, or `signal` is aborted. */
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
