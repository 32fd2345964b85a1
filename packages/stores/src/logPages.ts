import { setImmediate as breathe } from 'node:timers/promises'
import type { LogEntry, LogPage, LogQuery } from '../../../src/protocol/ports/logPages.ts'
import { checkStore } from '../../../src/protocol/ports/checkStore.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { ReadPages } from './readPages.ts'

/** Pages of a store's logs. */
export type Pages = (query?: LogQuery) => Promise<LogPage>

/** Returns the pages of any store. A store without pages has its logs read instead: only their first records where these suffice. */
export function pagesOf(store: Store): Pages {
  if (store?.page !== undefined) return (query) => store.page!(query)
  checkStore(store)
  const pages = new ReadPages({
    async listed(ids) {
      const among = ids && new Set(ids)
      const all = await store.list()
      const wanted = among === undefined ? all : all.filter((id) => among.has(id))
      return Promise.all(
        wanted.map(async (id) => ({ id, stat: await store.stat?.(id).catch(() => ({ size: 0, writtenAt: 0 })) })),
      )
    },
    read: (agentId, fromSeq, limit) => store.read(agentId, fromSeq, limit),
  })
  return (query) => pages.page(query)
}

/** Maximum number of logs that are requested at once. */
const mostAtOnce = 1_000

/** Yields all logs of a query, page by page, beginning with a small page. The event loop gets a turn between pages. */
export async function* allLogs(
  pages: Pages,
  { limit: first = 100, ...query }: LogQuery,
): AsyncGenerator<LogEntry, void, undefined> {
  let after = query.after
  for (let limit = Math.min(Math.max(1, first), mostAtOnce); ; limit = Math.min(limit * 4, mostAtOnce)) {
    const { logs } = await pages({ ...query, ...(after === undefined ? {} : { after }), limit })
    yield* logs
    if (logs.length < limit) return
    after = logs.at(-1)!
    await breathe()
  }
}
