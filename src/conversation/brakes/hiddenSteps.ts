import type { ConversationNode } from '../tree/node.ts'
import type { PruneOutcome } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { Overlay } from '../../protocol/records.ts'
import {
  lastOnTrunk,
  noteStep,
  rolledUp,
  stepsOnTrunk,
  type HiddenSpan,
  type HiddenSubject,
  type RolledUp,
  type ShownIndex,
} from './hiddenSpan.ts'
import { memoOf, stepOf } from './prune/pruneNotes.ts'

/** Stored form of hidden steps: every span once, the active spans by index, and the span that hides each step. */
export interface KeptHidden {
  readonly all: readonly HiddenSpan[]
  readonly spans: readonly number[]
  readonly hiding: readonly (readonly [NodeId, number])[]
}

/** The steps that prunes and folds hide, on the trunk or off it. */
export class HiddenSteps {
  readonly #spanOf = new Map<NodeId, HiddenSpan>()
  #spans: HiddenSpan[] = []

  constructor({ all, spans, hiding }: KeptHidden = { all: [], spans: [], hiding: [] }) {
    this.#spans = spans.map((index) => all[index]!)
    for (const [step, index] of hiding) this.#spanOf.set(step, all[index]!)
  }

  keep(): KeptHidden {
    const places = new Map([...this.#spans, ...this.#spanOf.values()].map((span) => [span, 0]))
    const all = [...places.keys()]
    all.forEach((span, index) => places.set(span, index))
    return {
      all,
      spans: this.#spans.map((span) => places.get(span)!),
      hiding: [...this.#spanOf].map(([step, span]) => [step, places.get(span)!]),
    }
  }

  /** Spans in the order of their records. */
  get spans(): readonly HiddenSpan[] {
    return this.#spans
  }

  spanOf(stepId: NodeId): HiddenSpan | undefined {
    return this.#spanOf.get(stepId)
  }

  /** Applies an outcome. Returns the lowest depth of the trunk whose rendering changes. */
  apply(outcome: PruneOutcome, subject: HiddenSubject): number {
    const { id, by, policy, steps, tokens, memo, index, rolled = [] } = outcome
    const changed = this.changedBy(outcome, subject)
    const writtenAt = subject.head ?? 0
    for (const part of rolled) this.#rollUp(part, subject)
    const span = { id, steps, tokens, ...(memo === undefined ? {} : { memo }) }
    const chosen = policy === undefined ? {} : ({ isChosen: true } as const)
    const fold = { ids: [id], detail: 'line', writtenAt, ...(index === undefined ? {} : { index }), ...chosen } as const
    const hidden = by === 'runtime' ? { ...span, fold } : span
    for (const step of steps) this.#spanOf.set(step, hidden)
    this.#spans.push(hidden)
    return changed
  }

  /**
   * Shows hidden steps again. The lines about them leave the memo and the index of their fold; the memo of a prune stays whole until none of its
   * steps is hidden any more. Returns the lowest depth of the trunk whose rendering changes.
   */
  show(steps: readonly NodeId[], subject: HiddenSubject): number {
    const shown = new Set(steps)
    const changed = this.stepsChangedByShow(steps, subject)
    const before = this.index(subject)
    for (const id of steps) this.#spanOf.delete(id)
    this.#spans = this.#spans.flatMap((span) => {
      const left = withoutSteps(span, shown, subject)
      if (left === span) return span
      for (const id of left?.steps ?? []) if (this.#spanOf.get(id) === span) this.#spanOf.set(id, left!)
      return left ?? []
    })
    const after = this.index(subject)
    const indexed = before?.at === after?.at && before?.text === after?.text ? [] : [before, after]
    const at = indexed.flatMap((index) => index?.at ?? [])
    return Math.min(changed, lowestDepth(at, subject))
  }

  /** Returns the lowest depth that changes when steps are shown again, ignoring the index. */
  stepsChangedByShow(steps: readonly NodeId[], subject: HiddenSubject): number {
    const shown = new Set(steps)
    const touched = this.#spans.filter((span) => span.steps.some((id) => shown.has(id)))
    return lowestDepth([...steps, ...touched.flatMap((span) => noteStep(span, subject) ?? [])], subject)
  }

  /** Returns the lowest depth of the trunk whose rendering an outcome would change. */
  changedBy(outcome: PruneOutcome, subject: HiddenSubject): number {
    const index = outcome.by === 'runtime' ? this.index(subject) : undefined
    const depth = index === undefined ? Infinity : subject.node(index.at)!.depth
    return Math.min(depth, this.stepsChangedBy(outcome, subject))
  }

  /** Returns the lowest depth that changes, ignoring the index that a fold replaces. */
  stepsChangedBy({ steps, rolled = [] }: PruneOutcome, subject: HiddenSubject): number {
    const rewritten = rolled.flatMap((part) => this.partsOf(part).flatMap((span) => noteStep(span, subject) ?? []))
    return lowestDepth([...steps, ...rewritten], subject)
  }

  partsOf({ folds }: Pick<RolledUp, 'folds'>): HiddenSpan[] {
    return this.#spans.filter(({ fold }) => fold?.ids.some((id) => folds.includes(id)) === true)
  }

  /** Replaces the memos of some folds by one. */
  #rollUp(rolled: RolledUp, subject: HiddenSubject): void {
    const parts = this.partsOf(rolled)
    const last = parts.at(-1)
    if (last === undefined) return
    const span = rolledUp(parts, rolled, subject)
    this.#spans = this.#spans.flatMap((before) => (before === last ? span : parts.includes(before) ? [] : before))
    for (const step of span.steps) this.#spanOf.set(step, span)
  }

  /** Returns the current index: the index of the newest fold with steps on the trunk, without the lines of steps that left it. */
  index(subject: HiddenSubject): ShownIndex | undefined {
    const newest = this.#newestFold(subject)
    const at = newest === undefined ? undefined : lastOnTrunk(newest, subject)
    const lines = newest?.fold?.index?.split('\n').filter((line) => subject.onTrunk(homeOf(line)))
    return at === undefined || lines === undefined || lines.length === 0 ? undefined : { at, text: lines.join('\n') }
  }

  /** Returns the last step on the trunk that is hidden by the newest fold of the oldest steps; 0 without one. */
  foldedTo(subject: HiddenSubject): NodeId {
    const newest = this.#spans.findLast(
      ({ fold, steps }) => fold !== undefined && fold.isChosen !== true && subject.onTrunk(steps[0]!),
    )
    return newest === undefined ? 0 : (lastOnTrunk(newest, subject) ?? 0)
  }

