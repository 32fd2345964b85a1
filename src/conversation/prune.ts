import type { PruneOutcome, PruneRequest } from '../protocol/braking.ts'
import { formatNodeId, parseNodeId, type NodeId } from '../protocol/ids.ts'
import type { Conversation } from './conversation.ts'
import { cutEnd } from './cutMiddle.ts'
import type { Step } from './node.ts'

/** A refusal stays in the model's sight, so it says no more of one request than this. */
const mostReasons = 10

const tokensOf = (step: Step): number => step.nodes.reduce((sum, node) => sum + node.tokens, 0)

/**
 * Chooses what a prune hides: whole steps of the model, the named ones, or the oldest until `tokens` are hidden. Never a
 * message of a person or a pinned step, never the newest step (it made the call), never at or before a compaction summary. Pure.
 */
export function applyPrune(
  conversation: Conversation,
  request: PruneRequest,
  taken: ReadonlySet<NodeId> = new Set(),
): PruneOutcome {
  const { overlay, annotations } = conversation
  const steps = conversation.steps()
  const newest = steps.at(-1)
  const whyNot = (step: Step): string | undefined => {
    if (step.nodes[0]!.message.role !== 'assistant') return 'is a user message'
    if (step === newest) return 'is the newest step'
    if (overlay !== undefined && step.id <= overlay.to) return 'is at or before a compaction summary'
    if (annotations?.isPinned(step.id) === true) return 'is pinned'
    return annotations?.hiddenBy(step.id) === undefined && !taken.has(step.id) ? undefined : 'is hidden already'
  }
  const reasons: string[] = []
  const chosen = new Set<Step>()
  if (request.steps === undefined) {
    let left = request.tokens ?? 0
    for (const step of steps) {
      if (left <= 0) break
      if (whyNot(step) !== undefined) continue
      chosen.add(step)
      left -= tokensOf(step)
    }
  } else {
    const byNode = new Map(steps.flatMap((step) => step.nodes.map(({ id }) => [id, step])))
    for (const name of request.steps) {
      const id = parseNodeId(name)
      const step = byNode.get(id ?? 0)
      const why = step === undefined ? 'is not on the current trunk' : whyNot(step)
      if (why === undefined) chosen.add(step!)
      else reasons.push(`${id === undefined ? JSON.stringify(cutEnd(name, 40)) : formatNodeId(id)} ${why}`)
    }
  }
  if (chosen.size === 0 && reasons.length === 0) {
    const pinned = steps.filter((step) => whyNot(step) === 'is pinned').map(({ endId }) => formatNodeId(endId))
    const why = pinned.length === 0 ? '' : ` (pinned: ${cutEnd(pinned.join(', '), 120)})`
    reasons.push(`there is no step that may be hidden${why}`)
  }
  const told = reasons.slice(0, mostReasons)
  if (told.length < reasons.length) told.push(`and ${reasons.length - told.length} more`)
  const hidden = [...chosen].toSorted((a, b) => a.id - b.id)
  return {
    id: request.id,
    applied: hidden.length > 0,
    steps: hidden.map(({ id }) => id),
    tokens: hidden.reduce((sum, step) => sum + tokensOf(step), 0),
    ...(request.memo === undefined || request.memo.trim() === '' ? {} : { memo: request.memo }),
    ...(reasons.length === 0 ? {} : { reason: `prune refused: ${told.join('; ')}` }),
  }
}
