import { occurrencesOf } from '../../../packages/runtime/src/schedules/occurrences.ts'
import { planFiring } from '../../../packages/runtime/src/schedules/planFiring.ts'
import type { Firing } from '../../../src/actors/parts/schedules/scheduling.ts'
import { readTimes } from '../../../packages/runtime/src/schedules/readTimes.ts'
import type { AskedTimes } from '../../../src/protocol/parts/schedules/scheduleOptions.ts'
import type { CatchUp } from '../../../src/protocol/parts/schedules/scheduleTimes.ts'
import { failsWith } from '../../../packages/stores/test/storeFolder.ts'
import { assert, describe } from '../../support/suite.ts'

const at = (text: string): number => Date.parse(text)
const iso = (time: number): string => new Date(time).toISOString()
const day = 86_400_000

/** Goes through a schedule as a waker does that looks every `pollMs`, from one time to another. */
function live(asked: AskedTimes, from: string, to: string, pollMs: number): string[] {
  const fired: string[] = []
  const { times, due: first } = readTimes(asked, at(from), 1_000)
  const occurrences = occurrencesOf(times)
  let due: number | null = first
  for (let now = at(from); now < at(to) && due !== null; now += pollMs) {
    if (due > now) continue
    const firing = planFiring(occurrences, { due, catchUp: 'once' }, now)
    fired.push(iso(firing.due))
    due = firing.next
  }
  return fired
}

