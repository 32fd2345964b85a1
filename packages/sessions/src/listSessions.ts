import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../../src/protocol/errors.ts'
import type { LogQuery } from '../../../src/protocol/ports/logPages.ts'
import { checkMetadata, type Metadata } from '../../../src/protocol/metadata.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { checkVersion } from '../../../src/protocol/upgradeRecord.ts'
import { allLogs, pagesOf, type Pages } from '../../stores/src/logPages.ts'
import { SessionProjection } from './sessionProjection.ts'
import type { Session } from './session.ts'

const none: Metadata = Object.freeze({})

/** Maximum number of logs that are requested from a store at once. */
const mostAtOnce = 1_000

/** A session in a list. */
export interface SessionSummary extends Omit<Session, 'runs' | 'changes'> {
  /** Number of its runs. */
  readonly runs: number
  readonly turns: number
  /** Ids of the sessions that were forked from this one's own log. */
  readonly forks: readonly string[]
  /** Ids of the sessions that have this one as their parent. */
  readonly children: readonly string[]
  /** Reason why the log cannot be read; the other fields come from its readable part. */
  readonly error?: ErrorInfo
}

/** Returns a session without its runs. `forks` and `children` are empty, as only a list knows them. Pure. */
export function summaryOf({ runs, changes: _, ...session }: Session): SessionSummary {
  const turns = runs.reduce((sum, run) => sum + run.turns.length, 0)
  return { ...session, runs: runs.length, turns, forks: [], children: [] }
}

/** Filter of the listed sessions. */
export interface ListOptions {
  /** Only sessions that have all of these values. */
  readonly metadata?: Metadata
  /** Maximum number of sessions, those written last. `forks` and `children` then name only listed ones. Default: all. */
  readonly limit?: number
}

/**
 * Returns the sessions in a store, the one written last first. A log that cannot be read is listed with its `error`. Reads each listed log to its
 * end, one after the other, and others only as far as needed to leave them out.
 *
 * @throws RuntimeError `INVALID_OPTION`; `STORE_READ_FAILED` when the store cannot list its logs.
 */
export async function listSessions(store: Store, options: ListOptions = {}): Promise<SessionSummary[]> {
  const { metadata = none, limit = Infinity } = options
  checkMetadata('listSessions', options.metadata)
  if (limit !== Infinity && (!Number.isSafeInteger(limit) || limit < 0))
    throw new RuntimeError('INVALID_OPTION', `listSessions: limit: give a whole number from 0 on, not ${limit}.`)
  const pages = pagesOf(store)
  const summaries: SessionSummary[] = []
  if (limit > 0)
    for await (const summary of sessionsIn(store, { metadata, limit: Math.min(limit, mostAtOnce) }, pages)) {
      summaries.push(summary)
      if (summaries.length === limit) break
    }
  const isFiltered = Object.keys(metadata).length > 0
  const known = isFiltered && limit === Infinity ? await relationsIn(pages) : summaries
  const bySource = groupIds(known, ({ forkedFrom }) => forkedFrom?.agentId)
  const byParent = groupIds(known, ({ path }) => path.at(-1))
  return summaries
    .map((summary) => ({
      ...summary,
      forks: bySource.get(summary.id) ?? [],
      children: byParent.get(summary.id) ?? [],
    }))
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
}

/** Yields the sessions that match a query, reading one after another on demand. `limit`: the expected number. */
export async function* sessionsIn(
  store: Store,
  query: LogQuery = {},
  pages: Pages = pagesOf(store),
): AsyncGenerator<SessionSummary, void, undefined> {
  for await (const { id } of allLogs(pages, query)) {
    const summary = await summarise(store, id)
    if (summary !== undefined) yield summary
  }
}

/** Returns the summary of a session; `undefined` if its log was deleted meanwhile. */
async function summarise(store: Store, agentId: string): Promise<SessionSummary | undefined> {
  const projection = new SessionProjection()
  let error: ErrorInfo | undefined
  let isEmpty = true
  try {
    for await (const record of store.read(agentId)) {
      checkVersion(agentId, record)
      projection.apply(record)
      isEmpty = false
    }
  } catch (thrown) {
    error = toErrorInfo(thrown, 'STORE_READ_FAILED')
  }
  if (isEmpty && error === undefined) return undefined
  // By the name it is found under, whatever its records say.
  return { ...summaryOf(projection.session), id: agentId, ...(error === undefined ? {} : { error }) }
}

interface Related {
  readonly id: string
  readonly path: readonly string[]
  readonly forkedFrom?: { readonly agentId: string }
}

/** Returns the ancestors and fork sources of all logs, including those that the list leaves out. */
async function relationsIn(pages: Pages): Promise<Related[]> {
  const found: Related[] = []
  for await (const { id, origin } of allLogs(pages, { limit: mostAtOnce })) {
    const source = origin?.forkedFrom
    found.push({ id, path: origin?.path ?? [], ...(source === undefined ? {} : { forkedFrom: { agentId: source } }) })
  }
  return found
}

function groupIds(logs: readonly Related[], by: (log: Related) => string | undefined): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const log of logs) {
    const key = by(log)
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), log.id].toSorted())
  }
  return groups
}
