import type { PruneOutcome } from '../protocol/braking.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { Overlay } from '../protocol/records.ts'
import type { ConversationNode } from './node.ts'

/** Steps hidden together, and what stands for them. */
export interface HiddenSpan {
  /** Of the prune, or of the newest fold in it. */
  readonly id: string
  /** Oldest first. */
  readonly steps: readonly NodeId[]
  /** Estimated tokens of the steps. */
  readonly tokens: number
  readonly memo?: string
  /** Set when the runtime hid them. */
  readonly fold?: Fold
}

interface Fold {
  readonly ids: readonly string[]
  /** What the memo holds: a line for each step, or a few for all of them. */
  readonly detail: 'line' | 'shortLine' | 'digest'
  /** The head when the memo was written. */
  readonly writtenAt: NodeId
  /** Names that stand in hidden steps alone. */
  readonly index?: string
}

type RolledUp = NonNullable<PruneOutcome['rolled']>[number]

/** The part of a conversation that decides what of a hidden span is still there. */
export interface HiddenSubject {
  readonly head: NodeId | null
  readonly overlay: Pick<Overlay, 'from' | 'to'> | undefined
  onTrunk(id: NodeId): boolean
  node(id: NodeId): ConversationNode | undefined
}

/** Which steps are hidden by prunes and folds, on the trunk or off it. */
export class HiddenSteps {
  readonly #spanOf = new Map<NodeId, HiddenSpan>()
  #spans: HiddenSpan[] = []

  /** In the order of their records. */
  get spans(): readonly HiddenSpan[] {
    return this.#spans
  }

  get bySteps(): ReadonlyMap<NodeId, HiddenSpan> {
    return this.#spanOf
  }

  spanOf(stepId: NodeId): HiddenSpan | undefined {
    return this.#spanOf.get(stepId)
  }

  /** Takes in what was applied. Gives the lowest depth of the trunk whose rendering changes. */
  apply(outcome: PruneOutcome, subject: HiddenSubject): number {
    const { id, by, steps, tokens, memo, index, rolled = [] } = outcome
    const changed = this.changedBy(outcome, subject)
    const writtenAt = subject.head ?? 0
    for (const part of rolled) this.#rollUp(part, writtenAt)
    const span = { id, steps, tokens, ...(memo === undefined ? {} : { memo }) }
    const fold = { ids: [id], detail: 'line', writtenAt, ...(index === undefined ? {} : { index }) } as const
    const hidden = by === 'runtime' ? { ...span, fold } : span
    for (const step of steps) this.#spanOf.set(step, hidden)
    this.#spans.push(hidden)
    return changed
  }

  /** The lowest depth of the trunk whose rendering changes with what is about to be applied. */
  changedBy({ by, steps, rolled = [] }: PruneOutcome, subject: HiddenSubject): number {
    const index = by === 'runtime' ? this.index(subject) : undefined
    const rewritten = rolled.flatMap((part) => this.#partsOf(part).flatMap((span) => span.steps))
    return lowestDepth([...steps, ...rewritten, ...(index === undefined ? [] : [index.at])], subject)
  }

  #partsOf({ folds }: RolledUp): HiddenSpan[] {
    return this.#spans.filter(({ fold }) => fold?.ids.some((id) => folds.includes(id)) === true)
  }

