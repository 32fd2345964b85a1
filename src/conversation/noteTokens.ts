import type { NodeId } from '../protocol/ids.ts'
import type { Overlay } from '../protocol/records.ts'
import type { Annotations, Tagged } from './annotations.ts'
import { renderRefusal, renderTag } from './brakeNotes.ts'
import { renderFacts } from './facts.ts'
import { savedByCutting, type OverlaySubject } from './overlay.ts'
import { noteStep, notesOfPrune } from './pruneNotes.ts'

/** The part of a conversation that notes are counted from. */
interface NoteSubject extends OverlaySubject {
  readonly overlay: Overlay | undefined
}

/** Estimated tokens that tags, refusals, memos and facts add to the trunk, less what hidden steps and cut output take off. */
export function noteTokens(conversation: NoteSubject, annotations: Annotations | undefined): number {
  const { counter, overlay } = conversation
  const cut =
    overlay === undefined
      ? 0
      : savedByCutting(overlay, conversation, (stepId) => annotations?.hiddenBy(stepId) !== undefined)
  if (annotations === undefined) return -cut
  const isShown = (id: NodeId): boolean =>
    conversation.onTrunk(id) && (overlay === undefined || id < overlay.from || id > overlay.to)
  let tokens = -cut
  const lessons = { lesson: 0, finding: 0 }
  for (const placed of annotations.tagged.toReversed()) {
    if (!conversation.onTrunk(placed.nodeId)) continue
    const { kind } = placed.tag
    const counted = (placed.tokens ??= tagTokens(placed, conversation))
    tokens += counted.facts
    // Older ones are hidden by the default policy; counting them would compact too early.
    if ((kind === 'lesson' || kind === 'finding') && (lessons[kind] += 1) > 3) continue
    tokens += counted.tag
  }
  for (const [stepId, prune] of annotations.hiddenSteps) {
    if (!isShown(stepId)) continue
    for (let depth = conversation.node(stepId)!.depth - 1; conversation.path[depth]?.stepId === stepId; depth++)
      tokens -= conversation.path[depth]!.tokens
    if (noteStep(prune, overlay) !== stepId) continue
    for (const { text } of notesOfPrune(prune, (id) => conversation.node(id))) tokens += counter.text(text)
  }
  for (const [nodeId, reasons] of annotations.refusals) {
    if (!isShown(nodeId)) continue
    for (const reason of reasons) tokens += counter.text(renderRefusal(reason))
  }
  return tokens
}

function tagTokens({ tag, facts }: Tagged, conversation: NoteSubject): { tag: number; facts: number } {
  const quote = (id: NodeId) => conversation.node(id)?.message.content ?? []
  const { counter } = conversation
  return { tag: counter.text(renderTag(tag, quote)), facts: counter.text(renderFacts(facts, tag.abandoned)) }
}
