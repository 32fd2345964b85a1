import { memoryRecords } from './memory/memoryRecords.ts'

/** The records of all parts. */
export const partRecords = {
  ...memoryRecords,
} as const
export type PartRecordType = keyof typeof partRecords

/** The commands of all parts. */
export const partCommands = {} as const
export type PartCommandType = keyof typeof partCommands
