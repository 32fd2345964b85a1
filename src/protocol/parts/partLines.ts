import type { EventOf } from '../events.ts'
import type { RecordLines } from './describing.ts'
import { backgroundLines } from './background/backgroundLines.ts'
import { hostLines } from './hosts/hostLines.ts'
import { innerLines } from './inner/innerLines.ts'
import { memoryLines } from './memory/memoryLines.ts'
import { remoteLines } from './remote/remoteLines.ts'
import { sleepLines } from './sleep/sleepLines.ts'
import { scheduleLines } from './schedules/scheduleLines.ts'
import type { PartRecordType } from './partRecords.ts'
import { stateLines } from './state/stateLines.ts'
import { permissionLines } from './permissions/permissionLines.ts'

/** The lines of all parts. Apart from `partWords.ts`, as a page loads only these. */
export const partLines: { readonly [T in PartRecordType]: RecordLines<EventOf<T>> } = {
  ...backgroundLines,
  ...hostLines,
  ...innerLines,
  ...memoryLines,
  ...remoteLines,
  ...scheduleLines,
  ...sleepLines,
  ...stateLines,
  ...permissionLines,
}

/** Returns true for a record or event of a part. Asks the lines, as a page has these and no schemas. */
export const isOfPart = <R extends { readonly type: string }>(
  record: R,
): record is Extract<R, { readonly type: PartRecordType }> => Object.hasOwn(partLines, record.type)

/** Returns the lines about a record of a part; `undefined` for any other event. */
export const linesAbout = <E extends { readonly type: string }>(event: E): RecordLines<E> | undefined =>
  Object.hasOwn(partLines, event.type)
    ? (partLines[event.type as PartRecordType] as unknown as RecordLines<E>)
    : undefined
