import type { PruneOutcome } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { Overlay } from '../../protocol/records.ts'
import type { ConversationNode } from '../tree/node.ts'

/** Steps hidden together, and the memo that stands for them. */
export interface HiddenSpan {
  /** Id of the prune, or of the newest fold in the span. */
  readonly id: string
  /** Oldest first, and all on one path: a trunk that holds one of them holds all before it. */
  readonly steps: readonly NodeId[]
  /** Estimated tokens of the steps. */
  readonly tokens: number
  readonly memo?: string
  /** Set when the runtime hid them. */
  readonly fold?: Fold
}

interface Fold {
  readonly ids: readonly string[]
  /** Detail of the memo: a line for each step, a shorter line for each, or a few lines for all of them. */
  readonly detail: 'line' | 'shortLine' | 'digest'
  /** The head when the memo was written. */
  readonly writtenAt: NodeId
  /** Names that stand in hidden steps alone. */
  readonly index?: string
  /** A policy chose the steps: older ones may be left in sight. */
  readonly isChosen?: true
}

export type RolledUp = NonNullable<PruneOutcome['rolled']>[number]

/** The part of a conversation that decides which steps of a hidden span are left. */
export interface HiddenSubject {
  readonly head: NodeId | null
  readonly overlay: Pick<Overlay, 'from' | 'to'> | undefined
  onTrunk(id: NodeId): boolean
  node(id: NodeId): ConversationNode | undefined
}

/** Returns true if a hidden step would be shown if it were not hidden: it is on the trunk, and no summary stands for it. */
export const isLeft = (id: NodeId, subject: HiddenSubject): boolean => subject.onTrunk(id) && !isSummarised(id, subject)

const isSummarised = (id: NodeId, { overlay }: HiddenSubject): boolean =>
  overlay !== undefined && id >= overlay.from && id <= overlay.to

/** The hidden step in whose place the notes of a span stand; `undefined` when nothing of it is left. */
export function noteStep({ steps }: Pick<HiddenSpan, 'steps'>, subject: HiddenSubject): NodeId | undefined {
  const first = steps[0]
  const isGone = first !== undefined && isSummarised(first, subject)
  const at = isGone ? steps[countWhile(steps, (id) => id <= subject.overlay!.to)] : first
  return at !== undefined && subject.onTrunk(at) ? at : undefined
}

/** Returns true if all steps of a span are left, so that its notes are as they were written. */
export function isWhole({ steps }: Pick<HiddenSpan, 'steps'>, subject: HiddenSubject): boolean {
  const [first, last] = [steps[0], steps.at(-1)]
  if (first === undefined || last === undefined || !subject.onTrunk(last)) return false
  const { overlay } = subject
  return overlay === undefined || last < overlay.from || first > overlay.to || steps.every((id) => isLeft(id, subject))
}

/** Counts the items before the first for which `isSo` is false; it is false for all items after that. */
function countWhile<T>(items: readonly T[], isSo: (item: T) => boolean): number {
  let from = 0
  let to = items.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isSo(items[middle]!)) from = middle + 1
    else to = middle
  }
  return from
}

const leftOnTrunk = ({ steps }: HiddenSpan, subject: HiddenSubject): number =>
  countWhile(steps, (id) => subject.onTrunk(id))

/** The last step of a span that is on the trunk. */
export const lastOnTrunk = (span: HiddenSpan, subject: HiddenSubject): NodeId | undefined =>
  span.steps[leftOnTrunk(span, subject) - 1]

/** Returns the steps of some folds that are on the trunk, in its order. A step that a revert took off it never comes back. */
export const stepsOnTrunk = (spans: readonly HiddenSpan[], subject: HiddenSubject): NodeId[] =>
  spans.flatMap((span) => span.steps.slice(0, leftOnTrunk(span, subject))).toSorted((a, b) => a - b)

/** Merges some folds into one, whose memo replaces theirs. */
export function rolledUp(
  parts: readonly HiddenSpan[],
  { detail, memo }: Pick<RolledUp, 'detail' | 'memo'>,
  subject: HiddenSubject,
): HiddenSpan {
  const last = parts.at(-1)!
  return {
    id: last.id,
    steps: stepsOnTrunk(parts, subject),
    tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
    memo,
    fold: {
      ...last.fold!,
      ids: parts.flatMap(({ fold }) => fold!.ids),
      detail,
      writtenAt: subject.head ?? 0,
      ...(parts.some(({ fold }) => fold!.isChosen) ? { isChosen: true } : {}),
    },
  }
}
