import type { Annotations } from './annotations.ts'
import { renderMemo, renderRefusal, renderTag } from './brakeNotes.ts'
import type { Conversation } from './conversation.ts'

/** Estimated tokens that tags, refusals and memos add to the trunk, less what hidden steps take off. Costs their number. */
export function noteTokens(conversation: Conversation, annotations: Annotations): number {
  const { counter, overlay } = conversation
  const quote = (id: number) => conversation.node(id)?.message.content ?? []
  let tokens = 0
  for (const { tag } of conversation.tags()) tokens += counter.text(renderTag(tag, quote))
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
