import type { SearchHit } from '../../../../src/protocol/ports/logSearch.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { searchSessions } from '../../../sessions/src/searchSessions.ts'
import type { WantedSessions } from './sessionIndex.ts'

/** Maximum number of records that are passed to the application's function. */
const mostHits = 1_000

/** The searches of the clients of one server, one at a time: a store without an index reads its logs for each. */
export class SessionSearch {
  readonly #store: Store
  #last: Promise<unknown> = Promise.resolve()

  constructor(store: Store) {
    this.#store = store
  }

  /** Rejects as `searchSessions` does. */
  hits(text: string, { query, choose }: Omit<WantedSessions, 'running'>, limit: number): Promise<readonly SearchHit[]> {
    const found = this.#last.then(() =>
      searchSessions(this.#store, { ...query, text, limit: choose === undefined ? limit : mostHits }),
    )
    this.#last = found.catch(() => {})
    return found
  }
}
