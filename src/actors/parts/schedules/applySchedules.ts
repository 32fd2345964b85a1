import { RuntimeError } from '../../../protocol/errors.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Schedule, SchedulesState } from '../../../protocol/parts/schedules/scheduleState.ts'
import type { PartDraft, PartStates } from '../../../machines/partStates.ts'
import type { ApplyCommand } from '../applyCommand.ts'
import type { ScheduleOptions } from '../../../protocol/parts/schedules/scheduleOptions.ts'
import { scheduling } from './scheduling.ts'

const mostSchedules = 100
/** Minimum distance between two times that people and code may ask for, in milliseconds. */
const leastMs = 1_000

/** Returns the schedules of an agent. */
export const schedulesIn = ({ schedules }: PartStates): SchedulesState['schedules'] => schedules?.schedules ?? {}

/**
 * Returns the record of a schedule, or none if the agent already has the same one: an application may set its schedules at every start.
 * @throws RuntimeError `SCHEDULE_INVALID`, `PACKAGE_MISSING`
 */
export function setSchedule(
  parts: PartStates,
  { id, prompt, limits, catchUp = 'once', ...asked }: ScheduleOptions,
  {
    at,
    least = leastMs,
    ...maker
  }: {
    readonly at: number
    readonly least?: number
    readonly by: 'model' | 'person'
    readonly nodeId?: number
    readonly requestId?: string
  },
): readonly PartDraft[] {
  const { times, due } = scheduling.read!(asked, at, least)
  const known = schedulesIn(parts)
  const before = Object.hasOwn(known, id) ? known[id] : undefined
  const said = { prompt, catchUp, ...(limits === undefined ? {} : { limits }) }
  if (before === undefined && Object.keys(known).length >= mostSchedules)
    throw new RuntimeError('SCHEDULE_INVALID', `The agent has ${mostSchedules} schedules, the most allowed.`)
  if (before !== undefined && before.by === maker.by && isSame(before, { times, ...said })) return []
  return [{ type: 'schedule.set', id, times, due, ...said, ...maker }]
}

const isSame = (
  { times, prompt, catchUp, limits }: Schedule,
  asked: Pick<Schedule, 'times' | 'prompt' | 'catchUp' | 'limits'>,
): boolean => isDeepStrictEqual({ times, prompt, catchUp, limits }, { limits: undefined, ...asked })

/** Returns a schedule that is still to fire. @throws RuntimeError `SCHEDULE_NOT_FOUND` */
export function findSchedule(parts: PartStates, id: string): Schedule & { readonly due: number } {
  const known = schedulesIn(parts)
  const schedule = Object.hasOwn(known, id) ? known[id] : undefined
  if (schedule !== undefined && schedule.due !== null) return { ...schedule, due: schedule.due }
  const ids = Object.keys(known)
  const there = ids.length === 0 ? 'it has none' : `it has ${ids.slice(0, 20).join(', ')}`
  throw new RuntimeError(
    'SCHEDULE_NOT_FOUND',
    `The agent has no schedule ${JSON.stringify(id.slice(0, 80))}: ${there}.`,
  )
}

export const applySchedule: ApplyCommand<'agent.schedule'> = (
  { type: _, agentId: __, schedule: id, ...asked },
  { parts, id: requestId, at },
) => setSchedule(parts, { id, ...asked }, { at, by: 'person', requestId })

export const applyUnschedule: ApplyCommand<'agent.unschedule'> = ({ schedule: id }, { parts, id: requestId }) => {
  findSchedule(parts, id)
  return [{ type: 'schedule.removed', id, why: 'asked', requestId }]
}

/** Records that a schedule fires now. The prompt follows as soon as the machine has the record. */
export const applyFire: ApplyCommand<'agent.fire'> = ({ schedule: id }, { parts, id: requestId, at }) => {
  const { due } = findSchedule(parts, id)
  return [{ type: 'schedule.fired', id, due: Math.trunc(at), next: due, missed: 0, requestId }]
}
