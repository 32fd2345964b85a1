import type { EventOf } from '../events.ts'
import type { RecordWords } from './describing.ts'
import { memoryWords } from './memory/memoryWords.ts'
import { sleepWords } from './sleep/sleepWords.ts'
import { scheduleWords } from './schedules/scheduleWords.ts'
import type { PartRecordType } from './partRecords.ts'

/** The words of all parts: for the application's log, telemetry, and clients that may not see all. */
export const partWords: { readonly [T in PartRecordType]: RecordWords<EventOf<T>> } = {
  ...memoryWords,
  ...scheduleWords,
  ...sleepWords,
}

/** Returns the words about a record of a part; `undefined` for any other event. */
export const wordsOf = <E extends { readonly type: string }>(event: E): RecordWords<E> | undefined =>
  Object.hasOwn(partWords, event.type)
    ? (partWords[event.type as PartRecordType] as unknown as RecordWords<E>)
    : undefined
