import { tookWords } from '../src/amounts.ts'
import { WorkTimes, type Took } from '../src/workTimes.ts'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import { assert, describe } from '../../../test/support/suite.ts'

/** Returns the times that each event tells: type, seconds, and the call. */
function tookBy(
  ...events: readonly (readonly [type: AgentEvent['type'], seconds: number, callId?: string])[]
): (Took | undefined)[] {
  const times = new WorkTimes()
  return events
    .map(([type, seconds, callId]) => times.take({ type, time: seconds * 1_000, callId } as unknown as AgentEvent))
    .filter((took) => took !== undefined)
}

describe('how long calls and runs took', (it) => {
  it('leaves out what a person took to decide, and says it beside', () => {
    const [call, run] = tookBy(
      ['run.start', 0],
      ['approval.requested', 1, 'c'],
      ['approval.decided', 24, 'c'],
      ['tool.start', 24, 'c'],
      ['tool.end', 25.6, 'c'],
      ['run.end', 26],
    )
    assert.equal(call, { ms: 1_600, waitedMs: 23_000 })
    assert.equal(run, { ms: 3_000, waitedMs: 23_000 })
    assert.is(tookWords(call!), '1.6 s + 23.0 s waiting')
    // A call that was denied took nothing.
    assert.is(tookWords({ ms: 0, waitedMs: 3_200 }), '3.2 s waiting')
    assert.is(tookWords({ ms: 1_600, waitedMs: 0 }), '1.6 s')
    assert.is(tookWords({ ms: 1_600, waitedMs: 400 }), '2.0 s')
  })

  it('counts a question of a tool as waiting', () => {
    const [call] = tookBy(
      ['tool.start', 0, 'c'],
      ['question.asked', 1, 'c'],
      ['question.answered', 5, 'c'],
      ['tool.end', 6, 'c'],
    )
    assert.equal(call, { ms: 2_000, waitedMs: 4_000 })
  })

  it('does not call it waiting of the run while another call is at work', () => {
    const took = tookBy(
      ['run.start', 0],
      ['approval.requested', 0, 'a'],
      ['tool.start', 0, 'b'],
      ['tool.end', 10, 'b'],
      ['approval.decided', 12, 'a'],
      ['run.end', 13],
    )
    assert.equal(took.at(-1), { ms: 11_000, waitedMs: 2_000 })
  })

  it('is never below zero when the clock is put back', () => {
    const took = tookBy(['run.start', 100], ['tool.start', 101, 'c'], ['tool.end', 40, 'c'], ['run.end', 42])
    assert.equal(took, [
      { ms: 0, waitedMs: 0 },
      { ms: 3_000, waitedMs: 0 },
    ])
  })

  it('is not told of a run whose beginning was not seen', () => {
    assert.equal(tookBy(['tool.end', 1, 'c'], ['run.end', 2]), [])
  })
})
