import type { LogRecord, RecordOf } from '../records.ts'
import type { Artifact } from './artifact.ts'

/** Returns true for a record with a result: the result of a call, or the report of a background call. */
export const hasResult = (record: LogRecord): record is RecordOf<'tool.end' | 'call.reported'> =>
  record.type === 'tool.end' || record.type === 'call.reported'

/** Returns the artifacts of a result: the ones that the model may read, and its data if that was stored apart. */
export function artifactsOf(record: RecordOf<'tool.end' | 'call.reported'>): readonly Artifact[] {
  const { dataApart } = record
  const named = (record.type === 'tool.end' ? record.message : record).artifacts ?? []
  return dataApart !== undefined && 'artifact' in dataApart ? [...named, dataApart.artifact] : named
}
