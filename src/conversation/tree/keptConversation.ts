import type { Tag } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { KeptAnnotations } from './annotations.ts'
import type { KeptTree } from './conversationTree.ts'
import type { OverlaySpan } from '../request/overlay.ts'
import type { Measured } from '../limits/tokenCounter.ts'
import type { NoteTokens } from '../request/noteTokens.ts'
import type { KeptOpenStep } from './node.ts'
import type { KeptWaiting } from './waitingMessages.ts'
import type { KeptState } from '../parts/state/treeState.ts'

/**
 * Stored form of a conversation as plain JSON, without its nodes and overlays, so that a later process need not fold its log again. A change to a
 * class that is stored here also needs a change to the runtime's `checkpointForm`.
 */
export interface KeptConversation {
  readonly lastSeq: number
  readonly measured: Measured
  readonly ownFrom: NodeId
  readonly notes: NoteTokens
  readonly repair?: string | undefined
  /** Positions of the overlays. Their contents are stored with the nodes. */
  readonly overlays: readonly OverlaySpan[]
  /** The active summary at the last change. */
  readonly shown?: NodeId | undefined
  readonly waiting?: KeptWaiting | undefined
  readonly annotations?: KeptAnnotations | undefined
  readonly open?: KeptOpenStep | undefined
  readonly state?: KeptState | undefined
  /** The revert that is being undone, and the position of its tag. */
  readonly undone?: { readonly id: string; readonly tagged: number } | undefined
  readonly tree: Omit<KeptTree, 'nodes'>
}

const none: readonly never[] = Object.freeze([])

/** Returns a function that gives the tags of each node of a stored conversation: the same objects that its annotations have. */
export function tagsIn({ annotations }: KeptConversation): (id: NodeId) => readonly Tag[] {
  const tags = new Map<NodeId, Tag[]>()
  for (const { nodeId, tag } of annotations?.tagged ?? none) tags.set(nodeId, [...(tags.get(nodeId) ?? none), tag])
  return (id) => tags.get(id) ?? none
}
