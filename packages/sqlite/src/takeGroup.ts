import type { Append } from './appendLog.ts'

/** Records of one transaction: few enough that the process is not held for long. */
const mostRecords = 100

/** Takes the first appends off a queue, one at least, for one transaction. */
export function takeGroup<A extends Append>(waiting: A[]): A[] {
  let records = 0
  let count = 0
  while (count < waiting.length && (count === 0 || records + waiting[count]!.records.length <= mostRecords)) {
    records += waiting[count]!.records.length
    count += 1
  }
  return waiting.splice(0, count)
}
