import type { Evidence, AppliedRevert, RefusedRevert, RevertRequest, Tag } from '../../../protocol/braking.ts'
import { tagKinds } from '../../../protocol/text/tagKinds.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import { formatNodeId, parseNodeId } from '../../../protocol/text/nodeIds.ts'
import { textOf } from '../../../protocol/messages.ts'
import type { UndoPlan } from '../../../protocol/undo.ts'
import { ledgerOf } from '../../../protocol/undoLedger.ts'
import { cutEnd } from '../../../protocol/text/cutMiddle.ts'
import { evidenceOf } from '../evidence.ts'
import type { Conversation } from '../../tree/conversation.ts'
import type { ConversationNode } from '../../tree/node.ts'
import { recallName } from '../../tree/stepText.ts'
import { pinnedWithin } from '../pins/pins.ts'

export interface RevertPolicy {
  /** Maximum number of applied reverts to one step since a person last spoke. */
  readonly maxRevertsPerTarget: number
  /** Handling of a span with messages of a person: refuse, or append them again after the target. */
  readonly onUserMessage: 'refuse' | 'rebase'
}

export const defaultRevertPolicy: RevertPolicy = { maxRevertsPerTarget: 2, onUserMessage: 'refuse' }

/** Tools of the brakes, whose calls are no evidence. */
export const brakeTools: ReadonlySet<string> = new Set(['revert_to_state', 'prun'])

/** Returns the tools whose calls are no evidence, for an agent that has these too. Other agents may have their own tools by these names. */
export const ignoredTools = (more: readonly string[]): ReadonlySet<string> => new Set([...brakeTools, ...more])

/** Tools to ignore if the tools of an agent are not known. */
export const brakeToolsWithRecall: ReadonlySet<string> = ignoredTools([recallName])

export interface RevertRules extends RevertPolicy {
  /** Tools whose calls are no evidence. Default: `brakeTools`. */
  readonly ignoredTools?: ReadonlySet<string>
}

/** Plan of a revert: the span it abandons, and the data computed from it. */
export interface RevertPlan {
  readonly target: ConversationNode
  readonly span: readonly ConversationNode[]
  readonly users: readonly ConversationNode[]
  readonly evidence: Evidence
  readonly undo?: UndoPlan
}

/** Checks a revert against the trunk. Returns a string with a fixed beginning for a refusal. `isFirst`: no revert was applied this turn. Pure. */
export function planRevert(
  conversation: Conversation,
  request: RevertRequest,
  policy: RevertRules,
  isFirst = true,
): RevertPlan | string {
  const found = resolveStep(conversation, request.step)
  if (typeof found === 'string') return found
  const { target, name } = found
  const { path, overlay } = conversation
  if (!conversation.onTrunk(target.id)) return `revert refused: ${name} is not on the current trunk`
  const span = path.slice(target.depth)
  if (span.length === 0) return `revert refused: nothing to abandon after ${name}`
  const isSummary = overlay !== undefined && parseNodeId(request.step) === overlay.nodeId
  if (overlay !== undefined && !isSummary && target.id >= overlay.from && target.id <= overlay.to) {
    return `revert refused: ${name} was compacted; nearest targets: ${nearestTargets(conversation)}`
  }
  if (!isFirst) return 'revert refused: one revert per turn'
  if ((conversation.annotations?.revertsTo(target.id) ?? 0) >= policy.maxRevertsPerTarget) {
    return `revert refused: ${name} was already reverted to ${policy.maxRevertsPerTarget} times`
  }
  const pinned = pinnedWithin(conversation, span)
  if (pinned !== undefined) return `revert refused: ${formatNodeId(pinned)} is pinned`
  const users = span.filter((node) => node.message.role === 'user')
  if (users.length > 0 && policy.onUserMessage === 'refuse') {
    return 'revert refused: abandoned span contains a user message'
  }
  return { target, span, users, evidence: evidenceOf(span, policy.ignoredTools ?? brakeTools) }
}

