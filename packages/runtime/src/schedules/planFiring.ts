import type { CatchUp } from '../../../../src/protocol/parts/schedules/scheduleTimes.ts'
import { furthestMs, type Firing } from '../../../../src/actors/parts/schedules/scheduling.ts'
import type { Occurrences } from './occurrences.ts'

/** Maximum age at which `skip` still fires a time, in milliseconds. */
export const freshMs = 60_000
/** Maximum number of missed times that `all` makes up for. */
const mostMadeUpFor = 10
/** Maximum count of missed times. */
const mostCounted = 1_000

/** Decides what a schedule that was due at `due` fires at `now`, which is not earlier. Pure. */
export function planFiring(
  occurrences: Occurrences,
  { due, catchUp }: { readonly due: number; readonly catchUp: CatchUp },
  now: number,
): Firing {
  const [first, second] = occurrences.newest(catchUp === 'all' ? mostMadeUpFor : 1, due, now)
  const fired = first ?? due
  const following = second ?? occurrences.next(fired)
  const next = following !== undefined && following - now <= furthestMs ? following : null
  const isSkipped = catchUp === 'skip' && now - fired > freshMs
  return { due: fired, isSkipped, missed: countBetween(occurrences, due, fired), next }
}

/** Returns the number of times from `due` until before `end`. */
function countBetween(occurrences: Occurrences, due: number, end: number): number {
  let count = 0
  for (let at: number | undefined = due; at !== undefined && at < end && count < mostCounted; at = occurrences.next(at))
    count += 1
  return count
}
