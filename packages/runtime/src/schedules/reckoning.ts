import type { scheduling } from '../../../../src/actors/parts/schedules/scheduling.ts'
import { occurrencesOf } from './occurrences.ts'
import { planFiring } from './planFiring.ts'
import { readTimes } from './readTimes.ts'

/** Functions that compute the times of schedules. */
export const reckoning: Required<typeof scheduling> = {
  read: readTimes,
  fire: (schedule, now) => planFiring(occurrencesOf(schedule.times), schedule, now),
}
