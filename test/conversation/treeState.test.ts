import { array, assert as holdFor, constant, constantFrom, integer, nat, oneof, property, record } from 'fast-check'
import { TreeState, type SaidChange } from '../../src/conversation/parts/state/treeState.ts'
import { applyFitting, difference, type StateOp } from '../../src/protocol/parts/state/patch.ts'
import { assert, describe } from '../support/suite.ts'

type Fields = Record<string, unknown>

const set = (key: string, value: unknown): StateOp => ({ op: 'add', path: `/${key}`, value })
const replace = (key: string, value: unknown): StateOp => ({ op: 'replace', path: `/${key}`, value })

/** A step of the slow model: its nodes, and the changes that belong to it. */
interface Step {
  readonly id: number
  readonly end: number
  changes: SaidChange[]
}

/** The same state, folded anew from the trunk each time. */
class SlowState {
  readonly initial: unknown
  trunk: Step[]
  last = 0
  seq = 0
  /** All steps that ever were, for grafts. */
  readonly all = new Map<number, Step>()
  readonly seen = new Map<number, unknown>()

  constructor(initial: unknown) {
    this.initial = initial
    this.trunk = [{ id: 0, end: 0, changes: [] }]
  }

  get head(): Step {
    return this.trunk.at(-1)!
  }

  get value(): unknown {
    const patch = this.trunk.flatMap(({ changes }) => changes.flatMap((change) => change.patch))
    return applyFitting(this.initial, patch).value
  }

  place(): { step: number; end: number; last: number } {
    return { step: this.head.id, end: this.head.end, last: this.last }
  }

  grow(nodes: number): Step {
    const step = { id: this.last + 1, end: this.last + nodes, changes: [] }
    this.last += nodes
    this.trunk.push(step)
    this.all.set(step.id, step)
    return step
  }

  /** Notes the state at the nodes of the step at the head. */
  look(): void {
    for (let id = this.head.id; id <= this.head.end; id += 1) this.seen.set(id, this.value)
  }

  /** Adds the changes that fit, one after another. */
  attach(step: Step, changes: readonly SaidChange[]): void {
    for (const change of changes) {
      const { kept } = applyFitting(this.value, change.patch)
      if (kept.length > 0) step.changes.push({ ...change, patch: kept })
    }
  }
}

const keys = constantFrom('a', 'b', 'c')
const happening = oneof(
  record({ kind: constant('step' as const), nodes: integer({ min: 1, max: 3 }) }),
  record({
    kind: constant('change' as const),
    by: constantFrom('person', 'tool', 'model', 'code'),
    key: keys,
    value: oneof(nat(9), constant(undefined), constant({ deep: 1 })),
  }),
  record({ kind: constant('revert' as const), back: nat(4), again: nat(2) }),
  record({ kind: constant('graft' as const), which: nat(30) }),
  record({ kind: constant('restore' as const) }),
)

