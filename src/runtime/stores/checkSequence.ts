import { RuntimeError } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'

/**
 * Whether these records follow `lastSeq` (`next`) or are all in the log already (`stored`; an empty list is, too).
 * A repeat is told by `seq` alone, not by content.
 *
 * @throws RuntimeError `STORE_APPEND_FAILED` on a gap, on disorder, and when only some of the records are new.
 */
export function checkSequence(agentId: string, records: readonly LogRecord[], lastSeq: number): 'next' | 'stored' {
  const first = records[0]?.seq ?? 1
  const last = first + records.length - 1
  const ordered = first >= 1 && records.every((record, index) => record.seq === first + index)
  if (ordered && last <= lastSeq) return 'stored'
  if (ordered && first === lastSeq + 1) return 'next'
  const given =
    records.length > 20 ? `${first} … ${records.at(-1)?.seq}` : records.map((record) => record.seq).join(', ')
  throw new RuntimeError(
    'STORE_APPEND_FAILED',
    `The log of agent "${agentId}" goes on with seq ${lastSeq + 1}, but got ${given}; none of these was kept.`,
  )
}
