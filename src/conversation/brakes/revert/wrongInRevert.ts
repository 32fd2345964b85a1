import type { RecordOf } from '../../../protocol/records.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import { formatNodeId } from '../../../protocol/text/nodeIds.ts'
import type { ConversationNode } from '../../tree/node.ts'
import { pinnedWithin, type PinSubject } from '../pins/pins.ts'

/** Returns the reason why an applied revert does not follow from the trunk; `undefined` if it does. */
export function wrongInRevert(
  record: RecordOf<'revert.applied'>,
  target: ConversationNode,
  conversation: PinSubject & { readonly path: readonly ConversationNode[]; readonly lastNodeId: NodeId },
): string | undefined {
  const { tag, rebased = [] } = record
  const span = conversation.path.slice(target.depth)
  if (span[0]?.stepId === target.stepId) return 'its target is in the middle of a step'
  if (tag !== undefined && tag.abandoned.join() !== span.map(({ id }) => id).join())
    return 'its tag does not name the nodes that it takes off the trunk'
  const pinned = pinnedWithin(conversation, span)
  if (pinned !== undefined) return `it takes ${formatNodeId(pinned)} off the trunk, which is pinned`
  const users = span.filter((node) => node.message.role === 'user')
  if (users.map(({ id }) => id).join() !== rebased.map(({ from }) => from).join()) {
    return 'it does not keep the user messages of its span'
  }
  return rebased.every(({ nodeId }, index) => nodeId === conversation.lastNodeId + 1 + index)
    ? undefined
    : 'its ids are not the next'
}
