import type { NodeId } from '../protocol/ids.ts'
import { ConversationTree, type KeptTree } from './conversationTree.ts'
import { stepsOf, type ConversationNode, type Step } from './node.ts'
import type { Tag } from '../protocol/braking.ts'

/** What can be read of a tree of messages. */
export abstract class TreeView {
  protected readonly tree: ConversationTree

  constructor(kept?: KeptTree, tagsOf?: (id: NodeId) => readonly Tag[]) {
    this.tree = new ConversationTree(kept, tagsOf)
  }

  get head(): NodeId | null {
    return this.tree.headId
  }

  /** Highest id given to a node or a summary. */
  get lastNodeId(): NodeId {
    return this.tree.lastNodeId
  }

  trunk(): ConversationNode[] {
    return this.tree.path.slice()
  }

  /** The live trunk, for readers that do not keep it. */
  get path(): readonly ConversationNode[] {
    return this.tree.path
  }

  abandoned(): ConversationNode[] {
    return this.tree.all().filter(({ id }) => !this.onTrunk(id))
  }

  steps(): Step[] {
    return stepsOf(this.tree.path)
  }

  node(id: NodeId): ConversationNode | undefined {
    return this.tree.node(id)
  }

  /** The last node of the step a node belongs to. */
  stepEnd(node: ConversationNode): ConversationNode {
    return this.tree.stepEnd(node)
  }

  onTrunk(id: NodeId): boolean {
    return this.tree.onTrunk(id)
  }

  /** Whether any reply so far has used this call id. */
  hasCall(callId: string): boolean {
    return this.tree.hasCall(callId)
  }
}
