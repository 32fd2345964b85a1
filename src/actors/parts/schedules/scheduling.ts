import type { AskedTimes } from '../../../protocol/parts/schedules/scheduleOptions.ts'
import type { CatchUp, ScheduleTimes } from '../../../protocol/parts/schedules/scheduleTimes.ts'

/** Maximum distance of a time from now, in milliseconds: five years. */
export const furthestMs = 5 * 366 * 86_400_000

export interface ReadTimes {
  readonly times: ScheduleTimes
  readonly due: number
}

/** Decision on a schedule that is due. */
export interface Firing {
  /** The time for which a prompt is made. */
  readonly due: number
  /** True if no prompt is made. */
  readonly isSkipped: boolean
  /** Number of earlier times for which no prompt is made, counted up to 1,000. */
  readonly missed: number
  /** Time at which it fires again; `null`: never. */
  readonly next: number | null
}

interface Scheduling {
  /** Reads the times of a schedule, which are at least `leastMs` milliseconds apart. @throws RuntimeError `SCHEDULE_INVALID`, `PACKAGE_MISSING` */
  read(asked: AskedTimes, now: number, leastMs: number): ReadTimes
  /** Decides how a schedule that was to fire at `due` fires at `now`, which is not earlier. */
  fire(
    schedule: { readonly times: ScheduleTimes; readonly due: number; readonly catchUp: CatchUp },
    now: number,
  ): Firing
}

/** Computations of times, which packages provide and the core lacks. Complete once a runtime has been set up. */
export const scheduling: Partial<Scheduling> = {}
