import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'

/** Returns the error for a writer whose log has since been opened by another writer. */
export const leaseLost = (agentId: string, epoch: number, now: number | undefined): RuntimeError =>
  new RuntimeError(
    'STORE_LEASE_LOST',
    `The log of agent "${agentId}" was opened by another writer${now === undefined ? '' : ` (epoch ${now})`} since this one did (epoch ${epoch}).`,
  )

/** Epochs of a log, as known to its store. */
export interface Epochs {
  /** Epoch of the lease that this store currently holds; `undefined` if none. */
  readonly held: number | undefined
  /** Epoch of the newest lease so far. */
  readonly newest: number
}

/**
 * Checks that a writer may append. `named`: the epoch of its lease, if it names one. A writer whose lease was taken over gets that error even
 * after the new holder has released the log.
 * @throws RuntimeError `STORE_NOT_OPEN`, `STORE_LEASE_LOST`
 */
export function checkLease(agentId: string, { held, newest }: Epochs, named: number | undefined): void {
  if (named !== undefined && named < newest) throw leaseLost(agentId, named, newest)
  if (held === undefined) throw new RuntimeError('STORE_NOT_OPEN', `The log of agent "${agentId}" is not open.`)
}

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

/** Returns the `seq` at which a read begins in a log that ends with `lastSeq`: `fromSeq` below 0 counts from its end. */
export const seqFrom = (fromSeq: number, lastSeq: number): number =>
  Math.max(1, fromSeq < 0 ? lastSeq + 1 + fromSeq : fromSeq)
