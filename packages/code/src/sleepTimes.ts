/** Name of the call that `sleep` makes. */
export const sleepName = '$sleep'

/**
 * Returns the time until which a script sleeps, from what it gave to `sleep`: a number of milliseconds, or a time with its offset. One that has passed is
 * now. Pure.
 *
 * @throws Error with the code `INVALID_INPUT`
 */
export function dueOf(input: unknown, now: number, mostMs: number): number {
  const { ms, until } = (typeof input === 'object' && input !== null ? input : {}) as {
    readonly ms?: unknown
    readonly until?: unknown
  }
  const due = typeof ms === 'number' && ms >= 0 ? now + Math.ceil(ms) : typeof until === 'string' ? timeIn(until) : NaN
  if (!Number.isFinite(due))
    throw refused('Give sleep a number of milliseconds, a Date, or a time such as "2027-03-01T09:00:00Z".')
  if (due - now > mostMs) throw refused(`That is ${due - now} ms ahead, more than ${mostMs}, the longest sleep.`)
  return Math.max(due, now)
}

/** A time without its offset could be any of a day. */
const timeIn = (until: string): number => (/(?:Z|[+-]\d\d:?\d\d)$/.test(until) ? Date.parse(until) : NaN)

const refused = (message: string): Error => Object.assign(new Error(message), { code: 'INVALID_INPUT' })
