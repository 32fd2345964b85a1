import { RuntimeError, quoted } from '../../../../src/protocol/errors.ts'
import type { AskedTimes } from '../../../../src/protocol/parts/schedules/scheduleOptions.ts'
import type { ScheduleTimes } from '../../../../src/protocol/parts/schedules/scheduleTimes.ts'
import { type Occurrences, occurrencesOf } from './occurrences.ts'
import { furthestMs, type ReadTimes } from '../../../../src/actors/parts/schedules/scheduling.ts'
import { freshMs } from './planFiring.ts'

/** Number of times of a cron expression whose distances are checked. */
const looked = 60

/**
 * Reads the times of a schedule. `leastMs`: the shortest allowed distance between two times.
 * @throws RuntimeError `SCHEDULE_INVALID`, `PACKAGE_MISSING`
 */
export function readTimes(asked: AskedTimes, now: number, leastMs: number): ReadTimes {
  const times = timesIn(asked)
  if ('every' in times) checkEvery(times.every, leastMs)
  const occurrences = occurrencesOf(times)
  const due = 'every' in times ? now + times.every : 'at' in times ? times.at : occurrences.next(now)
  if (due === undefined || due - now > furthestMs)
    throw refused(
      'cron' in times
        ? `The cron expression ${JSON.stringify(times.cron)} never fires within the next five years.`
        : `${'at' in times ? new Date(times.at).toISOString() : `every ${times.every} ms`} lies more than five years ahead.`,
    )
  if (now - due > freshMs) throw refused(`${new Date(due).toISOString()} has passed: give a time that is to come.`)
  if ('cron' in times) checkDistances(times.cron, occurrences, { due, leastMs })
  return { times, due }
}

function timesIn({ at, every, cron, timezone }: AskedTimes): ScheduleTimes {
  const given = [at, every, cron].filter((value) => value !== undefined).length
  if (given !== 1)
    throw refused(`It needs one of at, every and cron, and ${given === 0 ? 'has none' : `has ${given}`} of them.`)
  if (timezone !== undefined && cron === undefined) throw refused('A timezone belongs to cron alone.')
  if (cron !== undefined) return { cron: cron.trim(), timezone: timezone ?? 'UTC' }
  return every === undefined ? { at: timeIn(at!) } : { every }
}

function timeIn(at: Date | number | string): number {
  if (typeof at === 'string' && !/(?:Z|[+-]\d\d:?\d\d)$/.test(at))
    throw refused(`${quoted(at)} is not a time with its offset, such as 2027-03-01T09:00:00+01:00.`)
  const time = new Date(at).getTime()
  if (Number.isNaN(time)) throw refused(`${quoted(at)} is not a time.`)
  return time
}

function checkEvery(every: number, leastMs: number): void {
  if (!Number.isSafeInteger(every) || every < leastMs || every > furthestMs)
    throw refused(`every is ${every} ms: give a whole number from ${leastMs} to ${furthestMs}.`)
}

function checkDistances(
  cron: string,
  occurrences: Occurrences,
  { due, leastMs }: { readonly due: number; readonly leastMs: number },
): void {
  let last = due
  for (let index = 0; index < looked; index += 1) {
    const next = occurrences.next(last)
    if (next === undefined) return
    if (next - last < leastMs)
      throw refused(
        `The cron expression ${JSON.stringify(cron)} fires again after ${next - last} ms, and the shortest distance is ${leastMs} ms.`,
      )
    last = next
  }
}

const refused = (what: string): RuntimeError => new RuntimeError('SCHEDULE_INVALID', what)
