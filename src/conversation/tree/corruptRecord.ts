import { RuntimeError } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'

/** Returns the error for a record that does not follow from earlier ones. */
export const corrupt = (record: LogRecord, what: string): RuntimeError =>
  new RuntimeError('LOG_CORRUPT', `Record ${record.seq} (${record.type}) does not follow from the log: ${what}.`)

/** Throws if a record has a fault. @throws RuntimeError `LOG_CORRUPT` */
export function check(record: LogRecord, wrong: string | undefined): void {
  if (wrong !== undefined) throw corrupt(record, wrong)
}
