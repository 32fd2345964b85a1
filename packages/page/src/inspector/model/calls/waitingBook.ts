import { signal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { Client } from '../../../../../bridge/src/client/index.ts'
import { pendingOf } from '../../../../../bridge/src/client/fold/foldPending.ts'
import type { Pending } from '../../../../../../src/protocol/runs/pending.ts'

/** Limit of agents that are asked at the same time. */
const mostAtOnce = 4
/** Maximum number of agents whose items are kept, including those of rows that were scrolled by. */
const mostKept = 200

interface Entry {
  readonly pending: Signal<ReadonlyMap<string, Pending> | null>
  /** Keys of the last request, joined by line breaks. */
  asked: string
}

/** Items that wait for people, by agent, which are read when they are about to be shown. Close it. */
export class WaitingBook {
  readonly #client: Pick<Client, 'agent'>
  readonly #entries = new Map<string, Entry>()
  readonly #queue: string[] = []
  #busy = 0
  #isClosed = false

  constructor(client: Pick<Client, 'agent'>) {
    this.#client = client
  }

  /** Returns the items that wait at an agent, by key; `null` until they are read. They are read again when `keys` change. */
  of(agentId: string, keys: readonly string[]): ReadonlySignal<ReadonlyMap<string, Pending> | null> {
    const asked = keys.join('\n')
    const known = this.#entries.get(agentId)
    const entry = known ?? { pending: signal(null), asked: '' }
    if (known === undefined) this.#keep(agentId, entry)
    if (entry.asked !== asked) {
      entry.asked = asked
      if (!this.#queue.includes(agentId)) this.#queue.push(agentId)
      this.#next()
    }
    return entry.pending
  }

  /** Stops all reading. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#queue.length = 0
  }

  #keep(agentId: string, entry: Entry): void {
    this.#entries.set(agentId, entry)
    if (this.#entries.size <= mostKept) return
    const [oldest] = this.#entries.keys()
    this.#entries.delete(oldest!)
  }

  #next(): void {
    while (this.#busy < mostAtOnce && !this.#isClosed) {
      const agentId = this.#queue.shift()
      if (agentId === undefined) return
      this.#busy += 1
      void this.#read(agentId).finally(() => {
        this.#busy -= 1
        this.#next()
      })
    }
  }

  /** Reads the items of an agent; an agent that is gone has none. Never rejects. */
  async #read(agentId: string): Promise<void> {
    const entry = this.#entries.get(agentId)
    if (entry === undefined) return
    const pending = await this.#client
      .agent(agentId)
      .snapshot()
      .then(pendingOf, () => {
        // With the next change of the list it is tried again.
        entry.asked = ''
        return []
      })
    if (!this.#isClosed) entry.pending.value = new Map(pending.map((one) => [one.key, one]))
  }
}