describe('the state on the tree', (it) => {
  it('is the fold of the changes on the trunk, after any changes, reverts, grafts and checkpoints', () => {
    holdFor(
      property(array(happening, { maxLength: 60 }), (happenings) => {
        let state = new TreeState({ a: 0 })
        const slow = new SlowState({ a: 0 })
        for (const happened of happenings) {
          slow.seq += 1
          if (happened.kind === 'step') slow.grow(happened.nodes)
          else if (happened.kind === 'change') {
            const next: Fields = { ...(slow.value as Fields), [happened.key]: happened.value }
            if (happened.value === undefined) delete next[happened.key]
            const said = { seq: slow.seq, by: happened.by, patch: difference(slow.value, next) }
            assert.is(state.change(said, slow.place()), undefined)
            slow.head.changes.push(said)
          } else if (happened.kind === 'revert') {
            if (slow.trunk.length <= happened.back + 1) continue
            const later = slow.trunk.splice(slow.trunk.length - happened.back)
            const people = later.flatMap(({ changes }) => changes.filter(({ by }) => by === 'person'))
            const target = slow.place()
            const next = happened.again > 0 && later.length > 0 ? slow.last + 1 : undefined
            if (later.length > 0) state.revert(slow.seq, target, next, [])
            const step = next === undefined ? slow.head : slow.grow(1)
            slow.attach(step, people)
            if (next !== undefined) slow.look()
            if (next !== undefined && happened.again > 1) slow.grow(1)
          } else if (happened.kind === 'graft') {
            const from = [...slow.all.values()][happened.which]
            if (from === undefined || slow.trunk.includes(from)) continue
            const copied = from.changes.filter(({ by }) => by !== 'person')
            const copy = slow.grow(1)
            slow.all.delete(copy.id)
            slow.attach(copy, copied)
            state.copy(slow.seq, [{ nodeId: copy.id, from: from.id }], [])
          } else state = TreeState.from(JSON.parse(JSON.stringify(state.keep())) as ReturnType<TreeState['keep']>)
          slow.look()
          assert.equal(state.value, slow.value)
        }
        for (const [id, value] of slow.seen) assert.equal(state.at(id), value, `the state at n${id}`)
      }),
      { seed: 11, numRuns: 600 },
    )
  })
  it('names what people changed and what no longer has its place', () => {
    const state = new TreeState({})
    const place = (step: number) => ({ step, end: step, last: step })
    const said = (seq: number, by: string, ...patch: StateOp[]): SaidChange => ({ seq, by, patch })
    state.change(said(1, 'person', set('title', 'mine')), place(1))
    state.change(said(2, 'tool', set('plan', {})), place(2))
    state.change(said(3, 'person', set('title', 'better'), set('plan/step', 1)), place(3))
    state.change(said(4, 'person', set('wrong', 1)), place(3))
    const isValid = (value: unknown): boolean => !Object.hasOwn(value as object, 'wrong')
    const { kept, lost } = state.planRevert(1, isValid)
    assert.equal(kept, [said(3, 'person', set('title', 'better'))])
    assert.equal(
      lost.map(({ seq, patch }) => [seq, patch]),
      [
        [3, [set('plan/step', 1)]],
        [4, [set('wrong', 1)]],
      ],
    )
    assert.equal(state.value, { title: 'better', plan: { step: 1 }, wrong: 1 }, 'planning changes nothing')
    state.revert(5, { step: 1, end: 1, last: 3 }, undefined, lost)
    assert.equal(state.value, { title: 'better' })
    assert.equal(
      [state.version, state.at(1), state.at(3)],
      [5, { title: 'better' }, { title: 'better', plan: { step: 1 }, wrong: 1 }],
    )
  })
  it('knows the updates of a call, also from a checkpoint, and not as those of a copy', () => {
    let state = new TreeState({})
    state.change({ seq: 1, by: 'tool', patch: [set('a', 1)], callId: 'c', n: 1 }, { step: 1, end: 2, last: 2 })
    state.change({ seq: 2, by: 'tool', patch: [replace('a', 2)], callId: 'c', n: 2 }, { step: 1, end: 2, last: 2 })
    state = TreeState.from(state.keep())
    assert.equal([state.madeBy('c', 1), state.madeBy('c', 2)], [{ value: { a: 1 } }, { value: { a: 2 } }])
    assert.is(state.madeBy('c', 3), undefined)
    assert.is(state.madeBy('d', 1), undefined)
  })
  it('says where a patch for an older version meets what changed since', () => {
    const state = new TreeState({ list: [1, 2], title: '' })
    const place = { step: 1, end: 1, last: 1 }
    state.change({ seq: 4, by: 'tool', patch: [replace('title', 'x')] }, place)
    state.change({ seq: 7, by: 'tool', patch: [set('list/0', 0)] }, place)
    assert.is(state.conflict(4, [replace('title', 'y')]), undefined, 'it is as it was')
    assert.is(state.conflict(0, [replace('title', 'y')]), '/title')
    assert.is(state.conflict(4, [replace('list/1', 9)]), '/list/1', 'an element before it came')
    assert.is(state.conflict(7, [replace('list/1', 9)]), undefined)
    state.change({ seq: 9, by: 'tool', patch: [replace('title', '')] }, place)
    assert.is(state.conflict(0, [replace('title', 'y')]), undefined, 'it has come back to what it was')
  })
  it('leaves the changes of an open step behind when a fork begins', () => {
    const state = new TreeState({ a: 0 })
    state.change({ seq: 3, by: 'tool', patch: [replace('a', 1)], callId: 'c', n: 1 }, { step: 2, end: 3, last: 3 })
    state.change({ seq: 6, by: 'tool', patch: [replace('a', 2)], callId: 'd', n: 1 }, { step: 4, end: 5, last: 5 })
    state.beginLog(3, 5)
    assert.equal([state.value, state.version, state.at(3), state.at(6)], [{ a: 1 }, 0, { a: 1 }, { a: 1 }])
    assert.is(state.madeBy('c', 1), undefined)
  })
  it('shows nothing that its readers could change', () => {
    const state = new TreeState({ a: { b: 1 } })
    state.change({ seq: 1, by: 'tool', patch: [set('a/c', { d: [] })] }, { step: 1, end: 1, last: 1 })
    const value = state.value as { a: { b: number; c: { d: unknown[] } } }
    assert.throws(() => {
      value.a.b = 2
    }, TypeError)
    assert.throws(() => value.a.c.d.push(1), TypeError)
  })
  it('refuses a change that does not fit, and stays as it is', () => {
    const state = new TreeState({ a: 1 })
    const patch = [replace('a', 2), replace('b', 1)]
    assert.is(state.change({ seq: 1, by: 'tool', patch }, { step: 1, end: 1, last: 1 }), 'there is no "/b"')
    assert.equal([state.value, state.version, state.changesOf(1)], [{ a: 1 }, 0, []])
  })
})
