import { readTimes } from '../../../src/actors/parts/schedules/readTimes.ts'

/** Name of the call that `sleep` makes. */
export const sleepName = '$sleep'

/**
 * Returns the time until which a script sleeps, from what it gave to `sleep`: a number of milliseconds, or a time with its offset. One that has passed is
 * now. Pure.
 *
 * @throws Error with the code `INVALID_INPUT`, or `SCHEDULE_INVALID`
 */
export function dueOf(input: unknown, now: number, mostMs: number): number {
  const { ms, until } = (typeof input === 'object' && input !== null ? input : {}) as {
    readonly ms?: unknown
    readonly until?: unknown
  }
  const due = typeof ms === 'number' ? now + Math.ceil(ms) : typeof until === 'string' ? timeIn(until, now) : NaN
  if (!Number.isFinite(due) || (typeof ms === 'number' && ms < 0))
    throw refused('Give sleep a number of milliseconds, a Date, or a time such as "2027-03-01T09:00:00Z".')
  if (due - now > mostMs) throw refused(`That is ${due - now} ms ahead, more than ${mostMs}, the longest sleep.`)
  return Math.max(due, now)
}

function timeIn(until: string, now: number): number {
  const time = Date.parse(until)
  // It says what is wrong with others.
  return time <= now && /(?:Z|[+-]\d\d:?\d\d)$/.test(until) ? now : readTimes({ at: until }, now, 1).due
}

const refused = (message: string): Error => Object.assign(new Error(message), { code: 'INVALID_INPUT' })
