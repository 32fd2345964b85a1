import type { EventOf } from '../../../../src/protocol/events.ts'
import type { RecordWords } from './describing.ts'
import { backgroundWords } from './backgroundWords.ts'
import { hostWords } from './hostWords.ts'
import { innerWords } from './innerWords.ts'
import { memoryWords } from './memoryWords.ts'
import { remoteWords } from './remoteWords.ts'
import { sleepWords } from './sleepWords.ts'
import { scheduleWords } from './scheduleWords.ts'
import type { PartRecordType } from '../../../../src/protocol/parts/partRecords.ts'
import { stateWords } from './stateWords.ts'
import { permissionWords } from './permissionWords.ts'

/** Texts of all parts: for the application's log, telemetry, and clients that may not see everything. */
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

/** Returns the texts about a record of a part; `undefined` for any other event. */
export const wordsOf = <E extends { readonly type: string }>(event: E): RecordWords<E> | undefined =>
  Object.hasOwn(partWords, event.type)
    ? (partWords[event.type as PartRecordType] as unknown as RecordWords<E>)
    : undefined
