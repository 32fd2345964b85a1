import type { RecordDraft } from '../../records.ts'
import type { CatchUp, ScheduleTimes } from './scheduleTimes.ts'
import type { Limits } from '../../runs/runLimits.ts'

/** A schedule as recorded in the log. */
export interface Schedule {
  readonly times: ScheduleTimes
  /** Time of the next firing, in epoch milliseconds; `null` if it has fired for the last time and its prompt is not in the log yet. */
  readonly due: number | null
  readonly prompt: string
  readonly catchUp: CatchUp
  readonly limits?: Limits
  readonly by: 'model' | 'person'
  readonly nodeId?: number
  /** The time of a firing whose prompt is not in the log yet. */
  readonly owed?: number
  /** Number of consecutive failed runs up to now, with the last error. */
  readonly failures?: { readonly count: number; readonly message: string }
}

export interface SchedulesState {
  readonly schedules: { readonly [id: string]: Schedule }
  /** The run of a schedule, or the run that continues it. Kept while that run is paused. */
  readonly running?: { readonly id: string; readonly due: number; readonly runId: string }
}

/** Returns the id of the prompt that a schedule makes for a time, and of the run of that prompt. */
export const firingId = (id: string, due: number): string => `schedule/${id}/${due}`

/** Parses the id of a schedule's prompt; `undefined` for any other id. */
export function firingIn(requestId: string | undefined): { readonly id: string; readonly due: number } | undefined {
  const [, id, due] = /^schedule\/([^/]+)\/(-?\d+)$/.exec(requestId ?? '') ?? []
  return id === undefined ? undefined : { id, due: Number(due) }
}

type DraftOf<T extends RecordDraft['type']> = Extract<RecordDraft, { readonly type: T }>

function without(state: SchedulesState, isGone: (schedule: Schedule, id: string) => boolean): SchedulesState {
  const kept = Object.entries(state.schedules).filter(([id, schedule]) => !isGone(schedule, id))
  return { ...state, schedules: Object.fromEntries(kept) }
}

function changed(
  state: SchedulesState,
  id: string,
  change: (schedule: Schedule) => Schedule | undefined,
): SchedulesState {
  const schedule = Object.hasOwn(state.schedules, id) ? state.schedules[id] : undefined
  if (schedule === undefined) return state
  const next = change(schedule)
  return next === undefined
    ? without(state, (_, other) => other === id)
    : { ...state, schedules: { ...state.schedules, [id]: next } }
}

/** Returns the schedule, or `undefined` if its last firing is over. */
const unlessOver = (schedule: Schedule): Schedule | undefined =>
  schedule.due === null && schedule.owed === undefined ? undefined : schedule

/** Returns the state once the prompt of a firing is in the log. */
function said(state: SchedulesState, requestId: string | undefined): SchedulesState {
  const firing = firingIn(requestId)
  if (firing === undefined) return state
  return changed(state, firing.id, ({ owed, ...schedule }) =>
    unlessOver(owed === undefined || owed === firing.due ? schedule : { ...schedule, owed }),
  )
}

/** Returns the schedules after one more record of a log. Pure. */
export function schedulesAfter(state: SchedulesState, record: RecordDraft): SchedulesState {
  type Step = (state: SchedulesState, record: RecordDraft) => SchedulesState | undefined
  const step = (scheduleState.on as { readonly [type: string]: Step | undefined })[record.type]
  return step === undefined ? state : (step(state, record) ?? scheduleState.initial)
}

/** Fold of an agent's schedules. Schedules in another party's records never fire, a fork begins without any, and a stopped agent has none. */
export const scheduleState = {
  initial: { schedules: {} } as SchedulesState,
  on: {
    'schedule.set': (
      state: SchedulesState,
      { id, times, due, prompt, catchUp, limits, by, nodeId, foreign }: DraftOf<'schedule.set'>,
    ): SchedulesState => {
      if (foreign === true) return state
      const schedule = {
        times,
        due,
        prompt,
        catchUp,
        ...(limits === undefined ? {} : { limits }),
        by,
        ...(nodeId === undefined ? {} : { nodeId }),
      }
      return { ...state, schedules: { ...state.schedules, [id]: schedule } }
    },
    'schedule.fired': (state: SchedulesState, { id, due, next, skipped }: DraftOf<'schedule.fired'>): SchedulesState =>
      changed(state, id, (schedule) =>
        unlessOver({ ...schedule, due: next, ...(skipped === true ? {} : { owed: due }) }),
      ),
    'schedule.removed': (state: SchedulesState, { id }: DraftOf<'schedule.removed'>): SchedulesState =>
      changed(state, id, () => undefined),
    'queue.changed': (state: SchedulesState, { added }: DraftOf<'queue.changed'>): SchedulesState =>
      said(state, added?.id),
    'run.start': (state: SchedulesState, { runId, requestId, cause }: DraftOf<'run.start'>): SchedulesState => {
      const { running, ...rest } = state
      const firing = cause === 'resume' ? running : firingIn(requestId)
      return firing === undefined ? rest : { ...rest, running: { ...firing, runId } }
    },
    'run.end': (state: SchedulesState, { runId, stopReason, error }: DraftOf<'run.end'>): SchedulesState => {
      const { running, ...rest } = state
      // It may go on.
      if (running?.runId !== runId || stopReason === 'paused') return state
      // A person ended it, which does not tell of the schedule.
      if (stopReason === 'aborted') return rest
      return changed(rest, running.id, ({ failures, ...schedule }) =>
        stopReason === 'error'
          ? { ...schedule, failures: { count: (failures?.count ?? 0) + 1, message: error?.message ?? '' } }
          : schedule,
      )
    },
    'revert.applied': (state: SchedulesState, { applied, target }: DraftOf<'revert.applied'>): SchedulesState =>
      applied ? without(state, ({ by, nodeId }) => by === 'model' && nodeId !== undefined && nodeId > target) : state,
    'agent.created': (state: SchedulesState, { forkedFrom }: DraftOf<'agent.created'>): SchedulesState | undefined =>
      forkedFrom === undefined ? state : undefined,
    'agent.stopped': (): undefined => undefined,
  },
}
