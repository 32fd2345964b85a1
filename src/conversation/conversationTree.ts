import type { NodeId } from '../protocol/ids.ts'
import type { RecordOf } from '../protocol/records.ts'
import { makeNode, repeatNode, type CallMarks, type ConversationNode } from './node.ts'
import type { TokenCounter } from './tokenCounter.ts'

/** The nodes of a conversation, and which of them are its trunk. */
export class ConversationTree {
  /** By id; ids of compaction summaries leave holes. */
  readonly #nodes: (ConversationNode | undefined)[] = []
  readonly #trunk: ConversationNode[] = []
  #callIds: Set<string> | undefined
  /** Highest id given to a node or a summary. */
  lastNodeId: NodeId = 0

  /** The live trunk, for readers that do not keep it. */
  get path(): readonly ConversationNode[] {
    return this.#trunk
  }

  get head(): ConversationNode | undefined {
    return this.#trunk.at(-1)
  }

  node(id: NodeId): ConversationNode | undefined {
    return this.#nodes[id]
  }

  /** By id. */
  all(): ConversationNode[] {
    return this.#nodes.filter((node) => node !== undefined)
  }

  onTrunk(id: NodeId): boolean {
    const node = this.#nodes[id]
    return node !== undefined && this.#trunk[node.depth - 1] === node
  }

  /** The last node of the step a node belongs to. */
  stepEnd(node: ConversationNode): ConversationNode {
    let end = node
    for (let next = this.#nodes[node.id + 1]; next?.stepId === node.stepId; next = this.#nodes[next.id + 1]) end = next
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
    this.#push(repeatNode(this.#nodes[id]!, nodeId, this.head!))
  }

  /** Whether any reply so far has used this call id, or a copy of one. */
  hasCall(callId: string): boolean {
    return this.#callIds?.has(callId) ?? false
  }

  addCalls(callIds: readonly string[]): void {
    this.#callIds ??= new Set()
    for (const callId of callIds) this.#callIds.add(callId)
  }

  /** Appends copies of nodes, whose calls have ids of their own. */
  add(copies: readonly ConversationNode[]): void {
    this.addCalls(copies.flatMap(({ message }) => (message.role === 'toolResult' ? [message.callId] : [])))
    for (const copy of copies) this.#push(copy)
  }

  /** Changes the messages of nodes of the trunk; returns the depth of the first. */
  change(ids: readonly NodeId[], counter: TokenCounter, change: (node: ConversationNode) => ConversationNode): number {
    const first = this.#trunk.findIndex(({ id }) => ids.includes(id))
    if (first < 0) return Infinity
    for (let at = first; at < this.#trunk.length; at++) {
      const node = this.#trunk[at]!
      const changed = ids.includes(node.id) ? change(node) : node
      const tokens = changed === node ? node.tokens : counter.message(changed.message)
      const before = this.#trunk[at - 1]?.pathTokens ?? 0
      this.#trunk[at] = this.#nodes[node.id] = { ...changed, tokens, pathTokens: before + tokens }
    }
    return first + 1
  }

  /** Takes what is below a depth off the trunk. */
  cut(depth: number): void {
    this.#trunk.length = depth
  }

  #push(node: ConversationNode): void {
    this.#nodes[node.id] = node
    this.#trunk.push(node)
    if (node.id > this.lastNodeId) this.lastNodeId = node.id
  }
}
