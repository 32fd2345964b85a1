import type { EventOf } from '../events.ts'
import type { RecordWords } from './describing.ts'
import { backgroundWords } from './background/backgroundWords.ts'
import { hostWords } from './hosts/hostWords.ts'
import { innerWords } from './inner/innerWords.ts'
import { memoryWords } from './memory/memoryWords.ts'
import { remoteWords } from './remote/remoteWords.ts'
import { sleepWords } from './sleep/sleepWords.ts'
import { scheduleWords } from './schedules/scheduleWords.ts'
import type { PartRecordType } from './partRecords.ts'
import { stateWords } from './state/stateWords.ts'
import { permissionWords } from './permissions/permissionWords.ts'

/** The words of all parts: for the application's log, telemetry, and clients that may not see all. */
export const partWords: { readonly [T in PartRecordType]: RecordWords<EventOf<T>> } = {
  ...backgroundWords,
  ...hostWords,
  ...innerWords,
  ...memoryWords,
  ...remoteWords,
  ...scheduleWords,
  ...sleepWords,
  ...stateWords,
  ...permissionWords,
}

/** Returns the words about a record of a part; `undefined` for any other event. */
export const wordsOf = <E extends { readonly type: string }>(event: E): RecordWords<E> | undefined =>
  Object.hasOwn(partWords, event.type)
    ? (partWords[event.type as PartRecordType] as unknown as RecordWords<E>)
    : undefined
