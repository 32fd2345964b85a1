import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { StateOp } from '../../../../src/protocol/parts/state/patch.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { foldAppState, noAppState, toldAppState } from '../../src/client/fold/foldAppState.ts'

const patched = (seq: number, patch: readonly StateOp[], more: object = {}) =>
  ({ type: 'state.patched', agentId: 'a', path: [], seq, time: 0, by: 'tool', patch, ...more }) as unknown as AgentEvent
const set = (value: unknown): StateOp[] => [{ op: 'add', path: '/a', value }]

describe('the state that a client follows', (it) => {
  it('begins with what the first change was made to', () => {
    const one = foldAppState(noAppState, patched(3, set(1), { initial: { b: 0 } }))
    const two = foldAppState(one, patched(5, set(2)))
    assert.equal(
      [one.known, two.known],
      [
        { value: { b: 0, a: 1 }, version: 3 },
        { value: { b: 0, a: 2 }, version: 5 },
      ],
    )
  })
  it('waits for what the server tells where it does not know what changed', () => {
    const waiting = [patched(3, set(1)), patched(5, set(2))].reduce(foldAppState, noAppState)
    assert.is(waiting.known, undefined)
    const told = toldAppState(waiting, { value: { b: 0, a: 1 }, version: 3 })
    assert.equal(told, { known: { value: { b: 0, a: 2 }, version: 5 }, waiting: [] })
    assert.ok(Object.isFrozen(told.known!.value))
  })
  it('keeps the newer of what it knows and what it is told, and makes no change twice', () => {
    const known = foldAppState(noAppState, patched(5, set(2), { initial: {} }))
    assert.equal(toldAppState(known, { value: { a: 1 }, version: 3 }).known, known.known)
    assert.equal(toldAppState(known, undefined).known, known.known)
    const newer = toldAppState(known, { value: { a: 3 }, version: 7 })
    assert.equal(foldAppState(newer, patched(6, set('late'))).known, { value: { a: 3 }, version: 7 })
  })
  it('follows reverts and grafts, and nothing else', () => {
    const known = foldAppState(noAppState, patched(2, set(2), { initial: {} }))
    const moved = {
      type: 'revert.applied',
      seq: 4,
      state: { patch: [{ op: 'remove', path: '/a' }], kept: 0, lost: [] },
    }
    assert.equal(foldAppState(known, moved as unknown as AgentEvent).known, { value: {}, version: 4 })
    assert.is(foldAppState(known, { type: 'run.end', seq: 5 } as unknown as AgentEvent), known)
    assert.is(foldAppState(known, { type: 'graft.applied', seq: 5 } as unknown as AgentEvent), known)
  })
})
