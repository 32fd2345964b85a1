import { usedBelow } from '../../../src/inspector/model/agent/viewStanding.ts'
import { areaPoints } from '../../../src/inspector/model/usage/areaPoints.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

describe('a line over sizes', (it) => {
  const box = { width: 200, height: 100, top: 0 }
  it('passes over what has no size, instead of falling to the ground', () => {
    assert.is(areaPoints([50, 0, 100], 100, box), '0.0,50.0 200.0,0.0')
    assert.is(areaPoints([7], 7, box), '0.0,0.0')
    assert.is(areaPoints([], 1, box), '')
  })
})

describe('what sub-agents have used that have not answered', (it) => {
  const used = (input: number, costUsd: number) => ({
    usage: { input, output: 0, cacheRead: 0, cacheWrite: 0 },
    costUsd,
    turns: 1,
  })
  it('is what the tree has used beyond the log, now', () => {
    const state = { spent: used(100, 1), at: null }
    assert.equal(usedBelow(state, { treeSpent: used(250, 1.5) }), { tokens: 150, costUsd: 0.5 })
    const none = { tokens: 0, costUsd: 0 }
    assert.equal(usedBelow(state, { treeSpent: used(90, 0.5) }), none, 'the log was faster')
    assert.equal(usedBelow({ ...state, at: 3 }, { treeSpent: used(250, 1.5) }), none)
    assert.equal(usedBelow(state, undefined), none)
  })
})
