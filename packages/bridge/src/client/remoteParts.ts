import type { AgentCommand } from '../../../../src/protocol/bridge/commands.ts'
import { given } from '../../../../src/protocol/bridge/commandRules.ts'
import type { PermissionMode } from '../../../../src/protocol/parts/permissions/permissionModes.ts'
import type { PermitOptions } from '../../../../src/protocol/parts/permissions/permissionRecords.ts'
import {
  scheduleCommand,
  scheduleNamed,
  type ScheduleOptions,
} from '../../../../src/protocol/parts/schedules/scheduleOptions.ts'
import type { StateOp } from '../../../../src/protocol/parts/state/patch.ts'
import { RemoteQuestions } from './remoteQuestions.ts'

/** Commands for an agent's state, permissions and schedules. */
export abstract class RemoteParts<out State = unknown> extends RemoteQuestions<State> {
  protected abstract send(command: AgentCommand): Promise<void>

  /** Changes the state by a patch as in RFC 6902. `base` is the version that the patch was made for. Rejects as `updateState` does. */
  patchState(patch: readonly StateOp[], base?: number): Promise<void> {
    return this.send({
      type: 'agent.state',
      agentId: this.id,
      patch,
      ...(base === undefined ? {} : { base }),
    })
  }

  /** Adds a rule for calls. Rejects with `PERMISSIONS_OFF`, `RULE_INVALID`, `RULE_STORE_MISSING`. */
  permit(rule: string, options: PermitOptions): Promise<void> {
    return this.send({ type: 'agent.permit', agentId: this.id, rule, ...given(options ?? {}) } as AgentCommand)
  }

  /** Removes a rule that was added, by its id. Rejects with `RULE_NOT_FOUND`. */
  revoke(grant: string): Promise<void> {
    return this.send({ type: 'agent.revoke', agentId: this.id, grant })
  }

  /** Changes the mode for calls that no rule covers. Rejects with `PERMISSIONS_OFF`. */
  setMode(mode: PermissionMode): Promise<void> {
    return this.send({ type: 'agent.mode', agentId: this.id, mode })
  }

  /** Prompts the agent at certain times, as `schedule` of a local agent does. Rejects with `SCHEDULE_INVALID`. */
  schedule(options: ScheduleOptions): Promise<void> {
    return this.send(scheduleCommand(this.id, options))
  }

  /** Removes a schedule. Rejects with `SCHEDULE_NOT_FOUND`. */
  unschedule(id: string): Promise<void> {
    return this.send({ type: 'agent.unschedule', agentId: this.id, schedule: scheduleNamed('unschedule', id) })
  }

  /** Fires a schedule now, in addition to its times. Rejects with `SCHEDULE_NOT_FOUND`. */
  fire(id: string): Promise<void> {
    return this.send({ type: 'agent.fire', agentId: this.id, schedule: scheduleNamed('fire', id) })
  }
}
