import type { LogEntry } from '../../../src/protocol/ports/logPages.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { keptOf, type Said } from '../../stores/src/rules/searchText.ts'

/** Maximum number of characters kept, enough for the messages of tens of thousands of short sessions. */
const mostChars = 16 * 1024 * 1024

interface Known extends Pick<LogEntry, 'size' | 'writtenAt'> {
  readonly said: readonly Said[]
  readonly chars: number
}

/**
 * Messages from the logs of a store without an index. They are kept in memory as far as there is room, and read again where a log has changed.
 * Messages that did not fit are read each time.
 */
export class SaidInLogs {
  readonly #store: Store
  readonly #known = new Map<string, Known>()
  #chars = 0

  constructor(store: Store) {
    this.#store = store
  }

  /** Returns the messages in a log, or those before the damage if it is damaged. */
  async of({ id, size, writtenAt }: Pick<LogEntry, 'id' | 'size' | 'writtenAt'>): Promise<readonly Said[]> {
    const known = this.#known.get(id)
    if (known?.size === size && known.writtenAt === writtenAt) return known.said
    this.#forget(id)
    const said: Said[] = []
    let chars = 0
    try {
      for await (const record of this.#store.read(id)) {
        const one = keptOf(record)
        if (one === undefined) continue
        said.push(one)
        chars += one.text.length
      }
    } catch {
      return said
    }
    if (this.#chars + chars <= mostChars) {
      this.#known.set(id, { size, writtenAt, said, chars })
      this.#chars += chars
    }
    return said
  }

  /** Forgets the logs that no longer exist. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#forget(id)
  }

  #forget(id: string): void {
    this.#chars -= this.#known.get(id)?.chars ?? 0
    this.#known.delete(id)
  }
}
