import type { Tag } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { ConversationNode, Step } from './node.ts'
import type { TreeState } from '../parts/state/treeState.ts'

/** A read-only view of a conversation. Every returned array belongs to the caller. */
export interface ConversationView {
  /** Id of the node that new messages are appended to; `null` before the first. */
  readonly head: NodeId | null
  /** Returns the path from the root to the head: the messages that the model sees, before compaction. */
  trunk(): ConversationNode[]
  /** Returns every node ever created, by id. */
  log(): ConversationNode[]
  abandoned(): ConversationNode[]
  /** Returns the trunk, grouped into steps. */
  steps(): Step[]
  node(id: NodeId): ConversationNode | undefined
  /** The state of the agent on the tree; `undefined` until it is first changed. */
  readonly state: Pick<TreeState, 'value' | 'version' | 'valueAt' | 'at' | 'changesOf'> | undefined
  /** Estimated tokens of the trunk as the model sees it, corrected by the provider's last report. */
  readonly tokens: number
  /** Returns the tags on the trunk, oldest first. */
  tags(): { nodeId: NodeId; tag: Tag }[]
  /** Returns the pinned steps, by the id of their first node, and the pinned summaries; all are on the trunk. */
  pins(): NodeId[]
  /** Returns the masked steps of the trunk, by the id of their first node. The model sees their calls, but not the content of their results. */
  masks(): NodeId[]
}
