import type * as NodeModule from 'node:module'
import type * as Croner from 'croner'
import { messageOf, RuntimeError, quoted } from '../../../../src/protocol/errors.ts'
import { requirePeer } from '../../../../src/protocol/ports/loadPeer.ts'
import type { ScheduleTimes } from '../../../../src/protocol/parts/schedules/scheduleTimes.ts'

/** The times of one schedule, in epoch milliseconds. */
export interface Occurrences {
  /** Returns the first time after `after`; `undefined` if there is none. */
  next(after: number): number | undefined
  /** Returns the newest times from `due` to `now`, `count` of them at most, in order. */
  newest(count: number, due: number, now: number): readonly number[]
}

/** Maximum length of a cron expression. */
const maxCronLength = 120

/**
 * Returns the times of a schedule.
 * @throws RuntimeError `SCHEDULE_INVALID` for an invalid cron expression or unknown time zone, `PACKAGE_MISSING`
 */
export function occurrencesOf(times: ScheduleTimes): Occurrences {
  if ('at' in times) return { next: (after) => (times.at > after ? times.at : undefined), newest: (_, due) => [due] }
  return 'every' in times ? evenly(times.every) : byCron(times)
}

/** Returns evenly spaced times counted from `due`, so that a late one does not shift the others. */
function evenly(every: number): Occurrences {
  return {
    next: (after) => after + every,
    newest(count, due, now) {
      const last = Math.floor((now - due) / every)
      const first = Math.max(0, last - count + 1)
      return Array.from({ length: last - first + 1 }, (_, index) => due + (first + index) * every)
    },
  }
}

function byCron({ cron, timezone }: { readonly cron: string; readonly timezone: string }): Occurrences {
  const expression = readCron(cron, timezone)
  return {
    next: (after) => expression.nextRun(new Date(after))?.getTime(),
    newest(count, due, now) {
      // It works in whole seconds, and gives what is before the time that it is given.
      const until = (Math.floor(now / 1_000) + 1) * 1_000
      const found = expression.previousRuns(count, new Date(until)).map((time) => time.getTime())
      const fitting = found.filter((time) => time >= due && time <= now).toSorted((a, b) => a - b)
      return fitting.length > 0 ? fitting : [due]
    },
  }
}

/** Loads the package synchronously, because commands are answered synchronously. A browser page has no modules to load. */
function loadCroner(): typeof Croner {
  const { getBuiltinModule } = process as Partial<typeof process>
  const node = getBuiltinModule?.('module') as typeof NodeModule | undefined
  if (node === undefined)
    throw new RuntimeError('SCHEDULE_INVALID', 'A cron expression needs Node: give "at" or "every".')
  return node.createRequire(import.meta.url)('croner') as typeof Croner
}

function readCron(cron: string, timezone: string): Croner.Cron {
  const { Cron } = requirePeer(loadCroner, 'A schedule by a cron expression', 'croner')
  // It takes dates too, which `at` is for.
  if (cron.length > maxCronLength || !/^(?:@\w+|\S+(?: +\S+){4,5})$/.test(cron))
    throw refused(cron, 'it needs five fields (minute, hour, day, month, day of the week), or six with seconds first')
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    const words = `${quoted(timezone)} is not a time zone such as "Europe/Berlin" or "UTC".`
    throw new RuntimeError('SCHEDULE_INVALID', words)
  }
  try {
    return new Cron(cron, { paused: true, timezone, mode: '5-or-6-parts' })
  } catch (thrown) {
    throw refused(cron, messageOf(thrown).replace(/^CronPattern: /, ''))
  }
}

const refused = (cron: string, why: string): RuntimeError =>
  new RuntimeError(
    'SCHEDULE_INVALID',
    `The cron expression ${JSON.stringify(cron.slice(0, maxCronLength))} is not valid: ${why}.`,
  )
