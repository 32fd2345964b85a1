import { outputProgress } from '../../src/workspace/runCommand.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

/** A clock with one timer, which runs out when told. */
function handClock() {
  const timers: (() => void)[] = []
  const clock: Clock = {
    now: () => 0,
    after: (ms, callback) => {
      assert.is(ms, 250)
      timers.push(callback)
      return () => void timers.splice(timers.indexOf(callback), 1)
    },
  }
  return { clock, timers, tick: () => timers.shift()?.() }
}

function recorded() {
  const reports: string[] = []
  const hand = handClock()
  return { ...hand, reports, progress: outputProgress(({ output }) => reports.push(output), hand.clock) }
}

describe('progress of a command', (it) => {
  it('reports the first piece at once and later ones together, each interval', () => {
    const { progress, reports, tick } = recorded()
    for (const piece of ['a', 'b', 'c']) progress.add(piece)
    assert.equal(reports, ['a'])
    tick()
    assert.equal(reports, ['a', 'bc'])
    progress.add('d')
    assert.equal(reports, ['a', 'bc'])
    tick()
    assert.equal(reports, ['a', 'bc', 'd'])
  })

  it('reports at once again after a silent interval', () => {
    const { progress, reports, tick, timers } = recorded()
    progress.add('a')
    tick()
    assert.is(timers.length, 0)
    progress.add('b')
    assert.equal(reports, ['a', 'b'])
  })

  it('reports what is left at the end and leaves no timer', () => {
    const { progress, reports, timers } = recorded()
    progress.add('a')
    progress.add('b')
    progress.end()
    progress.end()
    assert.equal(reports, ['a', 'b'])
    assert.is(timers.length, 0)
  })

  it('reports only the end of much output', () => {
    const { progress, reports } = recorded()
    progress.add('first ')
    progress.add('x'.repeat(10_000))
    progress.add('end')
    progress.end()
    assert.is(reports[1], `…${'x'.repeat(3997)}end`)
  })
})
