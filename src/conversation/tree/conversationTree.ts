import type { Tag } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import { KnownIds, type KeptIds } from '../../log/fold.ts'
import type { RecordOf } from '../../protocol/records.ts'
import type { OverlayReader } from '../request/overlay.ts'
import { makeNode, repeatNode, type CallMarks, type ConversationNode, stepsOf, type Step } from './node.ts'
import type { TokenCounter } from '../limits/tokenCounter.ts'

export interface NodeReader extends OverlayReader {
  /** The highest possible id. */
  readonly last: NodeId
  /** Returns a copy of a node with these tags. */
  take(id: NodeId, tags: readonly Tag[]): ConversationNode | undefined
}

/** Stored form of a tree. Its nodes are read on demand. */
export interface KeptTree {
  readonly lastNodeId: NodeId
  readonly foreignTo: NodeId
  /** Range of consecutive ids. */
  readonly trunk: readonly (readonly [NodeId, NodeId])[]
  readonly callIds: KeptIds
  readonly nodes: NodeReader
}

/** The nodes of a conversation, and which of them are its trunk. */
export class ConversationTree {
  /** Nodes by id. Ids of compaction summaries leave holes, and so do stored nodes that were not read yet. */
  readonly #nodes: (ConversationNode | undefined)[] = []
  /** Nodes of the trunk. An id stands for a stored node until the whole trunk is requested. */
  readonly #trunk: (ConversationNode | NodeId)[]
  #isRead: boolean
  /** Ids of calls so far; missing until there is one. */
  #callIds: KnownIds | undefined
  readonly #kept: KeptTree | undefined
  /** Nodes that differ from their stored form. */
  #changed: Set<NodeId> | undefined
  readonly #tagsOf: (id: NodeId) => readonly Tag[]
  /** Highest id given to a node or a summary. */
  lastNodeId: NodeId
  /** The last imported id; 0 if there is none. */
  foreignTo: NodeId

