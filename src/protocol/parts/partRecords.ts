import { backgroundRecords } from './background/backgroundRecords.ts'
import { hostRecords } from './hosts/hostRecords.ts'
import { innerRecords } from './inner/innerRecords.ts'
import { memoryRecords } from './memory/memoryRecords.ts'
import { remoteRecords } from './remote/remoteRecords.ts'
import { sleepRecords } from './sleep/sleepRecords.ts'
import { scheduleCommands, scheduleRecords } from './schedules/scheduleRecords.ts'
import { stateCommands, stateRecords } from './state/stateRecords.ts'
import { permissionCommands, permissionRecords } from './permissions/permissionRecords.ts'

export const partRecords = {
  ...backgroundRecords,
  ...hostRecords,
  ...innerRecords,
  ...memoryRecords,
  ...remoteRecords,
  ...scheduleRecords,
  ...sleepRecords,
  ...stateRecords,
  ...permissionRecords,
} as const
export type PartRecordType = keyof typeof partRecords

export const isOfPart = <R extends { readonly type: string }>(
  record: R,
): record is Extract<R, { readonly type: PartRecordType }> => Object.hasOwn(partRecords, record.type)

export const partCommands = {
  ...scheduleCommands,
  ...permissionCommands,
  ...stateCommands,
} as const
export type PartCommandType = keyof typeof partCommands
