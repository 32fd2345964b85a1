import { firingId, firingIn, type Schedule } from '../protocol/parts/schedules/scheduleState.ts'
import type { AgentContext, EventOfType } from './agentTypes.ts'
import type { Draft } from './draft.ts'
import { enqueueMessage } from './queues.ts'
import { sleepers } from './sleepEnds.ts'
import type { EndedSchedule } from './schedulePlans.ts'

type Scheduled = Pick<AgentContext, 'parts' | 'run' | 'prompts' | 'calls'>

/** How many runs in a row may fail. */
const mostFailures = 3

const schedulesOf = ({ parts }: Pick<AgentContext, 'parts'>): [string, Schedule][] =>
  Object.entries(parts.schedules?.schedules ?? {})

/** The times that prompts of schedules were due at which wait, or whose run is under way. */
const underWay = ({ run, prompts, parts }: Scheduled): number[] => [
  ...prompts.flatMap(({ id }) => firingIn(id)?.due ?? []),
  ...(run === null || parts.schedules?.running === undefined ? [] : [parts.schedules.running.due]),
]

/** Returns the earliest time at which a schedule fires or a call wakes up; `null` if none does. */
export const earliestDue = (context: Scheduled): number | null =>
  least([...schedulesOf(context).map(([, { due }]) => due), ...sleepers(context).map(({ until }) => until)])

/**
 * Returns the time at which an agent that is not live wants to be woken; `null`: never. While the run of a schedule is under way it is the time that the
 * run is of, so that after a crash somebody goes on with it.
 */
export const wakeAt = (context: Scheduled): number | null => least([earliestDue(context), ...underWay(context)])

const least = (times: readonly (number | null)[]): number | null =>
  times.reduce((first, time) => (first === null || (time !== null && time < first) ? time : first), null)

/** Schedules that are due at `now`, in order. One whose last prompt still waits to begin is not: it would only make the queue longer. */
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

/** Schedules whose runs have failed too often. */
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

/** Prompts of firings whose second record a crash has cut off, and of those that people asked for. */
export const isOwing = (context: Scheduled): boolean => schedulesOf(context).some(([, { owed }]) => owed !== undefined)

/** Fires schedules, as far as they are still as they were when that was planned, and removes those that may not go on. */
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

/** Makes the prompts of all firings that have none. */
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
