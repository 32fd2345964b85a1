import { RuntimeError } from '../../errors.ts'
import type { AgentCommand } from '../../bridge/commands.ts'
import { given } from '../../bridge/commandRules.ts'
import type { Limits } from '../../runs/runLimits.ts'
import type { Schedule } from './scheduleState.ts'
import { scheduleIdPattern, scheduleIdWords } from './scheduleId.ts'
import type { CatchUp } from './scheduleTimes.ts'

/** Times at which a schedule is to fire: one of `at`, `every` and `cron`. */
export interface AskedTimes {
  /** A single time: a date, epoch milliseconds, or a text such as `2027-03-01T09:00:00+01:00`. */
  readonly at?: Date | number | string | undefined
  /** Interval in milliseconds. */
  readonly every?: number | undefined
  /** A cron expression of five fields, or of six with seconds first. Needs `npm install croner`. */
  readonly cron?: string | undefined
  /** The time zone of `cron`. Default: UTC. */
  readonly timezone?: string | undefined
}

/** Options of a schedule to set. */
export interface ScheduleOptions extends AskedTimes {
  /** A name: 1 to 64 letters, digits, `.`, `_` or `-`. */
  readonly id: string
  /** The text of each prompt, at most 20,000 characters. */
  readonly prompt: string
  /** Limits of each run, overriding the agent's. */
  readonly limits?: Limits | undefined
  /**
   * Rule for times that passed while the agent was not running: `once` (default) makes one prompt for all of
   * them, `skip` none for those older than a minute, `all` one for each of the newest ten.
   */
  readonly catchUp?: CatchUp | undefined
}

/** Returns a schedule's name for a command, where the field is called `schedule`. @throws RuntimeError `INVALID_OPTION` */
export function scheduleNamed(method: 'schedule' | 'unschedule' | 'fire', id: string): string {
  if (typeof id === 'string' && scheduleIdPattern.test(id)) return id
  const seen = typeof id === 'string' ? JSON.stringify(id.slice(0, 80)) : typeof id
  throw new RuntimeError('INVALID_OPTION', `${method}: id: ${scheduleIdWords}, not ${seen}.`)
}

/** Returns the command that sets a schedule. @throws RuntimeError `INVALID_OPTION` for its `id`. Unknown fields are left for the schema to report. */
export function scheduleCommand(agentId: string, asked: ScheduleOptions): AgentCommand {
  const { id, at, ...options } = asked ?? {}
  return {
    type: 'agent.schedule',
    agentId,
    ...given({ schedule: scheduleNamed('schedule', id), ...options, at: at instanceof Date ? at.getTime() : at }),
  } as AgentCommand
}

/** A schedule of an agent, as listed for people. */
export interface ListedSchedule extends Pick<Schedule, 'times' | 'prompt' | 'catchUp' | 'limits' | 'by'> {
  readonly id: string
  /** Time of the next firing, in epoch milliseconds. */
  readonly due: number
}

/** Lists schedules, the next one first. Pure. */
export const listSchedules = (schedules: { readonly [id: string]: Schedule }): ListedSchedule[] =>
  Object.entries(schedules)
    .flatMap(([id, { times, prompt, catchUp, limits, by, due }]) =>
      due === null ? [] : [{ id, due, times, prompt, catchUp, ...(limits === undefined ? {} : { limits }), by }],
    )
    .toSorted((a, b) => a.due - b.due || (a.id < b.id ? -1 : 1))