  /** `tagsOf`: returns the tags of a stored node. */
  constructor(kept?: KeptTree, tagsOf: (id: NodeId) => readonly Tag[] = noTags) {
    this.#kept = kept
    if (kept !== undefined) makeRoom(this.#nodes, kept.lastNodeId)
    this.#trunk = idsIn(kept?.trunk ?? nobody)
    this.#isRead = this.#trunk.length === 0
    if (kept !== undefined) this.#callIds = new KnownIds(kept.callIds)
    this.lastNodeId = kept?.lastNodeId ?? 0
    this.foreignTo = kept?.foreignTo ?? 0
    this.#tagsOf = tagsOf
  }

  /** The live trunk, for readers that do not keep it. */
  get path(): readonly ConversationNode[] {
    return this.#path
  }

  get #path(): ConversationNode[] {
    if (!this.#isRead) for (let index = this.#trunk.length - 1; index >= 0; index -= 1) this.at(index)
    this.#isRead = true
    return this.#trunk as ConversationNode[]
  }

  get length(): number {
    return this.#trunk.length
  }

  /** Returns the node of the trunk at this index, which is its depth minus one. No other nodes are read. */
  at(index: number): ConversationNode | undefined {
    const there = this.#trunk[index]
    return typeof there === 'number' ? (this.#trunk[index] = this.node(there)!) : there
  }

  get head(): ConversationNode | undefined {
    return this.at(this.#trunk.length - 1)
  }

  get headId(): NodeId | null {
    const last = this.#trunk.at(-1)
    return last === undefined ? null : idOf(last)
  }

  node(id: NodeId): ConversationNode | undefined {
    return this.#nodes[id] ?? this.#read(id)
  }

  #read(id: NodeId): ConversationNode | undefined {
    const node = this.#kept?.nodes.take(id, this.#tagsOf(id))
    if (node !== undefined) this.#nodes[id] = node
    return node
  }

  /** Returns the nodes in the order of their ids. */
  all(): ConversationNode[] {
    for (let id = this.#kept?.nodes.last ?? 0; id > 0; id -= 1) this.node(id)
    return this.#nodes.filter((node) => node !== undefined)
  }

  onTrunk(id: NodeId): boolean {
    if (!this.#isRead) return this.depthOf(id) > 0
    // One that was not asked for is not on the trunk.
    const node = this.#nodes[id]
    return node !== undefined && this.#trunk[node.depth - 1] === node
  }

  /** Returns the depth of a node on the trunk without reading it; 0 if it is not there. */
  depthOf(id: NodeId): number {
    let from = 0
    let to = this.#trunk.length
    while (from < to) {
      const middle = (from + to) >>> 1
      if (idOf(this.#trunk[middle]!) < id) from = middle + 1
      else to = middle
    }
    const found = this.#trunk[from]
    return found !== undefined && idOf(found) === id ? from + 1 : 0
  }

  stepEnd(node: ConversationNode): ConversationNode {
    let end = node
    for (let next = this.node(node.id + 1); next?.stepId === node.stepId; next = this.node(next.id + 1)) end = next
    return end
  }

  append(
    record: RecordOf<'message.added' | 'reply.end' | 'tool.end'>,
    stepId: NodeId,
    counter: TokenCounter,
    marks?: Partial<CallMarks>,
  ): void {
    this.#push(makeNode(record, stepId, this.head, counter, marks))
  }

  /** Appends a user message again that a revert would have removed. */
  repeat(id: NodeId, nodeId: NodeId): void {
    this.#push(repeatNode(this.node(id)!, nodeId, this.head!))
  }

  /** Returns true if a reply so far, or a copy of one, has used this call id. */
  hasCall(callId: string): boolean {
    return this.#callIds?.has(callId) === true
  }

  addCalls(callIds: readonly string[]): void {
    for (const callId of callIds) (this.#callIds ??= new KnownIds()).add(callId)
  }

  /** Appends copies of nodes. Their calls have new ids. */
  add(copies: readonly ConversationNode[]): void {
    this.addCalls(copies.flatMap(({ message }) => (message.role === 'toolResult' ? [message.callId] : [])))
    for (const copy of copies) this.#push(copy)
  }

  /** Changes the messages of nodes of the trunk. Returns the depth of the first. */
  change(ids: readonly NodeId[], counter: TokenCounter, change: (node: ConversationNode) => ConversationNode): number {
    const trunk = this.#path
    const first = trunk.findIndex(({ id }) => ids.includes(id))
    if (first < 0) return Infinity
    for (let at = first; at < trunk.length; at++) {
      const node = trunk[at]!
      const changed = ids.includes(node.id) ? change(node) : node
      const tokens = changed === node ? node.tokens : counter.message(changed.message)
      const before = trunk[at - 1]?.pathTokens ?? 0
      trunk[at] = this.#nodes[node.id] = { ...changed, tokens, pathTokens: before + tokens }
      this.touch(node.id)
    }
    return first + 1
  }

  /** Notes that a node has changed, other than by a tag. */
  touch(id: NodeId): void {
    if (this.#kept === undefined) return
    this.#changed ??= new Set()
    this.#changed.add(id)
  }

  /** Removes the nodes below a depth from the trunk. */
  cut(depth: number): void {
    this.#trunk.length = depth
  }

  /** Returns the stored form of the tree, without its nodes. */
  keep(): Omit<KeptTree, 'nodes'> {
    return {
      lastNodeId: this.lastNodeId,
      foreignTo: this.foreignTo,
      trunk: spansOf(this.#trunk),
      callIds: (this.#callIds ?? new KnownIds()).keep(),
    }
  }

  /** The source from which stored nodes are read. */
  get kept(): NodeReader | undefined {
    return this.#kept?.nodes
  }

  /** Returns true if a node has changed since it was stored. */
  hasChanged(id: NodeId): boolean {
    return this.#changed?.has(id) === true
  }

  #push(node: ConversationNode): void {
    this.#trunk.push(node)
    this.#nodes[node.id] = node
    if (node.id > this.lastNodeId) this.lastNodeId = node.id
  }
}

const nobody: readonly never[] = Object.freeze([])
const noTags = (): readonly never[] => nobody

/** Reserves room for nodes up to an id, because an array that grows by leaps stays slow. */
function makeRoom(nodes: (ConversationNode | undefined)[], last: NodeId): void {
  while (nodes.length <= last) nodes.push(undefined)
}

const idOf = (there: ConversationNode | NodeId): NodeId => (typeof there === 'number' ? there : there.id)

/** Returns the spans of consecutive ids of a trunk, in ascending order. */
function spansOf(trunk: readonly (ConversationNode | NodeId)[]): [NodeId, NodeId][] {
  const spans: [NodeId, NodeId][] = []
  for (const there of trunk) {
    const id = idOf(there)
    const last = spans.at(-1)
    if (last?.[1] === id - 1) last[1] = id
    else spans.push([id, id])
  }
  return spans
}

function idsIn(spans: readonly (readonly [NodeId, NodeId])[]): NodeId[] {
  const ids: NodeId[] = []
  for (const [from, to] of spans) for (let id = from; id <= to; id += 1) ids.push(id)
  return ids
}

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