  #newestFold(subject: HiddenSubject): HiddenSpan | undefined {
    return this.#spans.findLast(({ fold, steps }) => fold !== undefined && subject.onTrunk(steps[0]!))
  }

  /** Returns the lowest depth at which a memo or the index changes when the trunk is cut after `depth`. */
  changedByCut(depth: number, subject: HiddenSubject): number {
    const cut = cutOff(subject, depth)
    // The memo of a prune stays as it was written.
    const memos = this.#spans.flatMap((span) => {
      if (span.fold === undefined) return []
      const last = lastOnTrunk(span, subject)
      return last !== undefined && cut.onTrunk(span.steps[0]!) && !cut.onTrunk(last) ? span.steps[0]! : []
    })
    const [before, after] = [this.index(subject), this.index(cut)]
    const isSame = before?.at === after?.at && before?.text === after?.text
    return lowestDepth(after === undefined || isSame ? memos : [...memos, after.at], subject)
  }

  /** Returns the lowest depth at which a memo changes when this summary is added or removed, because it removes lines from the memo of a fold. */
  changedBySummary({ from, to }: Pick<Overlay, 'from' | 'to'>, subject: HiddenSubject): number {
    const isIn = (id: NodeId): boolean => id >= from && id <= to && subject.onTrunk(id)
    const memos = this.#spans.filter(({ fold, steps }) => fold !== undefined && steps.some(isIn))
    return lowestDepth(
      memos.flatMap(({ steps }) => steps.find((id) => subject.onTrunk(id)) ?? []),
      subject,
    )
  }
}

/** Returns the lowest depth that changes when this summary is added or removed. */
export const changedByOverlay = (
  overlay: Pick<Overlay, 'from' | 'to'>,
  hidden: HiddenSteps | undefined,
  subject: HiddenSubject,
): number => Math.min(subject.node(overlay.from)!.depth, hidden?.changedBySummary(overlay, subject) ?? Infinity)