/** Returns the last node of the step that an id names. The id of a summary names the end of its span. */
export function resolveStep(
  conversation: Conversation,
  step: string,
): { target: ConversationNode; name: string } | string {
  const id = parseNodeId(step)
  const asked = id === undefined ? JSON.stringify(cutEnd(step, 40)) : formatNodeId(id)
  const named = id === undefined ? undefined : (conversation.summaryEnd(id) ?? conversation.node(id))
  if (named === undefined) return `revert target ${asked} not found`
  return { target: conversation.stepEnd(named), name: asked }
}

function nearestTargets(conversation: Conversation): string {
  const { overlay, path } = conversation
  if (overlay === undefined) return 'none'
  const before = path[conversation.node(overlay.from)!.depth - 2]
  const after = path[conversation.node(overlay.to)!.depth]
  const ids = [before?.id, overlay.nodeId, after === undefined ? undefined : conversation.stepEnd(after).id]
  return ids.flatMap((id) => (id === undefined ? [] : formatNodeId(id))).join(', ')
}

/** Returns the steps that a refused model may name instead, newest first. */
function validTargets(conversation: Conversation, refused: NodeId | undefined, before: number, most = 5): string {
  const { overlay, annotations } = conversation
  const shown = conversation.steps().filter(({ id, nodes }) => {
    if (annotations?.hiddenBy(id) !== undefined || nodes.at(-1)!.depth >= before) return false
    if (nodes.some((node) => node.id === refused)) return false
    return overlay === undefined || id < overlay.from || id > overlay.to
  })
  return (
    shown
      .slice(-most)
      .map(({ endId }) => formatNodeId(endId))
      .toReversed()
      .join(', ') || 'none'
  )
}

export interface Written {
  readonly text: string
  readonly keepVerbatim?: readonly NodeId[]
}

/** Returns the outcome that applies a plan once it is folded in. `lastNodeId` is the highest id assigned so far. Pure. */
export function applyRevert(
  request: RevertRequest,
  plan: RevertPlan,
  written: Written,
  at: { turnIndex: number; lastNodeId: NodeId },
): AppliedRevert {
  const { target, span, users, evidence, undo } = plan
  const { text, keepVerbatim = [] } = written
  const lastReply = lastReplyOf(request, span, written)
  const tag: Tag = {
    kind: tagKinds[request.category],
    text,
    turnIndex: at.turnIndex,
    abandoned: span.map(({ id }) => id),
    evidence,
    ...(keepVerbatim.length === 0 ? {} : { keepVerbatim: [...keepVerbatim] }),
    ...(lastReply === undefined ? {} : { lastReply: lastReply.id }),
    ...(undo === undefined ? {} : { undo: ledgerOf({ id: request.id, ...undo, steps: [] }) }),
  }
  const rebased = users.map(({ id }, index) => ({ nodeId: at.lastNodeId + 1 + index, from: id }))
  return {
    id: request.id,
    applied: true,
    category: request.category,
    requested: request.step,
    target: target.id,
    tag,
    ...(rebased.length === 0 ? {} : { rebased }),
    ...(undo === undefined ? {} : { undo }),
  }
}

/** Returns the reply to quote beside the text of an outcome or checkpoint, unless the text already contains it. */
function lastReplyOf(
  { category }: RevertRequest,
  span: readonly ConversationNode[],
  { text, keepVerbatim }: Written,
): ConversationNode | undefined {
  if (category !== 'completion' && category !== 'step-summary') return undefined
  const said = ({ message }: ConversationNode): string => textOf(message.content).trim()
  const last = span.findLast(
    (node) => node.message.role === 'assistant' && node.copiedFrom === undefined && said(node) !== '',
  )
  return last === undefined || keepVerbatim?.includes(last.id) || text.includes(said(last)) ? undefined : last
}

/** Returns the outcome of a refused revert. The model reads the reason and the steps that it may name instead. */
export function refuseRevert(
  request: RevertRequest,
  reason: string,
  conversation: Conversation,
  newHead?: ConversationNode,
): RefusedRevert {
  // The head will be where a revert before this one in the same drain put it.
  const before = newHead?.depth ?? conversation.path.length
  return {
    id: request.id,
    applied: false,
    category: request.category,
    requested: request.step,
    reason: `${reason}. Valid targets: ${validTargets(conversation, parseNodeId(request.step), before)}`,
  }
}
