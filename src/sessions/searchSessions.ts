import type { SearchHit, SearchQuery } from '../protocol/logSearch.ts'
import { RuntimeError } from '../protocol/errors.ts'
import { checkMetadata } from '../protocol/metadata.ts'
import type { Store } from '../protocol/store.ts'
import { ScanSearch } from '../stores/scanSearch.ts'
import { allLogs, pagesOf } from './logPages.ts'

/**
 * Finds where something was said, in the sessions of a store: the records that have all of the words, in any script; longer words may go on.
 * The best first, at most 20 unless `limit` says otherwise. A store with `search` answers from its index; of any other all logs
 * are read that the query does not leave out.
 *
 * @throws RuntimeError `INVALID_OPTION`, `STORE_READ_FAILED`. A log that cannot be read is searched up to there.
 */
export async function searchSessions(store: Store, query: SearchQuery): Promise<readonly SearchHit[]> {
  const { text, limit, ...among } = query
  checkMetadata('searchSessions', query.metadata)
  if (typeof text !== 'string') throw new RuntimeError('INVALID_OPTION', 'searchSessions: text: give a text.')
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 0))
    throw new RuntimeError('INVALID_OPTION', `searchSessions: limit: give a whole number from 0 on, not ${limit}.`)
  if (store.search !== undefined) return await store.search(query)
  const search = new ScanSearch(query)
  if (search.isEmpty) return []
  for await (const { id } of allLogs(pagesOf(store), among)) {
    try {
      for await (const record of store.read(id)) search.look(id, record)
    } catch {
      // The others are searched all the same.
    }
  }
  return search.hits
}
