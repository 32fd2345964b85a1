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
