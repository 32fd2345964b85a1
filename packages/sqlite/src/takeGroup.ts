import type { Append } from './appendLog.ts'

/** Maximum number of records in one transaction, so that the process is not blocked for long. */
const mostRecords = 100

/** Removes the first appends from a queue, at least one, for one transaction. */
export function takeGroup<A extends Append>(waiting: A[]): A[] {
  let records = 0
  let count = 0
  while (count < waiting.length && (count === 0 || records + waiting[count]!.records.length <= mostRecords)) {
    records += waiting[count]!.records.length
    count += 1
  }
  return waiting.splice(0, count)
}
