import type { Tag } from '../protocol/braking.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { RecordOf } from '../protocol/records.ts'
import type { KeptNodes } from './keptNodes.ts'
import { makeNode, repeatNode, type CallMarks, type ConversationNode } from './node.ts'
import type { TokenCounter } from './tokenCounter.ts'

/** A tree as it is kept; its nodes are read when they are asked for. */
export interface KeptTree {
  readonly lastNodeId: NodeId
  readonly trunk: readonly NodeId[]
  readonly callIds: readonly string[]
  readonly nodes: KeptNodes
}

/** The nodes of a conversation, and which of them are its trunk. */
export class ConversationTree {
  /** By id; ids of compaction summaries leave holes, and so do nodes that are kept and were not asked for. */
  readonly #nodes: (ConversationNode | undefined)[] = []
  readonly #trunk: ConversationNode[] = []
  #callIds: Set<string> | undefined
  readonly #kept: KeptTree | undefined
  /** Ids of the trunk as it is kept, until somebody asks for the trunk. */
  #unread: readonly NodeId[]
  /** Ids of the calls that are kept, until somebody asks for one. */
  #unreadCalls: readonly string[]
  /** Nodes that are no longer as they are kept. */
  readonly #changed = new Set<NodeId>()
  readonly #tagsOf: (id: NodeId) => readonly Tag[]
  /** Highest id given to a node or a summary. */
  lastNodeId: NodeId

  /** `tagsOf`: the tags of a node that is kept. */
  constructor(kept?: KeptTree, tagsOf: (id: NodeId) => readonly Tag[] = () => nobody) {
    this.#kept = kept
    this.#unread = kept?.trunk ?? nobody
    this.#unreadCalls = kept?.callIds ?? nobody
    this.lastNodeId = kept?.lastNodeId ?? 0
    this.#tagsOf = tagsOf
  }

  /** The live trunk, for readers that do not keep it. */
  get path(): readonly ConversationNode[] {
    return this.#path
  }

  get #path(): ConversationNode[] {
    if (this.#unread.length > 0) {
      for (const id of this.#unread) this.#trunk.push(this.node(id)!)
      this.#unread = nobody
    }
    return this.#trunk
  }

  get head(): ConversationNode | undefined {
    const id = this.#unread.at(-1)
    return id === undefined ? this.#trunk.at(-1) : this.node(id)
  }

  get headId(): NodeId | null {
    return this.#unread.at(-1) ?? this.#trunk.at(-1)?.id ?? null
  }

  node(id: NodeId): ConversationNode | undefined {
    return this.#nodes[id] ?? this.#read(id)
  }

  #read(id: NodeId): ConversationNode | undefined {
    const kept = this.#kept?.nodes.read(id)
    return kept === undefined ? undefined : (this.#nodes[id] = { ...kept, tags: this.#tagsOf(id) })
  }

  /** By id. */
  all(): ConversationNode[] {
    for (let id = this.#kept?.nodes.last ?? 0; id > 0; id -= 1) this.node(id)
    return this.#nodes.filter((node) => node !== undefined)
  }

  onTrunk(id: NodeId): boolean {
    if (this.#unread.length > 0) return hasSorted(this.#unread, id)
    // One that was not asked for is not on the trunk.
    const node = this.#nodes[id]
    return node !== undefined && this.#trunk[node.depth - 1] === node
  }

  /** The last node of the step a node belongs to. */
  stepEnd(node: ConversationNode): ConversationNode {
    let end = node
    for (let next = this.node(node.id + 1); next?.stepId === node.stepId; next = this.node(next.id + 1)) end = next
    return end
  }

  append(
    record: RecordOf<'message.added' | 'reply.end' | 'tool.end'>,
    stepId: NodeId,
    counter: TokenCounter,
    marks?: CallMarks,
  ): void {
    this.#push(makeNode(record, stepId, this.head, counter, marks))
  }

  /** Appends a user message again that a revert would have taken off the trunk. */
  repeat(id: NodeId, nodeId: NodeId): void {
    this.#push(repeatNode(this.node(id)!, nodeId, this.head!))
  }

  /** Whether any reply so far has used this call id, or a copy of one. */
  hasCall(callId: string): boolean {
    return this.#calls?.has(callId) ?? false
  }

  get #calls(): Set<string> | undefined {
    if (this.#unreadCalls.length > 0) {
      this.#callIds = new Set(this.#unreadCalls)
      this.#unreadCalls = nobody
    }
    return this.#callIds
  }

  addCalls(callIds: readonly string[]): void {
    const calls = (this.#callIds = this.#calls ?? new Set())
    for (const callId of callIds) calls.add(callId)
  }

  /** Appends copies of nodes, whose calls have ids of their own. */
  add(copies: readonly ConversationNode[]): void {
    this.addCalls(copies.flatMap(({ message }) => (message.role === 'toolResult' ? [message.callId] : [])))
    for (const copy of copies) this.#push(copy)
  }

  /** Changes the messages of nodes of the trunk; returns the depth of the first. */
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

  /** Notes that a node has changed in another way than by a tag. */
  touch(id: NodeId): void {
    if (this.#kept !== undefined) this.#changed.add(id)
  }

  /** Takes what is below a depth off the trunk. */
  cut(depth: number): void {
    this.#path.length = depth
  }

  /** All of it but the nodes, as it is kept. */
  keep(): Omit<KeptTree, 'nodes'> {
    return {
      lastNodeId: this.lastNodeId,
      trunk: this.#unread.length > 0 ? this.#unread : this.#trunk.map(({ id }) => id),
      callIds: this.#unreadCalls.length > 0 ? this.#unreadCalls : [...(this.#callIds ?? nobody)],
    }
  }

  /** A node, or its bytes where it is as it was kept. */
  asKept(id: NodeId): ConversationNode | Uint8Array | undefined {
    return (this.#changed.has(id) ? undefined : this.#kept?.nodes.bytesOf(id)) ?? this.#nodes[id]
  }

  #push(node: ConversationNode): void {
    this.#path.push(node)
    this.#nodes[node.id] = node
    if (node.id > this.lastNodeId) this.lastNodeId = node.id
  }
}

const nobody: readonly never[] = Object.freeze([])

/** Whether a list of growing numbers has one. */
function hasSorted(sorted: readonly number[], wanted: number): boolean {
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (sorted[middle]! < wanted) from = middle + 1
    else to = middle
  }
  return sorted[from] === wanted
}
