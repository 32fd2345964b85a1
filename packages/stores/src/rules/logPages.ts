import {
  defaultPageLimit,
  type LogEntry,
  type LogOrigin,
  type LogPage,
  type LogQuery,
} from '../../../../src/protocol/ports/logPages.ts'
import { hasMetadata } from '../../../../src/protocol/metadata.ts'
import type { LogRecord, RecordOf } from '../../../../src/protocol/records.ts'

/** Returns the origin of an agent from the first record of its log. Pure. */
export const originOf = ({ definition, path, time, forkedFrom, metadata }: RecordOf<'agent.created'>): LogOrigin => ({
  definition,
  path,
  createdAt: time,
  ...(forkedFrom === undefined ? {} : { forkedFrom: forkedFrom.agentId }),
  ...(metadata === undefined ? {} : { metadata }),
})

/** Returns the origin in a first record; `undefined` for any other record. Pure. */
export const originIn = (record: LogRecord | undefined): LogOrigin | undefined =>
  record?.type === 'agent.created' ? originOf(record) : undefined

/** Compares logs for lists: the most recently written first; logs with the same time by id. */
export const byNewest = (a: Pick<LogEntry, 'id' | 'writtenAt'>, b: Pick<LogEntry, 'id' | 'writtenAt'>): number =>
  b.writtenAt - a.writtenAt || (a.id < b.id ? -1 : Number(a.id > b.id))

/** Returns true if a query needs the first records of logs. */
export const asksForOrigins = ({ within, metadata, definition, parent, forkedFrom }: LogQuery): boolean =>
  within !== undefined ||
  definition !== undefined ||
  parent !== undefined ||
  forkedFrom !== undefined ||
  Object.keys(metadata ?? {}).length > 0

/** Returns a function that tests whether a log matches a query, ignoring `after` and `limit`. */
export function fitting(query: LogQuery): (entry: Pick<LogEntry, 'id' | 'origin'>) => boolean {
  const { metadata = {}, definition, parent, forkedFrom } = query
  const ids = query.ids && new Set(query.ids)
  const within = query.within && new Set(query.within)
  return ({ id, origin }) =>
    (ids === undefined || ids.has(id)) &&
    (within === undefined || within.has(id) || (origin?.path.some((above) => within.has(above)) ?? false)) &&
    hasMetadata(origin?.metadata, metadata) &&
    (definition === undefined || origin?.definition === definition) &&
    (parent === undefined || (origin !== undefined && (origin.path.at(-1) ?? null) === parent)) &&
    (forkedFrom === undefined || origin?.forkedFrom === forkedFrom)
}

/** Returns the page that a query asks for, from the matching logs. Pure. */
export function pageAmong<E extends Pick<LogEntry, 'id' | 'writtenAt'>>(
  all: readonly E[],
  { after, limit = defaultPageLimit, total = false }: LogQuery,
): { readonly logs: readonly E[]; readonly total?: number } {
  const rest = after === undefined ? all : all.filter((entry) => byNewest(after, entry) < 0)
  const logs = rest.toSorted(byNewest).slice(0, limit)
  return { logs, ...(total ? { total: all.length } : {}) }
}

/** Returns a page from logs that are all known. Pure. */
export const pageOf = (entries: readonly LogEntry[], query: LogQuery = {}): LogPage =>
  pageAmong(entries.filter(fitting(query)), query)
