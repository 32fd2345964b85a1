import type { AskedTimes } from '../../../protocol/parts/schedules/scheduleOptions.ts'
import type { CatchUp, ScheduleTimes } from '../../../protocol/parts/schedules/scheduleTimes.ts'

/** How far ahead a time may lie, in milliseconds: five years. */
export const furthestMs = 5 * 366 * 86_400_000

export interface ReadTimes {
  readonly times: ScheduleTimes
  readonly due: number
}

/** Decision on a schedule that is due. */
export interface Firing {
  /** The time that is made a prompt of. */
  readonly due: number
  /** True if no prompt is made. */
  readonly isSkipped: boolean
  /** Number of earlier times that no prompt is made of, counted up to 1,000. */
  readonly missed: number
  /** When it fires again; `null`: never. */
  readonly next: number | null
}

interface Scheduling {
  /** Reads when a schedule is to fire, at the least `leastMs` apart. @throws RuntimeError `SCHEDULE_INVALID`, `PACKAGE_MISSING` */
  read(asked: AskedTimes, now: number, leastMs: number): ReadTimes
  /** Decides what fires at `now` of a schedule that was to fire at `due`, which is not later. */
  fire(
    schedule: { readonly times: ScheduleTimes; readonly due: number; readonly catchUp: CatchUp },
    now: number,
  ): Firing
}

/** The reckoning of times, which packages know and the core does not. It is complete once a runtime has been set up. */
export const scheduling: Partial<Scheduling> = {}
