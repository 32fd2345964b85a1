import { setImmediate as breathe } from 'node:timers/promises'
import type { SearchHit, SearchQuery } from '../../../src/protocol/ports/logSearch.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { checkMetadata } from '../../../src/protocol/metadata.ts'
import { checkStore } from '../../../src/protocol/ports/checkStore.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { asksForOrigins } from '../../stores/src/rules/logPages.ts'
import { ScanSearch } from '../../stores/src/rules/scanSearch.ts'
import { pagesOf, type Pages } from '../../stores/src/logPages.ts'
import { SaidInLogs } from './saidInLogs.ts'

/**
 * Searches the messages in a store's sessions for records that contain all of the words, in any script. Longer words that begin with
 * them match too. Returns the best hits first, at most 20 unless `limit` says otherwise. A store with `search` answers from its index. For other
 * stores, all logs that the query does not exclude are read, and their messages are kept, up to 16 million characters per store, so that only
 * changed logs are read the next time.
 *
 * @throws RuntimeError `INVALID_OPTION`, `STORE_READ_FAILED`. A damaged log is searched up to the damage.
 */
export async function searchSessions(store: Store, query: SearchQuery): Promise<readonly SearchHit[]> {
  checkStore(store)
  const { text, limit, ...among } = query ?? {}
  checkMetadata('searchSessions', among.metadata)
  if (typeof text !== 'string') throw new RuntimeError('INVALID_OPTION', 'searchSessions: text: give a text.')
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 0))
    throw new RuntimeError('INVALID_OPTION', `searchSessions: limit: give a whole number from 0 on, not ${limit}.`)
  if (store.search !== undefined) return await store.search(query)
  const search = new ScanSearch(query)
  if (search.isEmpty) return []
  const shelf = shelfOf(store)
  // In one page: each takes a look at all logs.
  const { logs } = await shelf.pages({ ...among, limit: Number.MAX_SAFE_INTEGER })
  if (among.ids === undefined && !asksForOrigins(among)) shelf.said.keepOnly(new Set(logs.map(({ id }) => id)))
  for (const [index, log] of logs.entries()) {
    if (index % 256 === 255) await breathe()
    for (const { seq, text: said } of await shelf.said.of(log)) search.lookAt(log.id, seq, said)
  }
  return search.hits
}

/** Pages and messages of a store without an index, kept while the store is in use. */
interface Shelf {
  readonly pages: Pages
  readonly said: SaidInLogs
}

const shelves = new WeakMap<Store, Shelf>()

function shelfOf(store: Store): Shelf {
  const known = shelves.get(store) ?? { pages: pagesOf(store), said: new SaidInLogs(store) }
  shelves.set(store, known)
  return known
}
