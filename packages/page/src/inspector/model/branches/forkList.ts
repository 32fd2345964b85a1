import { effect, signal, type ReadonlySignal } from '@preact/signals'
import type { Client } from '../../../../../bridge/src/client/index.ts'
import type { Clock } from '../../../../../../src/protocol/ports/clock.ts'
import type { SessionEntry } from '../../../../../wire/src/frames.ts'

/** Limit of the forks that are listed. */
const mostListed = 50
/** Delay in milliseconds before the forks are read again after agents have come or gone: the server searches its logs for them. */
const settleMs = 1_000
/** Interval of further reads in milliseconds: a fork that is not used yet does not run, so no list of running agents has it. */
const restMs = 10_000

export interface ForkListOptions {
  readonly client: Pick<Client, 'sessions'>
  /** Id of the agent whose forks are listed. */
  readonly agentId: string
  /** Signal that changes whenever an agent that code or a client started comes or goes. */
  readonly roots: ReadonlySignal<number>
  readonly clock: Clock
}

/** Keeps the list of an agent's forks up to date. */
export class ForkList {
  /** Forks, the one written last first. */
  readonly forks = signal<readonly SessionEntry[]>([])
  /** Id of the agent whose forks are listed. */
  readonly agentId: string
  readonly #options: ForkListOptions
  readonly #unwatch: () => void
  /** The next planned reading. `isSoon`: true if agents have come or gone. */
  #next: { readonly isSoon: boolean; cancel(): void } | undefined
  #isReading = false
  #isClosed = false

  /** Reads the forks at once, at intervals, and after agents have come or gone: many changes make one reading. */
  constructor(options: ForkListOptions) {
    this.#options = options
    this.agentId = options.agentId
    let isFirst = true
    this.#unwatch = effect(() => {
      void options.roots.value
      if (!isFirst && this.#next?.isSoon !== true) this.#readAfter(settleMs)
      isFirst = false
    })
    void this.#read()
  }

  /** Stops reading the forks. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#next?.cancel()
    this.#unwatch()
  }

  #readAfter(ms: number): void {
    this.#next?.cancel()
    const cancel = this.#options.clock.after(ms, () => {
      this.#next = undefined
      void this.#read()
    })
    this.#next = { isSoon: ms === settleMs, cancel }
  }

  async #read(): Promise<void> {
    if (this.#isReading) return this.#readAfter(settleMs)
    const { client, agentId } = this.#options
    this.#isReading = true
    // A server of an older version cannot tell, and one that is gone says so elsewhere.
    const page = await client.sessions({ forkedFrom: agentId, limit: mostListed }).catch(() => undefined)
    this.#isReading = false
    if (this.#isClosed) return
    if (page !== undefined) this.forks.value = page.sessions
    if (this.#next === undefined) this.#readAfter(restMs)
  }
}
