/** Planned firing of a schedule that was due at `expected`. */
export interface PlannedFiring {
  readonly id: string
  readonly expected: number
  readonly due: number
  readonly next: number | null
  readonly missed: number
  readonly isSkipped: boolean
}

/** Schedule that must not continue. */
export interface EndedSchedule {
  readonly id: string
  readonly why: 'failed' | 'invalid'
  readonly reason: string
}

/** Events by which timers act on an agent. */
export type TimeEvent =
  /** Puts the call under `key` to sleep. */
  | {
      readonly type: 'sleep'
      readonly key: string
      readonly until: number
      /** Set if the call runs again at that time. */
      readonly goesOn?: true
      readonly at: number
    }
  /** Wakes sleeping calls whose time has come. */
  | { readonly type: 'timer'; readonly keys: readonly string[]; readonly at: number }
  /** Fires the planned schedules, and removes those that must not continue. */
  | {
      readonly type: 'schedules'
      readonly firings: readonly PlannedFiring[]
      readonly ended: readonly EndedSchedule[]
      readonly at: number
    }
