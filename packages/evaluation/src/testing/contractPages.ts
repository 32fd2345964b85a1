import type { LogEntry, LogQuery } from '../../../../src/protocol/ports/logPages.ts'
import { type LogRecord, recordVersion } from '../../../../src/protocol/records.ts'
import { isErasable, type Store } from '../../../../src/protocol/ports/store.ts'
import { type Checks, demand, demandEqual, recordsBetween, type ReopenChecks } from './contractDemands.ts'

type Created = Extract<LogRecord, { type: 'agent.created' }>
type Birth = Partial<Pick<Created, 'definition' | 'path' | 'metadata' | 'forkedFrom'>>

/** The first record of an agent's log. */
export const createdAs = (agentId: string, birth: Birth): Created => ({
  v: recordVersion,
  seq: 1,
  time: 1_700_000_000_001,
  type: 'agent.created',
  agentId,
  path: [],
  definition: 'one',
  model: 'm',
  machine: 'm',
  ...birth,
})

/** Agents of every kind that lists distinguish. */
const births: { readonly [id: string]: Birth } = {
  a: { metadata: { user: 'u1', plan: 2 } },
  a1: { path: ['a'], definition: 'two', metadata: { user: 'u1', plan: 2 } },
  a2: { path: ['a', 'a1'], metadata: { user: 'u1', plan: 2 } },
  b: { metadata: { user: 'u2', plan: '2' } },
  c: { metadata: { user: 'it\'s "u3", 漢🙂', paid: true } },
  d: { forkedFrom: { agentId: 'a', seq: 3, at: 1 }, metadata: { paid: 'true' } },
  e: { definition: 'two' },
}

/** Id of a log whose first record is not that of an agent. */
const odd = 'odd'

/** Queries, each with the ids of the agents that match it. */
const wanted: readonly { readonly query: LogQuery; readonly ids: readonly string[] }[] = [
  { query: {}, ids: [...Object.keys(births), odd] },
  { query: { metadata: {} }, ids: [...Object.keys(births), odd] },
  { query: { metadata: { user: 'u1' } }, ids: ['a', 'a1', 'a2'] },
  { query: { metadata: { user: 'u1', plan: 2 }, definition: 'two' }, ids: ['a1'] },
  { query: { metadata: { user: 'u1', plan: '2' } }, ids: [] },
  { query: { metadata: { plan: '2' } }, ids: ['b'] },
  { query: { metadata: { user: 'it\'s "u3", 漢🙂' } }, ids: ['c'] },
  { query: { metadata: { paid: true } }, ids: ['c'] },
  { query: { metadata: { paid: 1 } }, ids: [] },
  { query: { metadata: { nobody: 'x' } }, ids: [] },
  { query: { definition: 'one' }, ids: ['a', 'a2', 'b', 'c', 'd'] },
  { query: { parent: null }, ids: ['a', 'b', 'c', 'd', 'e'] },
  { query: { parent: 'a' }, ids: ['a1'] },
  { query: { parent: 'e' }, ids: [] },
  { query: { within: ['a1', 'c'] }, ids: ['a1', 'a2', 'c'] },
  { query: { within: ['a', odd] }, ids: ['a', 'a1', 'a2', odd] },
  { query: { within: [] }, ids: [] },
  { query: { within: ['a'], parent: null }, ids: ['a'] },
  { query: { ids: ['b', 'a2', 'nobody'] }, ids: ['a2', 'b'] },
  { query: { ids: [] }, ids: [] },
  { query: { ids: ['a', 'b'], within: ['a'] }, ids: ['a'] },
  { query: { forkedFrom: 'a' }, ids: ['d'] },
  { query: { forkedFrom: 'b' }, ids: [] },
]

type Paged = Store & Required<Pick<Store, 'page'>>

const isPaged = (store: Store): store is Paged => store.page !== undefined

/** Runs a check on a store with those agents; passes for a store without pages. */
async function withAgents(store: Store, check: (store: Paged) => Promise<void>): Promise<void> {
  if (!isPaged(store)) return
  for (const [id, birth] of Object.entries(births)) await write(store, id, [createdAs(id, birth)])
  await write(store, odd, recordsBetween(1, 1))
  await (await store.open('empty')).release()
  await check(store)
}

async function write(store: Store, id: string, records: readonly LogRecord[]): Promise<void> {
  const lease = await store.open(id)
  await store.append(id, records)
  await lease.release()
}

const idsOf = (logs: readonly LogEntry[]): string[] => logs.map(({ id }) => id)

/** Yields all results of a query, page by page. */
async function allPages(store: Paged, query: LogQuery, limit: number): Promise<LogEntry[]> {
  const logs: LogEntry[] = []
  for (let more = true; more;) {
    const last = logs.at(-1)
    const page = await store.page({ ...query, limit, ...(last === undefined ? {} : { after: last }) })
    demand(page.logs.length <= limit, 'a page has no more logs than its limit.')
    for (const { id } of page.logs) demand(!idsOf(logs).includes(id), 'a page goes on where the page before ended.')
    logs.push(...page.logs)
    more = page.logs.length === limit
  }
  return logs
}

