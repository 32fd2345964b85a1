import type { NodeId } from '../protocol/ids.ts'
import type { Overlay } from '../protocol/records.ts'
import type { Annotations } from './annotations.ts'
import { renderMemo, renderRefusal, renderTag } from './brakeNotes.ts'
import { savedByCutting, type OverlaySubject } from './overlay.ts'

/** The part of a conversation that notes are counted from. */
interface NoteSubject extends OverlaySubject {
  readonly head: NodeId | null
  readonly overlay: Overlay | undefined
}

/** Estimated tokens that tags, refusals and memos add to the trunk, less what hidden steps and cut output take off. */
export function noteTokens(conversation: NoteSubject, annotations: Annotations | undefined): number {
  const { counter, overlay } = conversation
  const cut =
    overlay === undefined
      ? 0
      : savedByCutting(overlay, conversation, (stepId) => annotations?.hiddenBy(stepId) !== undefined)
  if (annotations === undefined) return -cut
  const quote = (id: number) => conversation.node(id)?.message.content ?? []
  let tokens = -cut
  const lessons = { lesson: 0, finding: 0 }
  for (const placed of annotations.tagged.toReversed()) {
    if (!conversation.onTrunk(placed.nodeId)) continue
    const { kind } = placed.tag
    // Older ones are hidden by the default policy; counting them would compact too early.
    if ((kind === 'lesson' || kind === 'finding') && (lessons[kind] += 1) > 3) continue
    tokens += placed.tokens ??= counter.text(renderTag(placed.tag, quote))
  }
  const memos = new Set<string>()
  for (const [stepId, prune] of annotations.hiddenSteps) {
    const step = conversation.node(stepId)
    if (step === undefined || !conversation.onTrunk(stepId)) continue
    const isSummarised = overlay !== undefined && stepId >= overlay.from && stepId <= overlay.to
    if (isSummarised) continue
    for (let depth = step.depth - 1; conversation.path[depth]?.stepId === stepId; depth++)
      tokens -= conversation.path[depth]!.tokens
    if (prune.memo !== undefined && !memos.has(prune.id)) tokens += counter.text(renderMemo(prune.memo, prune.steps))
    memos.add(prune.id)
  }
  const head = conversation.head
  if (head !== null) for (const reason of annotations.refusalsAt(head)) tokens += counter.text(renderRefusal(reason))
  return tokens
}
