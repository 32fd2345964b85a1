import type { LogRecord } from '../protocol/records.ts'
import type { Session } from './session.ts'
import { SessionProjection } from './sessionProjection.ts'

/** The session that a log, or the beginning of one, describes. Pure; never throws on valid records. */
export function sessionOf(records: Iterable<LogRecord>): Session {
  const projection = new SessionProjection()
  for (const record of records) projection.apply(record)
  return projection.session
}
