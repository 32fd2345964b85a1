import { signal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { Client } from '../../client.ts'
import { pendingOf } from '../../client/fold/foldPending.ts'
import type { Pending } from '../../protocol/pending.ts'

/** How many agents are asked at the same time. */
const mostAtOnce = 4
/** How many agents are kept: rows that were scrolled by. */
const mostKept = 200

interface Entry {
  readonly pending: Signal<ReadonlyMap<string, Pending> | null>
  /** The keys that it was asked for last. */
  asked: string
}

/** What waits for people at which agent, read when it is about to be shown. Close it. */
export class WaitingBook {
  readonly #client: Pick<Client, 'agent'>
  readonly #entries = new Map<string, Entry>()
  readonly #queue: string[] = []
  #busy = 0
  #isClosed = false

  constructor(client: Pick<Client, 'agent'>) {
    this.#client = client
  }

  /** What waits at an agent, by key; `null` until it is read. It is read again when `keys` are others. */
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

  /** Nothing is read any more. Idempotent. */
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

  /** Never rejects: of an agent that is gone nothing waits. */
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
