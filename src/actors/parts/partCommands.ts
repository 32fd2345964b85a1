import type { PartCommandType } from '../../protocol/parts/partRecords.ts'
import type { ApplyCommand } from './applyCommand.ts'
import { changeMode, permit, revoke } from './permissions/permissionCommands.ts'
import { applyFire, applySchedule, applyUnschedule } from './schedules/applySchedules.ts'
import { applyState } from './state/applyState.ts'

export const applies: { readonly [T in PartCommandType]: ApplyCommand<T> } = {
  'agent.state': applyState,
  'agent.permit': permit,
  'agent.revoke': revoke,
  'agent.mode': changeMode,
  'agent.schedule': applySchedule,
  'agent.unschedule': applyUnschedule,
  'agent.fire': applyFire,
}
