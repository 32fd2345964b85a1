import type { NodeId } from '../../../protocol/ids.ts'
import {
  applyFitting,
  applyPatch,
  difference,
  firstShared,
  frozenState,
  touched,
  type StateOp,
} from '../../../protocol/parts/state/patch.ts'
import type { StateMove } from '../../../protocol/parts/state/stateRecords.ts'
import { sameJson } from '../../../protocol/checks/sameJson.ts'

/** A change of a state, in the form of its record. `seq`: sequence number of the record. */
export interface SaidChange {
  readonly seq: number
  readonly by: string
  readonly patch: readonly StateOp[]
  /** Id of the call. `n`: number of this update among those of the call or of the hook about it. */
  readonly callId?: string
  readonly n?: number
  readonly hook?: string
}

/** A change with its place in the tree. */
interface Change extends SaidChange {
  readonly index: number
  /** The step to which the change belongs; 0 if it came before the first step. */
  readonly step: NodeId
  readonly before: Change | undefined
  /** The state after the change, if it is kept. */
  value?: unknown
}

/** Number of changes of a branch after which the state is kept again. In between, it is computed from the state before. */
const keptEvery = 32

/** The step that changes belong to: its first and last node, and the last node of the conversation. */
export interface StatePlace {
  readonly step: NodeId
  readonly end: NodeId
  readonly last: NodeId
}

/** Changes of an abandoned branch that are on the trunk again, and changes that do not fit there. */
export interface Reattached {
  readonly kept: readonly SaidChange[]
  readonly lost: readonly SaidChange[]
  /** The state with the kept changes. */
  readonly value: unknown
}

type Mark = readonly [from: number, change: Change | undefined]
type KeptMark = readonly [from: number, change: number | null]

/** Stored form of a state as plain JSON. Changes are named by their index. */
export interface KeptState {
  readonly initial: unknown
  readonly changes: readonly (SaidChange & { readonly step: NodeId; readonly before: number | null })[]
  readonly head: number | null
  readonly value: unknown
  readonly nodes: readonly KeptMark[]
  readonly versions: readonly KeptMark[]
}

/** Returns true if a state may have this value. */
export type IsValid = (value: unknown) => boolean

const anything: IsValid = () => true
const nothing: readonly never[] = Object.freeze([])

/** Returns true for a change by people, which survives a revert. Changes by code, tools and models go with the branch. */
const isOfPeople = ({ by }: SaidChange): boolean => by === 'person'

/**
 * The state of an agent on its conversation tree. A change belongs to the step at the head, so a revert takes it back, and a fork
 * begins with it. Changes are never altered. Those of an abandoned branch remain for copied steps, and for reading the state at a node.
 */
export class TreeState {
  /** The state before the first change. */
  readonly initial: unknown
  readonly #changes: Change[] = []
  readonly #bySteps = new Map<NodeId, Change[]>()
  readonly #byCalls = new Map<string, Change[]>()
  /** Marks, in order: the first node from which on a change was the newest while the node was at the head. */
  #nodes: Mark[] = []
  /** Marks, in order: the `seq` from which on a change was the newest. */
  #versions: Mark[] = []
  #head: Change | undefined
  #value: unknown

  constructor(initial: unknown) {
    this.initial = frozenState(initial)
    this.#value = initial
  }