  /** Puts one memo in the place of those of some folds. */
  #rollUp(rolled: RolledUp, writtenAt: NodeId): void {
    const { detail, memo } = rolled
    const parts = this.#partsOf(rolled)
    const last = parts.at(-1)
    if (last?.fold === undefined) return
    const { index } = last.fold
    const span: HiddenSpan = {
      id: last.id,
      steps: parts.flatMap(({ steps }) => steps).toSorted((a, b) => a - b),
      tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
      memo,
      fold: {
        ids: parts.flatMap(({ fold }) => fold!.ids),
        detail,
        writtenAt,
        ...(index === undefined ? {} : { index }),
      },
    }
    this.#spans = this.#spans.flatMap((before) => (before === last ? span : parts.includes(before) ? [] : before))
    for (const step of span.steps) this.#spanOf.set(step, span)
  }

  /** The index in force: that of the newest fold of which anything is on the trunk, without lines of steps that are not. */
  index(subject: HiddenSubject): ShownIndex | undefined {
    const newest = this.#newestFold(subject)
    const at = newest?.steps.findLast((id) => subject.onTrunk(id))
    const lines = newest?.fold?.index?.split('\n').filter((line) => subject.onTrunk(homeOf(line)))
    return at === undefined || lines === undefined || lines.length === 0 ? undefined : { at, text: lines.join('\n') }
  }

  /** The last step on the trunk that the newest fold hides; 0 without one. */
  foldedTo(subject: HiddenSubject): NodeId {
    return this.#newestFold(subject)?.steps.findLast((id) => subject.onTrunk(id)) ?? 0
  }

  #newestFold(subject: HiddenSubject): HiddenSpan | undefined {
    return this.#spans.findLast(({ fold, steps }) => fold !== undefined && subject.onTrunk(steps[0]!))
  }

  /** The lowest depth at which a memo or the index changes when the trunk is cut after `depth`. */
  changedByCut(depth: number, subject: HiddenSubject): number {
    const cut = cutOff(subject, depth)
    // The memo of a prune stays as it was written.
    const memos = this.#spans.flatMap(({ fold, steps }) => {
      if (fold === undefined) return []
      const last = steps.findLast((id) => subject.onTrunk(id))
      return last !== undefined && cut.onTrunk(steps[0]!) && !cut.onTrunk(last) ? steps[0]! : []
    })
    const [before, after] = [this.index(subject), this.index(cut)]
    const isSame = before?.at === after?.at && before?.text === after?.text
    return lowestDepth(after === undefined || isSame ? memos : [...memos, after.at], subject)
  }

  /** The lowest depth at which a memo changes when this summary comes or goes: it takes lines out of the memo of a fold. */
  changedBySummary({ from, to }: Pick<Overlay, 'from' | 'to'>, subject: HiddenSubject): number {
    const isIn = (id: NodeId): boolean => id >= from && id <= to && subject.onTrunk(id)
    const memos = this.#spans.filter(({ fold, steps }) => fold !== undefined && steps.some(isIn))
    return lowestDepth(
      memos.flatMap(({ steps }) => steps.find((id) => subject.onTrunk(id)) ?? []),
      subject,
    )
  }
}

/** The subject as it will be once its trunk is cut after a depth. */
const cutOff = (subject: HiddenSubject, depth: number): HiddenSubject => ({
  head: subject.head,
  overlay: subject.overlay,
  node: (id) => subject.node(id),
  onTrunk: (id) => subject.onTrunk(id) && subject.node(id)!.depth <= depth,
})

/** Where an index stands: after this step. */
export interface ShownIndex {
  readonly at: NodeId
  readonly text: string
}

const linesIn = (memo: string | undefined): number => memo?.split('\n').length ?? 0

/** Why a fold cannot be applied; `undefined` when it can, and for a prune. */
export function wrongInFold(
  { by, steps, memo, rolled = [] }: PruneOutcome,
  hidden: HiddenSteps | undefined,
): string | undefined {
  if (by !== 'runtime') return undefined
  if (linesIn(memo) !== steps.length) return 'its memo has not a line for each step'
  for (const { folds, detail, memo: lines } of rolled) {
    const parts = (hidden?.spans ?? []).filter(({ fold }) => fold?.ids.some((id) => folds.includes(id)) === true)
    if (parts.length === 0) return `it rolls up ${folds.join(', ')}, of which none is there`
    const covered = parts.reduce((count, part) => count + part.steps.length, 0)
    if (detail === 'shortLine' && linesIn(lines) !== covered) return 'a memo it rolls up has not a line for each step'
  }
  return undefined
}

/** The step whose names a line of an index lists. */
const homeOf = (line: string): NodeId => Number(/^n(\d+) /.exec(line)?.[1])

const lowestDepth = (steps: readonly NodeId[], subject: HiddenSubject): number =>
  steps.reduce((least, id) => Math.min(least, subject.node(id)!.depth), Infinity)
