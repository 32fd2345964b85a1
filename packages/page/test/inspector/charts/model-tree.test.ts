import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { othersId, sequenceAt, ToldRecords, withFewLanes } from '../../../src/inspector/model/charts/treeLogs.ts'
import { actorSequence } from '../../../../charts/src/actorSequence.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const base = { v: 3, agentId: 'a', runId: 'a/r0', turnIndex: 0 } as const
const spawned = (seq: number, childId: string, time = seq): LogRecord => ({
  ...base,
  seq,
  time,
  type: 'child.spawned',
  childId,
  definition: 'd',
})
const other = (seq: number): LogRecord => ({ ...base, seq, time: seq, type: 'state.changed' }) as unknown as LogRecord

describe('the log of a tree', (it) => {
  it('is looked at once, keeps only what is told, and can be cut at any record', () => {
    const told = new ToldRecords()
    const records = [spawned(1, 'b'), other(2), spawned(3, 'c')]
    assert.equal(
      told.of(records, 3).map(({ seq }) => seq),
      [1, 3],
    )
    assert.equal(
      told.of(records, 2).map(({ seq }) => seq),
      [1],
    )
    records.push(spawned(4, 'd'))
    assert.equal(
      told.of(records, 9).map(({ seq }) => seq),
      [1, 3, 4],
    )
    assert.equal(told.of([], 9), [])
  })

  it('in the past has nothing of other logs that came later', () => {
    const root = { agentId: 'a', records: [spawned(1, 'b', 100)] }
    const below = { agentId: 'b', records: [spawned(1, 'c', 90), spawned(2, 'd', 110)] }
    const starts = (isPast: boolean): string[] => sequenceAt(root, [below], isPast).steps.map(({ to }) => to)
    assert.equal(starts(true), ['c', 'b'])
    assert.equal(starts(false), ['c', 'b', 'd'])
  })

  it('of ten thousand agents has no more lanes than can be looked at, and loses no step', () => {
    const records = Array.from({ length: 10_000 }, (_, index) => spawned(index + 1, `b${index}`))
    const few = withFewLanes(actorSequence({ agentId: 'a', records }))
    assert.ok(few.lanes.length <= 61)
    assert.is(few.steps.length, 10_000)
    assert.is(few.lanes.at(-1)!.label, '9942 more')
    const ids = new Set(few.lanes.map(({ id }) => id))
    assert.ok(few.steps.every(({ from, to }) => ids.has(from) && ids.has(to)))
    assert.is(few.steps.at(-1)!.to, othersId)
  })
})
