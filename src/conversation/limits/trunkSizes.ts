import type { PruneOutcome, RevertOutcome } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { Overlay } from '../../protocol/records.ts'
import { renderNotice, renderTag } from '../request/brakeNotes.ts'
import { Annotations } from '../tree/annotations.ts'
import type { Conversation } from '../tree/conversation.ts'
import type { Sizes } from './economics.ts'
import { changedByOverlay, HiddenSteps } from '../brakes/hiddenSteps.ts'
import { factsBehind, renderFacts } from '../tree/facts.ts'
import { firstMasked, freedByMask, tokensOfShown } from '../request/maskedResults.ts'
import { noteTokens } from '../request/noteTokens.ts'
import { savedBySummary } from '../request/overlay.ts'
import { notesOfSpan } from '../brakes/prune/pruneNotes.ts'

// All in tokens of the conversation's own counter, without the frame and before correction.

/** Returns the estimated tokens of the trunk as shown, up to and including this depth; under another summary, if one is given. */
const shownTokens = (conversation: Conversation, depth: number, laid?: Overlay): number =>
  shownUpTo(conversation, depth, { laid }).shown

/** Circumstances under which a trunk is counted, if not its own. */
interface Under {
  readonly laid?: Overlay | undefined
  readonly annotations?: Annotations | undefined
}

/** Returns the estimated tokens of the trunk as shown up to this depth, and those of the index of names in it. */
function shownUpTo(
  conversation: Conversation,
  depth: number,
  { laid, annotations = conversation.annotations }: Under = {},
): { shown: number; index: number } {
  const path = conversation.path.slice(0, depth)
  const depthOf = (id: NodeId): number => conversation.node(id)!.depth
  const overlay = laid ?? conversation.overlay
  const view = {
    path,
    trunkAt: (index: number) => path[index],
    head: path.at(-1)?.id ?? null,
    counter: conversation.counter,
    overlay: overlay === undefined || depthOf(overlay.to) > depth ? undefined : overlay,
    node: (id: NodeId) => conversation.node(id),
    onTrunk: (id: NodeId) => conversation.onTrunk(id) && depthOf(id) <= depth,
  }
  const saved = view.overlay === undefined ? 0 : savedBySummary(view.overlay, view)
  const notes = noteTokens(view, annotations)
  return { shown: (path.at(-1)?.pathTokens ?? 0) - saved + notes.shown - notes.taken, index: notes.index }
}

const repairTokens = ({ repair, counter }: Conversation): number => (repair === undefined ? 0 : counter.text(repair))

/** Returns the trunk sizes before and after a revert that is about to be applied. */
export function sizesOfRevert(conversation: Conversation, { target, tag, rebased = [] }: RevertOutcome): Sizes {
  const before = conversation.trunkTokens
  const head = target === undefined ? undefined : conversation.node(target)
  if (head === undefined || tag === undefined) return { before, after: before, unchanged: before }
  const { counter } = conversation
  const find = (id: NodeId) => conversation.node(id)
  const note =
    counter.text(renderTag(tag, (id) => find(id)?.message.content ?? [])) +
    counter.text(renderFacts(factsBehind(tag.abandoned, find), tag.abandoned))
  const again = rebased.reduce((sum, { from }) => sum + (find(from)?.tokens ?? 0), 0)
  const kept = shownTokens(conversation, head.depth)
  // A node's tags stand before what was refused there.
  const refused = (conversation.annotations?.noticesAt(head.id) ?? []).reduce(
    (sum, notice) => sum + counter.text(renderNotice(notice)),
    0,
  )
  // Memos and the index lose lines where the trunk is cut.
  const rewritten = conversation.annotations?.hidden.changedByCut(head.depth, conversation) ?? Infinity
  const unchanged = rewritten > head.depth ? kept - refused : shownTokens(conversation, rewritten - 1)
  return { before, after: kept + note + again, unchanged }
}

const refusalTokens = ({ counter }: Conversation, text: string): number =>
  counter.text(renderNotice({ kind: 'refusal', text }))