/** Returns the conversation as it will be once its trunk is cut after a depth. */
const cutOff = (subject: HiddenSubject, depth: number): HiddenSubject => ({
  head: subject.head,
  overlay: subject.overlay,
  node: (id) => subject.node(id),
  onTrunk: (id) => subject.onTrunk(id) && subject.node(id)!.depth <= depth,
})

/** Returns a span without some of its steps, and without the lines of its index about them; `undefined` if no step is left. */
function withoutSteps(span: HiddenSpan, gone: ReadonlySet<NodeId>, subject: HiddenSubject): HiddenSpan | undefined {
  const { index, ...fold } = span.fold ?? {}
  const lines = index?.split('\n').filter((line) => !gone.has(homeOf(line))) ?? []
  const steps = span.steps.filter((id) => !gone.has(id))
  const isSame = steps.length === span.steps.length
  if (isSame && lines.join('\n') === (index ?? '')) return span
  if (steps.length === 0) return undefined
  const memo = isSame ? span.memo : memoOf(span, steps, subject)
  const taken = span.steps.filter((id) => gone.has(id)).flatMap((id) => stepOf(id, subject).nodes)
  return {
    ...span,
    steps,
    tokens: Math.max(
      0,
      taken.reduce((left, node) => left - node.tokens, span.tokens),
    ),
    ...(memo === undefined ? {} : { memo }),
    ...(span.fold === undefined
      ? {}
      : { fold: { ...(fold as typeof span.fold), ...(lines.length === 0 ? {} : { index: lines.join('\n') }) } }),
  }
}

const linesIn = (memo: string | undefined): number => memo?.split('\n').length ?? 0

interface PruneAnnotations {
  readonly hidden: HiddenSteps
  readonly masked: { has(stepId: NodeId): boolean }
  isPinned(stepId: NodeId): boolean
}

const isReply = (node: ConversationNode | undefined): boolean =>
  node !== undefined && node.stepId === node.id && node.message.role === 'assistant'

/** Returns the reason why a prune, fold or mask cannot be applied; `undefined` if it can. */
export function wrongInPrune(
  { by, steps, memo, masked, shown, rolled = [] }: PruneOutcome,
  annotations: PruneAnnotations | undefined,
  subject: HiddenSubject,
): string | undefined {
  const hidden = annotations?.hidden
  if (!steps.every((id) => isReply(subject.node(id)))) return 'it hides something else than whole steps of the model'
  if (steps.some((id) => annotations?.isPinned(id))) return 'it hides a pinned step'
  if (steps.some((id, index) => !subject.onTrunk(id) || id <= (steps[index - 1] ?? 0)))
    return 'its steps are not in the order of the trunk'
  const isGone = (id: NodeId): boolean => hidden?.spanOf(id) !== undefined || annotations?.masked.has(id) === true
  if (shown === true) {
    if (masked === true || by === 'runtime') return 'it hides and shows'
    return steps.every(isGone) ? undefined : 'it shows what is neither hidden nor masked'
  }
  if (masked === true) {
    return steps.some(isGone) ? 'it masks what is hidden or masked already' : undefined
  }
  if (by !== 'runtime') return undefined
  if (steps.some((id) => hidden?.spanOf(id) !== undefined)) return 'it hides what is hidden already'
  if (linesIn(memo) !== steps.length) return 'its memo has not a line for each step'
  for (const { folds, detail, memo: lines } of rolled) {
    const parts = hidden?.partsOf({ folds }) ?? []
    if (parts.length === 0) return `it rolls up ${folds.join(', ')}, of which none is there`
    if (detail === 'shortLine' && linesIn(lines) !== stepsOnTrunk(parts, subject).length)
      return 'a memo it rolls up has not a line for each step'
  }
  return undefined
}

/** Returns the step whose names are listed in a line of an index. */
const homeOf = (line: string): NodeId => Number(/^n(\d+) /.exec(line)?.[1])

const lowestDepth = (steps: readonly NodeId[], subject: HiddenSubject): number =>
  steps.reduce((least, id) => Math.min(least, subject.node(id)!.depth), Infinity)
