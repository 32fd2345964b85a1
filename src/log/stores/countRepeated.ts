import { RuntimeError } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'

/**
 * Returns the number of leading records whose `seq` the log already has; the rest follow `lastSeq`. The store has to check that they are the same
 * records.
 * @throws RuntimeError `STORE_APPEND_FAILED` on a gap and on disorder.
 */
export function countRepeated(agentId: string, records: readonly LogRecord[], lastSeq: number): number {
  const first = records[0]?.seq ?? 1
  const ordered = first >= 1 && records.every((record, index) => record.seq === first + index)
  if (ordered && first <= lastSeq + 1) return Math.min(records.length, lastSeq + 1 - first)
  const given =
    records.length > 20 ? `${first} … ${records.at(-1)?.seq}` : records.map((record) => record.seq).join(', ')
  throw new RuntimeError(
    'STORE_APPEND_FAILED',
    `The log of agent "${agentId}" goes on with seq ${lastSeq + 1}, but got ${given}; none of these was kept.`,
  )
}

/** Returns the error for a record that differs from the log's record with the same `seq`. */
export const otherRecord = (agentId: string, seq: number): RuntimeError =>
  new RuntimeError(
    'STORE_APPEND_FAILED',
    `The log of agent "${agentId}" has another record under seq ${seq}; none of the records given was kept.`,
  )
