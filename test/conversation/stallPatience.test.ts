import { stallOf } from '../../src/conversation/brakes/stall/stall.ts'
import type { StallRule } from '../../src/protocol/braking.ts'
import { BrakeLog, type WantedCall } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

function logOf(...steps: readonly WantedCall[]): BrakeLog {
  const log = new BrakeLog()
  log.user('the task')
  for (const step of steps) log.step([step])
  return log
}

const ruleOf = (log: BrakeLog, ...rules: StallRule[]): StallRule | undefined =>
  stallOf(log.conversation, rules.length === 0 ? undefined : rules)?.rule

const look: WantedCall = { name: 'look', input: { at: 1 }, output: 'nothing here' }
const shell: WantedCall = { name: 'run', input: { command: 'make' }, isIrreversible: true }
const other = (at: number): WantedCall => ({ name: 'other', input: { at }, output: `thing ${at}` })
const failing = (output: string, more: WantedCall = {}): WantedCall => ({ name: 'run', output, isError: true, ...more })

describe('a stall by failing', (it) => {
  it('is none while its numbers grow, of the same call', () => {
    const said = (...texts: readonly string[]) => ruleOf(logOf(...texts.map((text) => failing(text))))
    assert.is(said('not done: 12 %', 'not done: 40 %', 'not done: 61 %'), undefined)
    assert.is(said('failed at 3/20', 'failed at 7/20', 'failed at 7/20'), undefined, 'a plateau')
    assert.is(said('failed at 9.5 MB', 'failed at 9.75 MB', 'failed at 10.25 MB'), undefined, 'one digit more')
    assert.is(said('failed: ٩ %', 'failed: ١٢ %', 'failed: ٤٠ %'), undefined, 'digits of any script')
    assert.is(said('failed at 7/20', 'failed at 7/20', 'failed at 7/20'), 'repeat')
    assert.is(said('failed at 9 rows', 'failed at 8 rows', 'failed at 7 rows'), 'sameError', 'numbers that shrink')
    assert.is(said('failed: 3 of 9', 'failed: 4 of 8', 'failed: 5 of 7'), 'sameError', 'one of them shrinks')
    assert.is(said('failed at 10:00:01', 'failed at 10:00:02', 'failed at 10:00:03'), 'repeat', 'a clock')
    assert.is(said('a.ts:3 failed', 'a.ts:5 failed', 'a.ts:9 failed'), 'sameError', 'a place')
    const asked = [1, 2, 3].map((input) => failing(`request ${input} failed`, { input }))
    assert.is(ruleOf(logOf(...asked)), 'sameError', 'of other calls')
    const listing = (at: number) => times(40, (row) => `row ${row + at} failed`).join(', ')
    assert.is(said(listing(1), listing(2), listing(3)), 'sameError', 'a listing')
  })
})

describe('patience', (it) => {
  /** The number of equal steps that make a loop. */
  const least = (step: WantedCall): number =>
    times(9, (at) => at + 1).find((count) => ruleOf(logOf(...times(count, () => step))) !== undefined) ?? Infinity

  for (const [title, step, count] of [
    ['any call', look, 3],
    ['one that failed', failing('no route'), 3],
    ['one that failed, whatever it would have changed', failing('no route', { changed: ['a.ts'] }), 3],
    ['one that changed something', { ...look, changed: ['a.ts'] }, 4],
    ['one that cannot be undone', { ...look, isIrreversible: true }, 4],
    ['a shell command, which says what it did', { ...shell, output: 'done' }, 3],
    ['a shell command that has nothing to say', { ...shell, output: '(no output)' }, 3],
    ['one that timed out', failing('the request timed out after 5 s'), 4],
    ['an act of which nothing is shown', { ...look, output: ' ', isIrreversible: true }, 6],
    ['an act that says so', { ...look, output: '(no output)', isIrreversible: true }, 6],
    ['an act that shows more', { ...look, output: '(no output)\n[exit code 0]', isIrreversible: true }, 4],
    ['a look that shows nothing', { ...look, output: '' }, 3],
    ['scrolling', { name: 'scroll_down', output: 'the page' }, 6],
    ['scrolling, as an action', { name: 'browser', input: { action: 'scroll' }, output: 'the page' }, 6],
    ['paging, by a key', { name: 'press', input: { key: 'PageDown' }, output: 'the page' }, 6],
    ['scrolling that failed', failing('no such element', { name: 'scroll' }), 3],
    ['what is under way', { ...look, output: 'job 7: still running' }, 6],
    ['what is not ready, as an error', failing('not ready: 0 rows'), 6],
    ['what says that another is running', { ...look, output: 'another build is running' }, 3],
    ['a long text with such words', { ...look, output: `${'a line\n'.repeat(90)}still running` }, 3],
  ] as const)
    it(`is ${count} for ${title}`, () => assert.is(least(step), count))

  it('is that of the most patient step of a round', () => {
    const round = [{ name: 'scroll', output: 'the page' }, other(1)]
    assert.is(ruleOf(logOf(...round, ...round, ...round), 'cycle'), undefined)
    assert.is(ruleOf(logOf(...round, ...round, ...round, round[0]!), 'cycle'), 'cycle')
  })
})

describe('a stall by failing over waits', (it) => {
  it('is the same call eight times, when nothing but waiting comes in between', () => {
    const test = failing('connection refused')
    for (const wait of [
      { name: 'run', input: { command: 'sleep 60' }, output: '' },
      { name: 'wait_for_it', output: 'not yet', polls: true },
    ] satisfies WantedCall[]) {
      const rounds = (count: number, step: WantedCall = test) => times(count, () => [step, wait]).flat()
      assert.is(ruleOf(logOf(...rounds(6), test)), undefined, 'seven')
      const stall = stallOf(logOf(...rounds(7), test).conversation)
      assert.equal([stall?.rule, stall?.steps.length], ['sameError', 8])
      assert.is(ruleOf(logOf(...rounds(7), wait)), undefined, 'the wait itself')
      assert.is(ruleOf(logOf(...rounds(3), look, ...rounds(4), test)), undefined, 'another look in between')
      assert.is(ruleOf(logOf(...rounds(3), look, wait, ...rounds(4), test)), undefined)
      const busy = failing('not ready: 3 of 9 jobs')
      assert.is(ruleOf(logOf(...rounds(7, busy), busy)), undefined, 'it is under way')
      const grows = times(8, (at) => [failing(`failed at ${at + 1} of 9`), wait]).flat()
      assert.is(ruleOf(logOf(...grows.slice(0, -1))), undefined, 'progress')
      const others = times(8, (input) => [failing('connection refused', { input }), wait]).flat()
      assert.is(ruleOf(logOf(...others.slice(0, -1))), undefined, 'other calls')
    }
  })
})
