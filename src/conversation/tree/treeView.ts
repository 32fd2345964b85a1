import type { NodeId } from '../../protocol/ids.ts'
import { ConversationTree, type KeptTree, type NodeReader } from './conversationTree.ts'
import { stepsOf, type ConversationNode, type Step } from './node.ts'
import type { Tag } from '../../protocol/braking.ts'

/** The readable part of a tree of messages. */
export abstract class TreeView {
  readonly tree: ConversationTree

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

  /** The last imported id; 0 if there is none. */
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

  /** Number of nodes on the trunk. */
  get trunkLength(): number {
    return this.tree.length
  }

  /** Returns the node of the trunk at this index, which is its depth minus one. Other parts of a long past are not read. */
  trunkAt(index: number): ConversationNode | undefined {
    return this.tree.at(index)
  }

  steps(): Step[] {
    return stepsOf(this.tree.path)
  }

  node(id: NodeId): ConversationNode | undefined {
    return this.tree.node(id)
  }

  /** Returns the depth of a node on the trunk without reading it; 0 if it is not there. */
  depthOf(id: NodeId): number {
    return this.tree.depthOf(id)
  }

  /** The source from which stored nodes are read. */
  get kept(): NodeReader | undefined {
    return this.tree.kept
  }

  /** Returns true if a node has changed since it was stored. */
  hasChanged(id: NodeId): boolean {
    return this.tree.hasChanged(id)
  }

  /** The last node of the step to which a node belongs. */
  stepEnd(node: ConversationNode): ConversationNode {
    return this.tree.stepEnd(node)
  }

  onTrunk(id: NodeId): boolean {
    return this.tree.onTrunk(id)
  }

  /** Returns true if a reply so far has used this call id. */
  hasCall(callId: string): boolean {
    return this.tree.hasCall(callId)
  }
}
