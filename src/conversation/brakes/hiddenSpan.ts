import type { PruneOutcome } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { Overlay } from '../../protocol/records.ts'
import type { ConversationNode } from '../tree/node.ts'

/** Steps that are hidden together, and the memo that replaces them. */
export interface HiddenSpan {
  /** Id of the prune, or of the newest fold in the span. */
  readonly id: string
  /** Steps of the span, oldest first and all on one path: a trunk that contains one of them contains all earlier ones. */
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
  /** The head at the time when the memo was written. */
  readonly writtenAt: NodeId
  /** Names that occur only in hidden steps. */
  readonly index?: string
  /** Set if a policy chose the steps, so older ones may be visible. */
  readonly isChosen?: true
}

export type RolledUp = NonNullable<PruneOutcome['rolled']>[number]

/** An index of names, and the step after which it stands. */
export interface ShownIndex {
  readonly at: NodeId
  readonly text: string
}

/** The part of a conversation that determines which steps of a hidden span are left. */
export interface HiddenSubject {
  readonly head: NodeId | null
  readonly overlay: Pick<Overlay, 'from' | 'to'> | undefined
  onTrunk(id: NodeId): boolean
  node(id: NodeId): ConversationNode | undefined
}

/** Returns true if a hidden step would otherwise be shown: it is on the trunk, and no summary covers it. */
export const isLeft = (id: NodeId, subject: HiddenSubject): boolean => subject.onTrunk(id) && !isSummarised(id, subject)

const isSummarised = (id: NodeId, { overlay }: HiddenSubject): boolean =>
  overlay !== undefined && id >= overlay.from && id <= overlay.to

/** Returns the hidden step whose place the notes of a span take; `undefined` if no step of the span is left. */
export function noteStep({ steps }: Pick<HiddenSpan, 'steps'>, subject: HiddenSubject): NodeId | undefined {
  const first = steps[0]
  const isGone = first !== undefined && isSummarised(first, subject)
  const at = isGone ? steps[countWhile(steps, (id) => id <= subject.overlay!.to)] : first
  return at !== undefined && subject.onTrunk(at) ? at : undefined
}

/** Returns true if all steps of a span are left, so its notes are unchanged. */
export function isWhole({ steps }: Pick<HiddenSpan, 'steps'>, subject: HiddenSubject): boolean {
  const [first, last] = [steps[0], steps.at(-1)]
  if (first === undefined || last === undefined || !subject.onTrunk(last)) return false
  const { overlay } = subject
  return overlay === undefined || last < overlay.from || first > overlay.to || steps.every((id) => isLeft(id, subject))
}

/** Counts the items before the first for which `isSo` is false, assuming that it is false for all later items. */
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

export const lastOnTrunk = (span: HiddenSpan, subject: HiddenSubject): NodeId | undefined =>
  span.steps[leftOnTrunk(span, subject) - 1]

/** Returns the steps of some folds that are on the trunk, in trunk order. A step that a revert removed never comes back. */
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
