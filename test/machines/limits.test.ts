import type { AgentContext, RunState } from '../../src/machines/agentTypes.ts'
import { budgetLeft, limitAfter, mayAnswer, reachedLimit, remainingLimits } from '../../src/machines/limits.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import { assert, describe } from '../support/suite.ts'

const used = (output: number): RunState['usage'] => ({ ...noUsage, output })
const run = (more: Partial<RunState>): RunState =>
  ({ limits: {}, turns: 0, childTurns: 0, usage: noUsage, costUsd: 0, deadline: null, ...more }) as RunState
const limit = (name: string, allowed: number, spent: number) => ({ type: 'limit', limit: name, allowed, used: spent })
const answering = (isAsked: boolean): Partial<RunState> =>
  ({ answer: { limit: limit('turns', 1, 1), isAsked } }) as Partial<RunState>

describe('limits of a run', (it) => {
  it('that may still be used are what is left of them, and never nothing', () => {
    for (const [state, left] of [
      [{ limits: {} }, {}],
      [{ limits: { turns: 9 }, turns: 2, childTurns: 3 }, { turns: 4 }],
      [{ limits: { turns: 5 }, turns: 2, childTurns: 3 }, { turns: 1 }],
      [{ limits: { tokens: 9 }, usage: used(4) }, { tokens: 5 }],
      [{ limits: { tokens: 9 }, usage: used(9) }, { tokens: 1 }],
      [{ limits: { costUsd: 3 }, costUsd: 1 }, { costUsd: 2 }],
      [{ limits: { costUsd: 3 }, costUsd: 4 }, { costUsd: Number.EPSILON }],
      [{ limits: { ms: 9 }, deadline: 107 }, { ms: 7 }],
      [{ limits: { ms: 9 }, deadline: 90 }, { ms: 1 }],
      [{ limits: { onLimit: 'answer' } }, { onLimit: 'answer' }],
    ] as const)
      assert.equal(remainingLimits(run(state), 100), left, JSON.stringify(state))
  })

  it('are reached by what was used of them, the agents below included, and by the first of them', () => {
    for (const [state, reason] of [
      [{ limits: {} }, undefined],
      [{ limits: { turns: 5 }, turns: 2, childTurns: 2 }, undefined],
      [{ limits: { turns: 5 }, turns: 2, childTurns: 3 }, limit('turns', 5, 5)],
      [{ limits: { tokens: 9 }, usage: used(8) }, undefined],
      [{ limits: { tokens: 9, costUsd: 1 }, usage: used(9), costUsd: 1 }, limit('tokens', 9, 9)],
      [{ limits: { costUsd: 1 }, costUsd: 2 }, limit('costUsd', 1, 2)],
      [{ limits: { ms: 7 }, deadlinePassed: true }, limit('ms', 7, 7)],
      [{ limits: { tokens: 9 }, usage: used(9), ...answering(false) }, limit('turns', 1, 1)],
    ] as const)
      assert.equal(reachedLimit(run(state)), reason, JSON.stringify(state))
  })

  it('are reached by an answer that does not match with what that has used, and not by its turn', () => {
    const state = run({ limits: { turns: 1, tokens: 9, costUsd: 1 }, turns: 1, usage: used(4), costUsd: 0.5 })
    for (const [failure, reason] of [
      [{}, undefined],
      [{ usage: used(4) }, undefined],
      [{ usage: used(5) }, limit('tokens', 9, 9)],
      [{ costUsd: 0.5 }, limit('costUsd', 1, 1)],
    ] as const)
      assert.equal(limitAfter(state, failure as never), reason)
  })

  it('are a budget for a sub-agent alone, until it gives its last answer', () => {
    const limits = { tokens: 9, costUsd: 3, turns: 1 }
    const left = (task: string | null, state: RunState | null) => budgetLeft({ task, run: state } as AgentContext)
    assert.equal(left('t', run({ limits, usage: used(4), costUsd: 1 })), { left: { tokens: 5, costUsd: 2 } })
    assert.equal(left('t', run({ limits, usage: used(10), costUsd: 4 })), { left: { tokens: 0, costUsd: 0 } })
    assert.equal(left('t', run({ limits: { tokens: 9 } })), { left: { tokens: 9 } })
    assert.equal(left('t', run({ limits, ...answering(false) })), { left: { tokens: 9, costUsd: 3 } })
    for (const [task, state] of [
      [null, run({ limits })],
      ['t', null],
      ['t', run({ limits: { turns: 1 } })],
      ['t', run({ limits, ...answering(true) })],
    ] as const)
      assert.equal(left(task, state), {})
  })

  it('leave a last answer only where that is wanted and was not begun', () => {
    for (const [state, expected] of [
      [{ limits: { onLimit: 'answer' } }, true],
      [{ limits: { onLimit: 'answer' }, ...answering(false) }, true],
      [{ limits: { onLimit: 'answer' }, ...answering(true) }, false],
      [{ limits: {} }, false],
    ] as const)
      assert.is(mayAnswer(run(state)), expected)
  })
})
