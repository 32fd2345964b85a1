import { firingId, firingIn, type Schedule } from '../protocol/parts/schedules/scheduleState.ts'
import type { AgentContext, EventOfType } from './agentTypes.ts'
import type { Draft } from './draft.ts'
import { enqueueMessage } from './queues.ts'
import { sleepers } from './sleepEnds.ts'
import type { EndedSchedule } from './schedulePlans.ts'

type Scheduled = Pick<AgentContext, 'parts' | 'run' | 'prompts' | 'calls'>

/** Number of consecutive failed runs that end a schedule. */
const mostFailures = 3

const schedulesOf = ({ parts }: Pick<AgentContext, 'parts'>): [string, Schedule][] =>
  Object.entries(parts.schedules?.schedules ?? {})

/** Returns the due times of schedule prompts that wait or whose run is in progress. */
const underWay = ({ run, prompts, parts }: Scheduled): number[] => [
  ...prompts.flatMap(({ id }) => firingIn(id)?.due ?? []),
  ...(run === null || parts.schedules?.running === undefined ? [] : [parts.schedules.running.due]),
]

/** Returns the earliest time at which a schedule fires or a call wakes up; `null` if none does. */
export const earliestDue = (context: Scheduled): number | null =>
  least([...schedulesOf(context).map(([, { due }]) => due), ...sleepers(context).map(({ until }) => until)])

/**
 * Returns the time at which an agent that is not live needs to be woken; `null`: never. While a schedule's run is in
 * progress, that is the due time of the run, so that some process continues it after a crash.
 */
export const wakeAt = (context: Scheduled): number | null => least([earliestDue(context), ...underWay(context)])

const least = (times: readonly (number | null)[]): number | null =>
  times.reduce((first, time) => (first === null || (time !== null && time < first) ? time : first), null)

/** Returns the schedules due at `now`, in order. Leaves out those whose last prompt still waits, to keep the queue short. */
export function dueSchedules(
  context: Scheduled,
  now: number,
): (Schedule & { readonly id: string; readonly due: number })[] {
  const waiting = new Set(context.prompts.flatMap(({ id }) => firingIn(id)?.id ?? []))
  return schedulesOf(context)
    .flatMap(([id, schedule]) =>
      schedule.due !== null && schedule.due <= now && !waiting.has(id) ? [{ ...schedule, id, due: schedule.due }] : [],
    )
    .toSorted((a, b) => a.due - b.due || (a.id < b.id ? -1 : 1))
}

/** Returns the schedules whose runs have failed too often. */
export const failedSchedules = (context: Scheduled): EndedSchedule[] =>
  schedulesOf(context).flatMap(([id, { failures }]) =>
    failures !== undefined && failures.count >= mostFailures
      ? [
          {
            id,
            why: 'failed' as const,
            reason: `${failures.count} runs in a row failed, the last with: ${failures.message}`,
          },
        ]
      : [],
  )

/** Returns true if a firing has no prompt yet, because a crash cut off the second record or a person asked for the firing. */
export const isOwing = (context: Scheduled): boolean => schedulesOf(context).some(([, { owed }]) => owed !== undefined)

/** Fires planned schedules that have not changed since the plan was made, and removes those that must not continue. */
export function fireSchedules(draft: Draft, { firings, ended }: EventOfType<'schedules'>): void {
  if (draft.context.ending !== null) return
  payOwed(draft)
  for (const { id, expected, due, next, missed, isSkipped } of firings) {
    if (draft.context.parts.schedules?.schedules[id]?.due !== expected) continue
    const skipped = isSkipped ? ({ skipped: true } as const) : {}
    draft.record({ type: 'schedule.fired', ...draft.at, id, due, next, missed, ...skipped })
    payOwed(draft)
  }
  for (const { id, ...why } of ended)
    if (draft.context.parts.schedules?.schedules[id] !== undefined)
      draft.record({ type: 'schedule.removed', ...draft.at, id, ...why })
}

/** Queues the prompts of all firings that have none yet. */
function payOwed(draft: Draft): void {
  for (const [id, { owed, prompt, limits }] of schedulesOf(draft.context)) {
    if (owed === undefined) continue
    enqueueMessage(draft, 'prompts', {
      id: firingId(id, owed),
      content: [{ type: 'text', text: prompt }],
      provenance: { type: 'schedule', id },
      ...(limits === undefined ? {} : { limits }),
    })
  }
}