describe('the times of schedules', (it) => {
  it('through a year, a cron time at night in Berlin comes once a day, also when clocks change', () => {
    const fired = live(
      { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
      '2026-01-01T00:00Z',
      '2027-01-01T00:00Z',
      600_000,
    )
    assert.is(fired.length, 365)
    assert.is(new Set(fired.map((time) => time.slice(0, 10))).size, 365)
    const on = (date: string): string[] => fired.filter((time) => time.startsWith(date))
    assert.equal(on('2026-03-28'), ['2026-03-28T01:30:00.000Z'])
    // There is no 02:30 in that night.
    assert.equal(on('2026-03-29'), ['2026-03-29T01:00:00.000Z'])
    assert.equal(on('2026-03-30'), ['2026-03-30T00:30:00.000Z'])
    // And two in this one.
    assert.equal(on('2026-10-25'), ['2026-10-25T00:30:00.000Z'])
    assert.equal(on('2026-10-26'), ['2026-10-26T01:30:00.000Z'])
  })

  it('on working days come on working days', () => {
    const fired = live({ cron: '0 9 * * 1-5', timezone: 'UTC' }, '2026-01-01T10:00Z', '2026-12-31T10:00Z', 3_600_000)
    assert.is(fired.length, 260)
    assert.ok(fired.every((time) => ![0, 6].includes(new Date(time).getUTCDay())))
  })

  it('of one distance do not move when each is found late', () => {
    const fired = live({ every: 7_000 }, '2026-01-01T00:00:00Z', '2026-01-01T00:10:00Z', 1_900)
    assert.is(fired.length, 85)
    assert.ok(fired.every((time) => (at(time) - at('2026-01-01T00:00:00Z')) % 7_000 === 0))
  })

  it('come once when there is one alone', () => {
    const asked = { at: '2026-03-01T09:00:00+01:00' }
    assert.equal(live(asked, '2026-01-01T00:00Z', '2026-06-01T00:00Z', day), ['2026-03-01T08:00:00.000Z'])
  })
})

describe('times that passed while nobody was there', (it) => {
  const now = at('2026-05-07T08:00Z')
  const due = at('2026-05-04T09:00Z')
  const daily = { cron: '0 9 * * *', timezone: 'UTC' }
  const plan = (catchUp: CatchUp, asked: AskedTimes = daily, from = due): Firing =>
    planFiring(occurrencesOf(readTimes(asked, from - day / 2, 1_000).times), { due: from, catchUp }, now)

  it('make one prompt with `once`, that says how many there were', () => {
    const expected = { due: at('2026-05-06T09:00Z'), isSkipped: false, missed: 2, next: at('2026-05-07T09:00Z') }
    assert.equal(plan('once'), expected)
  })

  it('make none with `skip`, unless they are a minute old at most', () => {
    const expected = { due: at('2026-05-06T09:00Z'), isSkipped: true, missed: 2, next: at('2026-05-07T09:00Z') }
    assert.equal(plan('skip'), expected)
    assert.equal(plan('skip', { every: day }, now - 3 * day - 60_000), {
      due: now - 60_000,
      isSkipped: false,
      missed: 3,
      next: now - 60_000 + day,
    })
  })

  it('make one each with `all`, in order', () => {
    const first = { due, isSkipped: false, missed: 0, next: at('2026-05-05T09:00Z') }
    assert.equal(plan('all'), first)
    const last = { due: at('2026-05-06T09:00Z'), isSkipped: false, missed: 0, next: at('2026-05-07T09:00Z') }
    assert.equal(plan('all', daily, at('2026-05-06T09:00Z')), last)
  })

  it('make ten at most with `all`, of the newest', () => {
    const from = now - 99 * 60_000
    const firing = plan('all', { every: 60_000 }, from)
    assert.equal(firing, { due: now - 9 * 60_000, isSkipped: false, missed: 90, next: now - 8 * 60_000 })
    assert.equal(plan('all', { cron: '* * * * *' }, from), firing)
  })

  it('are counted up to a thousand, so that a second of a year ago holds nothing up', () => {
    const year = now - 365 * day
    for (const asked of [{ every: 1_000 }, { cron: '* * * * * *' }])
      assert.equal(plan('once', asked, year), { due: now, isSkipped: false, missed: 1_000, next: now + 1_000 })
  })

  it('of a schedule with one time make that one prompt, and none after it', () => {
    assert.equal(plan('once', { at: due }), { due, isSkipped: false, missed: 0, next: null })
  })
})

describe('times that are refused', (it) => {
  const now = at('2026-05-07T08:00Z')
  const refused: readonly (readonly [AskedTimes, ...string[]])[] = [
    [{}, 'one of at, every and cron, and has none'],
    [{ at: now + 1, every: 60_000 }, 'has 2 of them'],
    [{ cron: '* * * *' }, 'needs five fields'],
    [{ cron: '0 0 0 1 1 * 2030' }, 'needs five fields'],
    [{ cron: '2027-01-01T00:00:00' }, 'needs five fields'],
    [{ cron: '' }, 'needs five fields'],
    [{ cron: '1,'.repeat(9_000) + '2 * * * *' }, 'needs five fields'],
    [{ cron: '61 * * * *' }, '"61 * * * *"', 'Invalid value for minute: 61'],
    [{ cron: '0 9 * * 1-5#' }, 'illegal nth weekday'],
    [{ cron: '@noon' }, '@noon'],
    [{ cron: '0 0 30 2 *' }, '"0 0 30 2 *" never fires within the next five years'],
    [{ cron: '0 9 * * *', timezone: 'Mars/Base' }, '"Mars/Base" is not a time zone'],
    [{ every: 60_000, timezone: 'UTC' }, 'belongs to cron alone'],
    [{ every: 999 }, 'every is 999 ms', 'from 1000'],
    [{ every: Number.NaN }, 'every is NaN ms'],
    [{ every: 1_500.5 }, 'whole number'],
    [{ every: 6 * 366 * day }, 'whole number'],
    [{ at: now - 60_001 }, 'has passed'],
    [{ at: now + 6 * 366 * day }, 'more than five years ahead'],
    [{ at: 'tomorrow' }, '"tomorrow" is not a time with its offset'],
    [{ at: '2027-03-01T09:00:00' }, 'not a time with its offset'],
    [{ at: '2027-99-01T09:00:00Z' }, 'is not a time'],
    [{ at: Number.POSITIVE_INFINITY }, 'is not a time'],
  ]
  for (const [asked, ...words] of refused)
    it(JSON.stringify(asked).slice(0, 60), () =>
      assert.throws(() => readTimes(asked, now, 1_000), failsWith('SCHEDULE_INVALID', ...words)),
    )

  it('at a minute or more from each other, for a model', () => {
    const soon = (asked: AskedTimes) => () => readTimes(asked, now, 60_000)
    assert.throws(soon({ every: 59_999 }), failsWith('SCHEDULE_INVALID', 'from 60000'))
    assert.throws(
      soon({ cron: '*/30 * * * * *' }),
      failsWith('SCHEDULE_INVALID', '"*/30 * * * * *" fires again after 30000 ms'),
    )
    assert.throws(soon({ cron: '0,59 0 * * * *' }), failsWith('SCHEDULE_INVALID', 'after 59000 ms'))
    assert.is(soon({ cron: '* * * * *' })().due, now + 60_000)
  })

  it('not a moment ago: that fires at once', () => {
    assert.equal(readTimes({ at: now - 60_000 }, now, 1_000), { times: { at: now - 60_000 }, due: now - 60_000 })
  })

  it('29 February is a date', () => {
    const { due } = readTimes({ cron: '0 0 29 2 *' }, now, 60_000)
    assert.is(iso(due), '2028-02-29T00:00:00.000Z')
  })
})
