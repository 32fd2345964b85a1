import type { AgentCommand } from '../../../../src/protocol/bridge/commands.ts'
import { scheduleCommand, type ScheduleOptions } from '../../../../src/protocol/parts/schedules/scheduleOptions.ts'

/** Commands about schedules that a client gives an agent. */
export abstract class ScheduleCommands {
  abstract readonly id: string

  protected abstract command(command: AgentCommand): Promise<void>

  /** Makes the agent a prompt at certain times, as `schedule` of a local agent does. Rejects with `SCHEDULE_INVALID`. */
  schedule(options: ScheduleOptions): Promise<void> {
    return this.command(scheduleCommand(this.id, options))
  }

  /** Removes a schedule. Rejects with `SCHEDULE_NOT_FOUND`. */
  unschedule(id: string): Promise<void> {
    return this.command({ type: 'agent.unschedule', agentId: this.id, schedule: id })
  }

  /** Fires a schedule now, beside its times. Rejects with `SCHEDULE_NOT_FOUND`. */
  fire(id: string): Promise<void> {
    return this.command({ type: 'agent.fire', agentId: this.id, schedule: id })
  }
}