  static from(kept: KeptState): TreeState {
    const state = new TreeState(kept.initial)
    const changeOf = (index: number | null): Change | undefined => (index === null ? undefined : state.#changes[index])
    for (const { step, before, ...said } of kept.changes) {
      const change = state.#make(said, step, changeOf(before))
      if (change.callId !== undefined) state.#rememberCall(change)
    }
    const marksOf = (marks: readonly KeptMark[]): Mark[] => marks.map(([from, index]) => [from, changeOf(index)])
    state.#nodes = marksOf(kept.nodes)
    state.#versions = marksOf(kept.versions)
    state.#head = changeOf(kept.head)
    state.#value = frozenState(kept.value)
    if (state.#head !== undefined) state.#head.value = state.#value
    return state
  }

  keep(): KeptState {
    const marksOf = (marks: readonly Mark[]): KeptMark[] => marks.map(([from, change]) => [from, change?.index ?? null])
    return {
      initial: this.initial,
      changes: this.#changes.map(({ seq, by, patch, callId, n, hook, step, before }) => ({
        seq,
        by,
        patch,
        step,
        before: before?.index ?? null,
        ...(callId === undefined ? {} : { callId }),
        ...(n === undefined ? {} : { n }),
        ...(hook === undefined ? {} : { hook }),
      })),
      head: this.#head?.index ?? null,
      value: this.#value,
      nodes: marksOf(this.#nodes),
      versions: marksOf(this.#versions),
    }
  }

  /** The state at the head. Frozen. */
  get value(): unknown {
    return this.#value
  }

  /** `seq` of the last record that changed the state; 0 if no record of this log did. */
  get version(): number {
    return this.#versions.at(-1)?.[0] ?? 0
  }

  /** Returns the state when this node was at the head. */
  at(nodeId: NodeId): unknown {
    return this.#valueOf(newest(this.#nodes, nodeId))
  }

  /** Returns the state of a version of this log: after its record, and before the next record that changed it. */
  valueAt(version: number): unknown {
    return this.#valueOf(newest(this.#versions, version))
  }

  /** Returns the changes of a step, oldest first. */
  changesOf(step: NodeId): readonly SaidChange[] {
    return this.#bySteps.get(step) ?? nothing
  }

  /** Returns the state after the `n`-th update of a call or its hook; `undefined` if it was not made. An update without changes has no record. */
  madeBy(callId: string, n: number, hook?: string): { readonly value: unknown } | undefined {
    const made = this.#byCalls.get(callId)?.filter((change) => change.hook === hook)
    const next = made?.findIndex((change) => change.n! >= n) ?? -1
    if (next < 0) return undefined
    const change = made![next]!
    return { value: this.#valueOf(change.n === n ? change : change.before) }
  }

  /** Returns a place that a patch for the state of version `base` touches, and that has changed since; `undefined` if there is none. */
  conflict(base: number, patch: readonly StateOp[]): string | undefined {
    if (base >= this.version) return undefined
    const then = this.valueAt(base)
    return firstShared(touched(then, patch), touched(then, difference(then, this.#value)))
  }

  /** Applies the change of a record. Returns the reason if it does not fit, and then nothing has changed. */
  change(said: SaidChange, place: StatePlace): string | undefined {
    const { value, wrong } = applyPatch(this.#value, said.patch)
    if (wrong !== undefined) return wrong
    const change = this.#make(said, place.step, this.#head)
    if (change.callId !== undefined) this.#rememberCall(change)
    this.#move(change, value, said.seq)
    this.#mark(change, place)
    return undefined
  }

  /** Returns the effect of a revert to the step that ends with `target` on the later changes of people. */
  planRevert(target: NodeId, isValid: IsValid = anything): Reattached {
    const { base, later } = this.#after(target)
    return fitting(this.#valueOf(base), later.filter(isOfPeople), nothing, isValid)
  }

  /**
   * Takes back the changes after a step. Those of people are made again in their order, without the `lost` ones. `next`
   * is the first node that the revert appended again, if any.
   */
  revert(seq: number, target: StatePlace, next: NodeId | undefined, lost: readonly SaidChange[]): void {
    const { base, later } = this.#after(target.end)
    if (later.length === 0) return
    this.#move(base, this.#valueOf(base), seq)
    setMark(this.#nodes, target.last + 1, base)
    const place = next === undefined ? target : { step: next, end: next, last: next }
    this.#attach(fitting(this.#value, later.filter(isOfPeople), lost, anything).kept, place, seq)
  }

  /** Returns the part of a record about such a plan; empty if the state stays as it is. */
  planned({ kept, lost, value }: Reattached): { readonly state?: StateMove } {
    const patch = difference(this.#value, value)
    return patch.length + lost.length === 0 ? {} : { state: { patch, kept: kept.length, lost } }
  }

  /** Returns the effect of copying these nodes on the changes that belong to them. */
  planCopies(from: readonly NodeId[], isValid: IsValid = anything): Reattached {
    return fitting(
      this.#value,
      from.flatMap((step) => this.#copied(step)),
      nothing,
      isValid,
    )
  }

  /** Repeats the changes of the copied steps, without the `lost` ones. */
  copy(
    seq: number,
    copies: readonly { readonly nodeId: NodeId; readonly from: NodeId }[],
    lost: readonly SaidChange[],
  ): void {
    for (const { nodeId, from } of copies) {
      const { kept } = fitting(this.#value, this.#copied(from), lost, anything)
      this.#attach(kept, { step: nodeId, end: nodeId, last: nodeId }, seq)
    }
  }

  /** Continues in the log of a fork, whose head is `head`. Changes by a step that was open there stay with the source. */
  beginLog(head: NodeId, last: NodeId): void {
    const { base } = this.#after(head)
    this.#move(base, this.#valueOf(base), 0)
    setMark(this.#nodes, last + 1, base)
    this.#versions = [[0, base]]
    this.#byCalls.clear()
  }

  #copied(step: NodeId): readonly SaidChange[] {
    return this.changesOf(step).filter((change) => !isOfPeople(change))
  }

  /** Returns the changes of the trunk after a node, oldest first, and the last change before them. */
  #after(nodeId: NodeId): { readonly base: Change | undefined; readonly later: readonly Change[] } {
    const later: Change[] = []
    let base = this.#head
    for (; base !== undefined && base.step > nodeId; base = base.before) later.push(base)
    return { base, later: later.toReversed() }
  }

  #attach(kept: readonly SaidChange[], place: StatePlace, seq: number): void {
    for (const said of kept) {
      const change = this.#make(said, place.step, this.#head)
      this.#move(change, applyPatch(this.#value, said.patch).value, seq)
      this.#mark(change, place)
    }
  }

  #make({ seq, by, patch, callId, n, hook }: SaidChange, step: NodeId, before: Change | undefined): Change {
    const index = this.#changes.length
    const change: Change = { seq, by, patch, step, before, index }
    if (callId !== undefined) Object.assign(change, { callId, n }, hook && { hook })
    this.#changes.push(change)
    const same = this.#bySteps.get(step)
    if (same === undefined) this.#bySteps.set(step, [change])
    else same.push(change)
    return change
  }

  #rememberCall(change: Change): void {
    const made = this.#byCalls.get(change.callId!)
    if (made === undefined) this.#byCalls.set(change.callId!, [change])
    else made.push(change)
  }

  #move(head: Change | undefined, value: unknown, seq: number): void {
    const before = this.#head
    if (before !== undefined && before.index % keptEvery !== 0) delete before.value
    this.#head = head
    this.#value = value
    if (head !== undefined) head.value = this.#value
    setMark(this.#versions, seq, head)
  }

  /** Notes the newest change of a step. Nodes of an abandoned branch below it keep their own newest change. */
  #mark(change: Change, { step, end, last }: StatePlace): void {
    if (end < last) {
      setMark(this.#nodes, end + 1, newest(this.#nodes, end + 1))
      setMark(this.#nodes, last + 1, change)
    }
    setMark(this.#nodes, step, change)
  }

  #valueOf(change: Change | undefined): unknown {
    const missing: Change[] = []
    let from = change
    for (; from !== undefined && !('value' in from); from = from.before) missing.push(from)
    let value = from === undefined ? this.initial : from.value
    for (const { patch } of missing.toReversed()) value = applyPatch(value, patch).value
    return value
  }
}

/** Returns the changes that fit one after another. A change that fits in part is in both lists. */
function fitting(
  value: unknown,
  changes: readonly SaidChange[],
  dropped: readonly SaidChange[],
  isValid: IsValid,
): Reattached {
  const kept: SaidChange[] = []
  const lost: SaidChange[] = []
  let now = value
  for (const { seq, by, patch: whole } of changes) {
    const without = dropped.filter((other) => other.seq === seq).flatMap(({ patch }) => patch)
    const patch = whole.filter((op) => !without.some((other) => sameJson(op, other)))
    const fit = applyFitting(now, patch)
    const stands = fit.kept.length > 0 && isValid(fit.value)
    if (stands) {
      now = fit.value
      kept.push({ seq, by, patch: fit.kept })
    }
    const gone = stands ? fit.lost : patch
    if (gone.length > 0) lost.push({ seq, by, patch: gone })
  }
  return { kept, lost, value: now }
}

function after(marks: readonly Mark[], position: number): number {
  let low = 0
  let high = marks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (marks[middle]![0] <= position) low = middle + 1
    else high = middle
  }
  return low
}

const newest = (marks: readonly Mark[], position: number): Change | undefined => marks[after(marks, position) - 1]?.[1]

function setMark(marks: Mark[], position: number, change: Change | undefined): void {
  const next = after(marks, position)
  if (marks[next - 1]?.[0] === position) marks[next - 1] = [position, change]
  else marks.splice(next, 0, [position, change])
}
