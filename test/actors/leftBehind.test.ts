import { LeftBehind } from '../../src/actors/parts/memory/leftBehind.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { assert, describe } from '../support/suite.ts'

const folded = (...steps: number[]): object => ({ type: 'prune.applied', by: 'runtime', applied: true, steps })
const overlay = { from: 2, to: 5 }

function left(...records: readonly object[]) {
  const behind = new LeftBehind()
  for (const record of records) behind.apply(record as LogRecord)
  return behind.items
}

describe('what leaves the sight of a model', (it) => {
  it('is what the runtime folds, what is compacted, and what a revert has learned', () => {
    const lesson = { kind: 'lesson', text: 'no' }
    const finding = { kind: 'finding', text: 'yes' }
    assert.equal(left(folded(2, 4)), [{ type: 'steps', steps: [2, 4] }])
    assert.equal(left({ type: 'compaction.end', overlay: { ...overlay, summary: 's' } }), [
      { type: 'span', ...overlay },
    ])
    for (const tag of [lesson, finding]) assert.equal(left({ type: 'revert.applied', tag }), [{ type: 'tag', tag }])
  })

  it('is nothing else', () => {
    const others = [
      { ...folded(2), by: 'person' },
      { ...folded(2), applied: false },
      { ...folded(2), masked: true },
      { type: 'compaction.end' },
      { type: 'revert.applied' },
      { type: 'revert.applied', tag: { kind: 'note' } },
      { type: 'message.added' },
    ]
    for (const record of others) assert.equal(left(record), [])
  })

  it('is gone once a memory has taken it, and for a fork', () => {
    for (const type of ['memory.extracted', 'agent.created'])
      assert.equal(left(folded(2), folded(3), { type }, folded(4)), [{ type: 'steps', steps: [4] }])
  })

  it('waits, so much of it: the oldest goes first; what was kept goes on', () => {
    const many = Array.from({ length: 53 }, (_, index) => folded(index))
    const items = left(...many)
    const firsts = items.map((item) => (item.type === 'steps' ? item.steps[0] : -1))
    assert.equal([items.length, firsts[0], firsts.at(-1)], [50, 3, 52])
    assert.is(left(...many.slice(0, 50)).length, 50)
    const again = new LeftBehind(items)
    again.apply(folded(99) as LogRecord)
    assert.equal([again.items.length, items.length], [50, 50])
  })
})
