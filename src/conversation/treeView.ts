import type { NodeId } from '../protocol/ids.ts'
import { ConversationTree, type KeptTree, type NodeReader } from './conversationTree.ts'
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

  /** The last id that came with a file of somebody else; 0: none did. */
  get foreignTo(): NodeId {
    return this.tree.foreignTo
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

  /** How many nodes the trunk has. */
  get trunkLength(): number {
    return this.tree.length
  }

  /** The node of the trunk at this index, which is its depth less one: where a long past is not looked at, it is not read. */
  trunkAt(index: number): ConversationNode | undefined {
    return this.tree.at(index)
  }

  steps(): Step[] {
    return stepsOf(this.tree.path)
  }

  node(id: NodeId): ConversationNode | undefined {
    return this.tree.node(id)
  }

  /** Where a node stands on the trunk, which is not read for it; 0: it is not there. */
  depthOf(id: NodeId): number {
    return this.tree.depthOf(id)
  }

  /** Where nodes are read that were kept. */
  get kept(): NodeReader | undefined {
    return this.tree.kept
  }

  /** Whether a node is no longer as it was kept. */
  hasChanged(id: NodeId): boolean {
    return this.tree.hasChanged(id)
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
