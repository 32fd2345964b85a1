import { RunTimes } from '../../../src/inspector/model/agent/runTimes.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

/** Records of a log, each with its time in seconds and its run. */
const records = (
  [
    ['agent.created', 0, ''],
    ['run.start', 1, 'r0'],
    ['approval.requested', 2, 'r0', { callId: 'c' }],
    ['approval.decided', 12, 'r0', { callId: 'c' }],
    ['tool.end', 13, 'r0', { callId: 'c' }],
    ['run.end', 14, 'r0'],
    ['run.start', 100, 'r1'],
    ['turn.start', 103, 'r1'],
    ['run.end', 105, 'r1'],
  ] as const
).map(
  ([type, time, runId, rest = {}], index) =>
    ({ seq: index + 1, type, time: time * 1_000, runId, ...rest }) as unknown as LogRecord,
)

describe('how long runs took', (it) => {
  it('is told as of any moment, without what people took, and of the run under way so far', () => {
    const times = new RunTimes()
    const at = (end: number) => Object.fromEntries(times.of(records, end))
    const first = { ms: 3_000, waitedMs: 10_000 }
    assert.equal(at(1), {})
    assert.equal(at(3), { r0: { ms: 1_000, waitedMs: 0 } })
    assert.equal(at(4), { r0: { ms: 1_000, waitedMs: 10_000 } })
    assert.equal(at(8), { r0: first, r1: { ms: 3_000, waitedMs: 0 } })
    assert.equal(at(9), { r0: first, r1: { ms: 5_000, waitedMs: 0 } })
    // Back in time, and beyond the end.
    assert.equal(at(6), { r0: first })
    assert.equal(at(99), { r0: first, r1: { ms: 5_000, waitedMs: 0 } })
  })

  it('begins anew with another log', () => {
    const times = new RunTimes()
    times.of(records, 9)
    assert.equal([...times.of(records.slice(6), 3)], [['r1', { ms: 5_000, waitedMs: 0 }]])
    assert.is(times.of([], 0).size, 0)
  })
})
