import type { EventOf } from '../../../../src/protocol/events.ts'
import type { RecordLines } from './describing.ts'
import { backgroundLines } from './backgroundLines.ts'
import { hostLines } from './hostLines.ts'
import { innerLines } from './innerLines.ts'
import { memoryLines } from './memoryLines.ts'
import { remoteLines } from './remoteLines.ts'
import { sleepLines } from './sleepLines.ts'
import { scheduleLines } from './scheduleLines.ts'
import type { PartRecordType } from '../../../../src/protocol/parts/partRecords.ts'
import { stateLines } from './stateLines.ts'
import { permissionLines } from './permissionLines.ts'

/** Lines of all parts. Separate from `partWords.ts`, because a page loads only these. */
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

/** Returns the lines about a record of a part; `undefined` for any other event. */
export const linesAbout = <E extends { readonly type: string }>(event: E): RecordLines<E> | undefined =>
  Object.hasOwn(partLines, event.type)
    ? (partLines[event.type as PartRecordType] as unknown as RecordLines<E>)
    : undefined
