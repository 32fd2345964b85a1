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

/** A change of a state, as its record has it; `seq` is that of the record. */
export interface SaidChange {
  readonly seq: number
  readonly by: string
  readonly patch: readonly StateOp[]
  /** The call, and the number of this update among those of the call or of the hook about it. */
  readonly callId?: string
  readonly n?: number
  readonly hook?: string
}

/** A change at its place. */
interface Change extends SaidChange {
  readonly index: number
  /** The step to which it belongs; 0: it came before the first. */
  readonly step: NodeId
  readonly before: Change | undefined
  /** The state after it, where that is kept. */
  value?: unknown
}

/** Every so many changes of a branch keep the state; it is made from the one before for the others. */
const keptEvery = 32

/** The step that changes belong to: its first and last node, and the last node of the conversation. */
export interface StatePlace {
  readonly step: NodeId
  readonly end: NodeId
  readonly last: NodeId
}

/** Changes of an abandoned branch that the trunk has again, and those that do not fit there. */
export interface Reattached {
  readonly kept: readonly SaidChange[]
  readonly lost: readonly SaidChange[]
  /** The state with them. */
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

/** Returns true if a state with this value may stand. */
export type IsValid = (value: unknown) => boolean

const anything: IsValid = () => true
const nothing: readonly never[] = Object.freeze([])

/** People's words survive a revert; what code, tools and models changed goes with the branch. */
const isOfPeople = ({ by }: SaidChange): boolean => by === 'person'

/**
 * The state of an agent, which hangs on its conversation tree: a change belongs to the step at the head, so a revert takes it back, and a fork begins
 * with it. Changes stay as they are; those of an abandoned branch are there for steps that are copied, and for whoever asks for the state at a node.
 */
export class TreeState {
  /** The state before the first change. */
  readonly initial: unknown
  readonly #changes: Change[] = []
  readonly #bySteps = new Map<NodeId, Change[]>()
  readonly #byCalls = new Map<string, Change[]>()
  /** From which node on which change was the newest one when the node was at the head. In order. */
  #nodes: Mark[] = []
  /** From which `seq` on which change was the newest. In order. */
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

  /** `seq` of the last record that changed it; 0 if none of this log did. */
  get version(): number {
    return this.#versions.at(-1)?.[0] ?? 0
  }

  /** The state when this node was at the head. */
  at(nodeId: NodeId): unknown {
    return this.#valueOf(newest(this.#nodes, nodeId))
  }

  /** The state of a version of this log: after its record, and before the next that changed it. */
  valueAt(version: number): unknown {
    return this.#valueOf(newest(this.#versions, version))
  }

  /** The changes of a step, oldest first. */
  changesOf(step: NodeId): readonly SaidChange[] {
    return this.#bySteps.get(step) ?? nothing
  }

  /** The state after the `n`-th update of a call, or of a hook about it; `undefined` if that was not made. One that changed nothing has no record. */
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

  /** Applies the change of a record; returns the reason why it does not fit, and then nothing has changed. */
  change(said: SaidChange, place: StatePlace): string | undefined {
    const { value, wrong } = applyPatch(this.#value, said.patch)
    if (wrong !== undefined) return wrong
    const change = this.#make(said, place.step, this.#head)
    if (change.callId !== undefined) this.#rememberCall(change)
    this.#move(change, value, said.seq)
    this.#mark(change, place)
    return undefined
  }

  /** Returns what a revert to the step that ends with `target` will do to the changes of people after it. */
  planRevert(target: NodeId, isValid: IsValid = anything): Reattached {
    const { base, later } = this.#after(target)
    return fitting(this.#valueOf(base), later.filter(isOfPeople), nothing, isValid)
  }

  /**
   * Takes back the changes after a step, except those of people: they follow in their order, without the `lost` ones. `next` is the first node that
   * the revert appended again, if any.
   */
  revert(seq: number, target: StatePlace, next: NodeId | undefined, lost: readonly SaidChange[]): void {
    const { base, later } = this.#after(target.end)
    if (later.length === 0) return
    this.#move(base, this.#valueOf(base), seq)
    setMark(this.#nodes, target.last + 1, base)
    const place = next === undefined ? target : { step: next, end: next, last: next }
    this.#attach(fitting(this.#value, later.filter(isOfPeople), lost, anything).kept, place, seq)
  }

  /** Returns what a record says of such a plan: nothing, if the state stays as it is. */
  planned({ kept, lost, value }: Reattached): { readonly state?: StateMove } {
    const patch = difference(this.#value, value)
    return patch.length + lost.length === 0 ? {} : { state: { patch, kept: kept.length, lost } }
  }

  /** Returns what copying these nodes will do to the changes that belong to them. */
  planCopies(from: readonly NodeId[], isValid: IsValid = anything): Reattached {
    return fitting(
      this.#value,
      from.flatMap((step) => this.#copied(step)),
      nothing,
      isValid,
    )
  }

  /** Makes the changes of the copied steps again, without the `lost` ones. */
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

  /** Goes on in the log of a fork, whose head is `head`: what a step changed that was open there stays with the source. */
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

  /** The changes of the trunk after a node, oldest first, and the last one before them. */
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

  /** Notes the newest change of a step. Nodes of an abandoned branch below it keep the one that they had. */
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

/** Returns the changes that fit one after another; a change of which a part fits is in both lists. */
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
