/** A firing that has been planned, of a schedule that was due at `expected`. */
export interface PlannedFiring {
  readonly id: string
  readonly expected: number
  readonly due: number
  readonly next: number | null
  readonly missed: number
  readonly isSkipped: boolean
}

/** A schedule that may not go on. */
export interface EndedSchedule {
  readonly id: string
  readonly why: 'failed' | 'invalid'
  readonly reason: string
}

/** Events by which times act on an agent. */
export type TimeEvent =
  /** The call under `key` is to sleep. */
  | {
      readonly type: 'sleep'
      readonly key: string
      readonly until: number
      /** Set if the call runs again then. */
      readonly goesOn?: true
      readonly at: number
    }
  /** The time of sleeping calls has come. */
  | { readonly type: 'timer'; readonly keys: readonly string[]; readonly at: number }
  /** Schedules that are due, as it was planned, and those that may not go on. */
  | {
      readonly type: 'schedules'
      readonly firings: readonly PlannedFiring[]
      readonly ended: readonly EndedSchedule[]
      readonly at: number
    }