/** Returns the trunk sizes before and after a prune or mask that is about to be applied. */
export function sizesOfPrune(conversation: Conversation, outcome: PruneOutcome): Sizes {
  const before = conversation.trunkTokens
  const chosen = new Set(outcome.steps)
  const nodes = conversation.path.filter(({ stepId }) => chosen.has(stepId))
  const isMask = outcome.masked === true
  const first = isMask ? firstMasked(outcome.steps, conversation) : nodes[0]
  if (first === undefined) return { before, after: before, unchanged: before }
  const { counter } = conversation
  let taken = isMask ? freedByMask({ nodes }, conversation) : 0
  let notes = outcome.reason === undefined ? 0 : refusalTokens(conversation, outcome.reason)
  if (!isMask) {
    for (const node of nodes) taken += tokensOfShown(node, conversation)
    for (const { text } of notesOfSpan(outcome, conversation)) notes += counter.text(text)
  }
  return { before, after: before - taken + notes, unchanged: shownTokens(conversation, first.depth - 1) }
}

/** Returns the trunk sizes before and after hidden or masked steps are shown again. */
export function sizesOfShow(conversation: Conversation, outcome: PruneOutcome): Sizes {
  const { annotations, trunkTokens: before } = conversation
  if (annotations === undefined || outcome.steps.length === 0) return { before, after: before, unchanged: before }
  const next = new Annotations(annotations.keep())
  const depth = next.hide(outcome, conversation)
  const notes = noteTokens(conversation, annotations)
  const after = noteTokens(conversation, next)
  const refusal = outcome.reason === undefined ? 0 : refusalTokens(conversation, outcome.reason)
  const grown = after.shown - after.taken - notes.shown + notes.taken + refusal
  const again = outcome.steps.filter((id) => annotations.hiddenBy(id) !== undefined)
  const masked = firstMasked(
    outcome.steps.filter((id) => annotations.masked.has(id)),
    conversation,
  )
  const changed = Math.min(masked?.depth ?? Infinity, annotations.hidden.stepsChangedByShow(again, conversation))
  const isIndex = depth < changed && annotations.hidden.index(conversation) !== undefined
  // The masks that go must not count for the beginning of their steps.
  const unchanged = isIndex
    ? tokensBeforeIndex(conversation)
    : shownUpTo(conversation, depth - 1, { annotations: next }).shown
  return { before, after: before + grown, unchanged }
}

/** Returns the trunk sizes before and after a fold that is about to be applied. */
export function sizesOfFold(
  conversation: Conversation,
  { outcome, trunkTokens }: { readonly outcome: PruneOutcome; readonly trunkTokens: number },
): Sizes {
  const hidden = conversation.annotations?.hidden ?? new HiddenSteps()
  const before = conversation.trunkTokens
  const changed = hidden.stepsChangedBy(outcome, conversation)
  const index = hidden.index(conversation)
  const indexed = index === undefined ? undefined : conversation.node(index.at)!
  if (indexed === undefined || changed <= indexed.depth)
    return { before, after: trunkTokens, unchanged: shownTokens(conversation, changed - 1) }
  return { before, after: trunkTokens, unchanged: tokensBeforeIndex(conversation) }
}

/** Returns the tokens of the trunk before the index of names, which follows everything else of its step, and a summary that covers the step. */
function tokensBeforeIndex(conversation: Conversation): number {
  const { overlay, annotations } = conversation
  const indexed = conversation.node(annotations!.hidden.index(conversation)!.at)!
  const isCovered = overlay !== undefined && indexed.id >= overlay.from && indexed.id <= overlay.to
  const end = isCovered ? conversation.node(overlay.to)! : conversation.stepEnd(indexed)
  const kept = shownUpTo(conversation, end.depth)
  return kept.shown - kept.index
}

/** Returns the trunk sizes before and after a compaction that is about to be applied. */
export function sizesOfCompaction(conversation: Conversation, overlay: Overlay): Sizes {
  const hidden = conversation.annotations?.hidden
  const starts = [conversation.overlay, overlay].flatMap((each) =>
    each === undefined ? [] : [changedByOverlay(each, hidden, conversation)],
  )
  return {
    before: conversation.trunkTokens,
    after: shownTokens(conversation, conversation.path.length, overlay) + repairTokens(conversation),
    unchanged: shownTokens(conversation, Math.min(...starts) - 1),
  }
}
