import type { PartCommandType } from '../../protocol/parts/partRecords.ts'
import type { ApplyCommand } from './applyCommand.ts'
import { applyFire, applySchedule, applyUnschedule } from './schedules/applySchedules.ts'

/** The commands of all parts. */
export const applies: { readonly [T in PartCommandType]: ApplyCommand<T> } = {
  'agent.schedule': applySchedule,
  'agent.unschedule': applyUnschedule,
  'agent.fire': applyFire,
}