/** Checks of a store that has pages. */
export const pages: Checks = {
  'page, where there is one, gives the logs that are asked for, and tells how many there are': (store) =>
    withAgents(store, async (paged) => {
      for (const { query, ids } of wanted) {
        const what = `page(${JSON.stringify(query)})`
        const { logs, total } = await paged.page({ ...query, total: true })
        demandEqual(idsOf(logs).toSorted(), [...ids].toSorted(), `${what} must have these.`)
        demandEqual(total, ids.length, `${what} must tell how many there are.`)
        const none = await paged.page({ ...query, limit: 0, total: true })
        demandEqual(none, { logs: [], total: ids.length }, `${what} must count without listing.`)
        demandEqual((await paged.page(query)).total, undefined, 'what is not asked for is not counted.')
      }
    }),

  'page tells what the first record says, and how the log stands': (store) =>
    withAgents(store, async (paged) => {
      for (const { origin, ...stat } of (await paged.page()).logs) {
        const { id } = stat
        const birth = births[id]
        const expected =
          birth === undefined
            ? undefined
            : {
                definition: birth.definition ?? 'one',
                path: birth.path ?? [],
                createdAt: 1_700_000_000_001,
                ...(birth.forkedFrom === undefined ? {} : { forkedFrom: birth.forkedFrom.agentId }),
                ...(birth.metadata === undefined ? {} : { metadata: birth.metadata }),
              }
        demandEqual(origin, expected, `the origin of "${id}" must be what its first record says.`)
        if (paged.stat !== undefined)
          demandEqual(stat, { id, ...(await paged.stat(id)) }, `"${id}" must stand as stat says.`)
      }
    }),

  'page gives the one written last first, and goes on where the page before ended': (store) =>
    withAgents(store, async (paged) => {
      for (const seq of [2, 3]) for (const id of ['b', 'e']) await write(paged, id, recordsBetween(seq, seq))
      for (const { query } of wanted) {
        const { logs } = await paged.page(query)
        for (const [index, log] of logs.entries()) {
          const before = logs[index - 1]
          if (before === undefined) continue
          const isInOrder =
            before.writtenAt > log.writtenAt || (before.writtenAt === log.writtenAt && before.id < log.id)
          demand(isInOrder, 'logs must be listed by when they were written, the newest first, then by id.')
        }
        for (const limit of [1, 2, 3])
          demandEqual(await allPages(paged, query, limit), logs, `pages of ${limit} must have the same, once each.`)
      }
      const [first, second] = (await paged.page({ limit: 2 })).logs
      const gone = { id: `${first!.id}.`, writtenAt: first!.writtenAt }
      const [next] = (await paged.page({ after: gone, limit: 1 })).logs
      demandEqual(next, second, 'a page must go on after a log that is not there.')
    }),

  'page knows nothing of a log that was deleted': (store) =>
    withAgents(store, async (paged) => {
      if (!isErasable(paged)) return
      for (const id of ['a', 'a1', 'd', odd]) await paged.delete(id)
      demandEqual(idsOf((await paged.page()).logs).toSorted(), ['a2', 'b', 'c', 'e'], 'what is deleted is not listed.')
      for (const query of [{ metadata: { user: 'u1' } }, { within: ['a'] }, { parent: 'a1' }])
        demandEqual(idsOf((await paged.page(query)).logs), ['a2'], 'what is deleted fits nothing.')
      await write(paged, 'a', [createdAs('a', { metadata: { user: 'u2' } })])
      demandEqual(
        idsOf((await paged.page({ metadata: { user: 'u2' } })).logs).toSorted(),
        ['a', 'b'],
        'a deleted id begins anew.',
      )
      demandEqual(idsOf((await paged.page({ forkedFrom: 'a' })).logs), [], 'nothing of before is left of it.')
      await write(paged, 'last', [createdAs('last', { metadata: { user: 'u9' } })])
      await paged.delete('last')
      await write(paged, 'next', [createdAs('next', {})])
      demandEqual(idsOf((await paged.page({ metadata: { user: 'u9' } })).logs), [], 'no other agent takes its place.')
    }),

  'page of a store without a log is empty': async (store) => {
    demandEqual((await store.page?.()) ?? { logs: [] }, { logs: [] }, 'a new store has no logs.')
    const none = { logs: [], total: 0 }
    demandEqual((await store.page?.({ total: true })) ?? none, none, 'a new store has no logs to count.')
  },
}

/** Checks of pages between two stores over the same data. */
export const reopenPages: ReopenChecks = {
  'page has what another store wrote': (store, reopen) =>
    withAgents(store, async () => {
      const other = await reopen()
      if (!isPaged(other)) return
      const query = { metadata: { user: 'u1' } }
      demandEqual(
        idsOf((await other.page(query)).logs).toSorted(),
        ['a', 'a1', 'a2'],
        'a list must be of what is there.',
      )
      await write(other, 'n', [createdAs('n', { metadata: { user: 'u1' } })])
      demandEqual(
        idsOf((await store.page!(query)).logs).toSorted(),
        ['a', 'a1', 'a2', 'n'],
        'a list must have what was written elsewhere since.',
      )
    }),
}
