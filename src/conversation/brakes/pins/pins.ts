import type { PinOutcome, PinRequest } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import { formatNodeId, parseNodeId } from '../../../protocol/text/nodeIds.ts'
import type { Overlay } from '../../../protocol/records.ts'
import { cutEnd } from '../../../protocol/text/cutMiddle.ts'
import type { ConversationNode } from '../../tree/node.ts'

/** The part of a conversation that decides about pins. */
export interface PinSubject {
  readonly overlay: Overlay | undefined
  readonly annotations:
    | {
        readonly pinned: ReadonlySet<NodeId>
        readonly yielding: ReadonlySet<NodeId>
        readonly masked: { has(stepId: NodeId): boolean }
        hiddenBy(stepId: NodeId): unknown
      }
    | undefined
  node(id: NodeId): ConversationNode | undefined
  stepEnd(node: ConversationNode): ConversationNode
  onTrunk(id: NodeId): boolean
}

/**
 * Decides about a pin: the step that it names, and whether that step can be kept visible to the model. `decided` holds the changes by earlier
 * requests of the same drain. Pure.
 */
export function decidePin(
  conversation: PinSubject,
  { id, by, step: requested, pinned }: PinRequest,
  decided: ReadonlyMap<NodeId, boolean> = new Map(),
): PinOutcome {
  const outcome = { id, requested, pinned }
  const refuse = (what: string): PinOutcome => ({
    ...outcome,
    applied: false,
    reason: `${pinned ? 'pin' : 'unpin'} refused: ${what}`,
  })
  const nodeId = parseNodeId(requested)
  if (nodeId === undefined) return refuse(`${JSON.stringify(cutEnd(requested, 40))} not found`)
  const name = formatNodeId(nodeId)
  const step = conversation.overlay?.nodeId === nodeId ? nodeId : conversation.node(nodeId)?.stepId
  if (step === undefined) return refuse(`${name} not found`)
  const isPinned = decided.get(step) ?? conversation.annotations?.pinned.has(step) ?? false
  // A person may pin for good a step that a tool pinned.
  const isRaised = pinned && by === 'person' && conversation.annotations?.yielding.has(step) === true
  if (pinned === isPinned && !isRaised) return refuse(pinned ? `${name} is pinned already` : `${name} is not pinned`)
  const why = pinned ? whyNotPinned(conversation, step) : undefined
  return why === undefined ? { ...outcome, applied: true, step } : refuse(`${name} ${why}`)
}

/** Returns the reason why a step cannot be pinned; `undefined` if it can. */
function whyNotPinned(conversation: PinSubject, step: NodeId): string | undefined {
  const { overlay, annotations } = conversation
  if (overlay?.nodeId === step) return undefined
  if (!conversation.onTrunk(step)) return 'is not on the current trunk'
  if (overlay !== undefined && step >= overlay.from && step <= overlay.to && !overlay.kept.includes(step))
    return `was compacted; the summary is ${formatNodeId(overlay.nodeId)}`
  if (annotations?.masked.has(step) === true) return 'has its output hidden already'
  return annotations?.hiddenBy(step) === undefined ? undefined : 'is hidden already'
}

/** Returns the reason why a pin's outcome does not follow from the conversation; `undefined` if it does. */
export function wrongInPin({ applied, step = 0, ...pin }: PinOutcome, conversation: PinSubject): string | undefined {
  return applied ? decidePin(conversation, { ...pin, by: 'person', step: formatNodeId(step) }).reason : undefined
}

/**
 * Returns the first pinned step in a part of the trunk that a revert may not abandon, by the id that the model sees. A summary belongs to the part
 * that it covers.
 */
export function pinnedWithin(conversation: PinSubject, span: readonly ConversationNode[]): NodeId | undefined {
  const { overlay, annotations } = conversation
  if (annotations === undefined || annotations.pinned.size === 0) return undefined
  for (const node of span) {
    if (overlay?.from === node.id && annotations.pinned.has(overlay.nodeId)) return overlay.nodeId
    if (annotations.pinned.has(node.id) && !annotations.yielding.has(node.id)) return conversation.stepEnd(node).id
  }
  return undefined
}
