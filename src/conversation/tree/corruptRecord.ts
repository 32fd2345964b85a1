import { RuntimeError } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'

/** The error of a record that does not follow from the ones before it. */
export const corrupt = (record: LogRecord, what: string): RuntimeError =>
  new RuntimeError('LOG_CORRUPT', `Record ${record.seq} (${record.type}) does not follow from the log: ${what}.`)

/** @throws RuntimeError `LOG_CORRUPT` when something is wrong with the record. */
export function check(record: LogRecord, wrong: string | undefined): void {
  if (wrong !== undefined) throw corrupt(record, wrong)
}
