import { RuntimeError } from '../protocol/errors.ts'
import { formatNodeId, type NodeId } from '../protocol/ids.ts'
import { toolCallsOf, type AssistantMessage, type Message } from '../protocol/messages.ts'
import type { LogRecord, Overlay, QueuedMessage, QueueName, RecordOf } from '../protocol/records.ts'
import { estimateTokens, type TokenCounter } from './tokenCounter.ts'
import { activeOverlay, savedTokens, wrongInOverlay } from './overlay.ts'

/** A message in its place in the tree. */
export interface ConversationNode {
  readonly id: NodeId
  readonly parentId: NodeId | null
  readonly message: Message
  readonly loopId: string
  readonly turnIndex: number
  /** Id of the first node of its step. */
  readonly stepId: NodeId
  /** Estimated tokens of this message, and of the whole path from the root to it. */
  readonly tokens: number
  readonly pathTokens: number
  /** Place on its path, the root being 1. */
  readonly depth: number
}

/** A user message, or an assistant message with all its tool results: the smallest unit kept or abandoned. */
export interface Step {
  /** Id of the first node. */
  readonly id: NodeId
  /** Id of the last node: what a target inside the step snaps to. */
  readonly endId: NodeId
  readonly nodes: readonly ConversationNode[]
}

/** An assistant message whose tool results are not all in: not on the trunk yet. */
interface OpenStep {
  readonly reply: RecordOf<'reply.end'>
  readonly callIds: readonly string[]
  readonly results: Map<string, RecordOf<'tool.end'>>
}

/** What may be read of a conversation. Every returned array is the caller's own. */
export interface ConversationView {
  /** The node new messages are appended to; `null` before the first. */
  readonly head: NodeId | null
  /** The path from the root to the head: what the model sees, before compaction. */
  trunk(): ConversationNode[]
  /** Every node ever made, by id. */
  log(): ConversationNode[]
  /** Nodes that left the trunk. */
  abandoned(): ConversationNode[]
  /** The trunk by steps. */
  steps(): Step[]
  node(id: NodeId): ConversationNode | undefined
  /** Estimated tokens of what the trunk shows the model, corrected by what the provider last reported. */
  readonly tokens: number
}

/**
 * The conversation tree: a fold of the log. `apply` is its only way to change; it appends in amortised constant time.
 */
export class Conversation implements ConversationView {
  readonly #counter: TokenCounter
  /** By id; ids of compaction summaries leave holes. */
  readonly #nodes: (ConversationNode | undefined)[] = []
  readonly #trunk: ConversationNode[] = []
  readonly #overlays: (Overlay & { readonly saved: number })[] = []
  readonly #queues: Record<QueueName, QueuedMessage[]> = { steering: [], followUps: [], prompts: [] }
  #callIds: Set<string> | undefined
  #open: OpenStep | undefined
  #lastSeq = 0
  #lastNodeId = 0
  #correction = 1
  #epoch = 0

  constructor(counter: TokenCounter = estimateTokens) {
    this.#counter = counter
  }

  get head(): NodeId | null {
    return this.#trunk.at(-1)?.id ?? null
  }

  /** `seq` of the last record applied. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Highest id given to a node or a summary. */
  get lastNodeId(): NodeId {
    return this.#lastNodeId
  }

  /** Goes up whenever the trunk changes in another way than by growing: rendered prefixes are stale then. */
  get epoch(): number {
    return this.#epoch
  }

  /** Messages that wait, oldest first. */
  get queues(): { readonly [Q in QueueName]: readonly QueuedMessage[] } {
    return this.#queues
  }

  /** Reported over estimated tokens of the last request that a provider measured; 1 before. */
  get correction(): number {
    return this.#correction
  }

  get tokens(): number {
    return Math.round(this.trunkTokens * this.#correction)
  }

  /** Estimated tokens of the trunk as shown, before correction. */
  get trunkTokens(): number {
    return (this.#trunk.at(-1)?.pathTokens ?? 0) - (this.overlay?.saved ?? 0)
  }

  /** The compaction in force: the newest whose span is on the trunk. */
  get overlay(): (Overlay & { readonly saved: number }) | undefined {
    return this.#overlays.length === 0 ? undefined : activeOverlay(this.#overlays, this)
  }

  get counter(): TokenCounter {
    return this.#counter
  }

  trunk(): ConversationNode[] {
    return this.#trunk.slice()
  }

  /** The live trunk, for readers that do not keep it. */
  get path(): readonly ConversationNode[] {
    return this.#trunk
  }

  log(): ConversationNode[] {
    const nodes = this.#nodes.filter((node) => node !== undefined)
    return this.#open === undefined ? nodes : [...nodes, ...this.#openNodes(this.#open)]
  }

  abandoned(): ConversationNode[] {
    return this.#nodes.filter((node) => node !== undefined && !this.onTrunk(node.id)) as ConversationNode[]
  }

  steps(): Step[] {
    const steps: { id: NodeId; endId: NodeId; nodes: ConversationNode[] }[] = []
    for (const node of this.#trunk) {
      const last = steps.at(-1)
      if (last !== undefined && last.id === node.stepId) {
        last.nodes.push(node)
        last.endId = node.id
      } else steps.push({ id: node.id, endId: node.id, nodes: [node] })
    }
    return steps
  }

  node(id: NodeId): ConversationNode | undefined {
    return this.#nodes[id]
  }

  onTrunk(id: NodeId): boolean {
    const node = this.#nodes[id]
    return node !== undefined && this.#trunk[node.depth - 1] === node
  }

  /** Whether any reply so far has used this call id. */
  hasCall(callId: string): boolean {
    return this.#callIds?.has(callId) ?? false
  }

  /**
   * Folds one record in. A record already applied (by `seq`) is ignored.
   *
   * @throws RuntimeError `LOG_CORRUPT` when the record does not follow from the ones before it; nothing changes then.
   */
  apply(record: LogRecord): void {
    if (record.seq <= this.#lastSeq) return
    if (record.seq !== this.#lastSeq + 1) throw corrupt(record, `seq ${this.#lastSeq + 1} is missing`)
    switch (record.type) {
      case 'message.added':
        this.#checkPlace(record, this.head, this.#lastNodeId)
        this.#append(record, record.nodeId)
        break
      case 'reply.end':
        this.#applyReply(record)
        break
      case 'tool.end':
        this.#applyResult(record)
        break
      case 'compaction.end':
        if (record.applied && record.overlay !== undefined) this.#applyOverlay(record, record.overlay)
        break
      case 'queue.changed':
        this.#applyQueue(record)
        break
      default:
    }
    this.#lastSeq = record.seq
  }

  #applyReply(record: RecordOf<'reply.end'>): void {
    this.#checkPlace(record, this.head, this.#lastNodeId)
    const callIds = toolCallsOf(record.message.content).map((call) => call.callId)
    const repeated = callIds.find((callId, index) => this.hasCall(callId) || callIds.indexOf(callId) !== index)
    if (repeated !== undefined) throw corrupt(record, `call ${repeated} was made before`)
    this.#correct(record.message, record.estimatedTokens)
    if (callIds.length === 0) {
      this.#append(record, record.nodeId)
      return
    }
    this.#callIds ??= new Set()
    for (const callId of callIds) this.#callIds.add(callId)
    this.#open = { reply: record, callIds, results: new Map() }
    this.#lastNodeId = record.nodeId + callIds.length
  }

  #applyResult(record: RecordOf<'tool.end'>): void {
    const open = this.#open
    const index = open?.callIds.indexOf(record.callId) ?? -1
    if (open === undefined || index < 0) throw corrupt(record, `call ${record.callId} is not open`)
    if (record.message.callId !== record.callId) throw corrupt(record, `its message answers ${record.message.callId}`)
    if (open.results.has(record.callId)) throw corrupt(record, `call ${record.callId} has a result already`)
    const nodeId = open.reply.nodeId + 1 + index
    if (record.nodeId !== nodeId || record.parentId !== nodeId - 1) {
      throw corrupt(record, `its place must be ${formatNodeId(nodeId)} after ${formatNodeId(nodeId - 1)}`)
    }
    open.results.set(record.callId, record)
    if (open.results.size < open.callIds.length) return
    this.#open = undefined
    this.#append(open.reply, open.reply.nodeId)
    for (const callId of open.callIds) this.#append(open.results.get(callId)!, open.reply.nodeId)
  }

  #applyOverlay(record: LogRecord, overlay: Overlay): void {
    if (this.#open !== undefined) throw corrupt(record, 'a step is still open')
    if (overlay.nodeId <= this.#lastNodeId) throw corrupt(record, `${formatNodeId(overlay.nodeId)} is taken`)
    const wrong = wrongInOverlay(overlay, this)
    if (wrong !== undefined) throw corrupt(record, wrong)
    this.#overlays.push({ ...overlay, saved: savedTokens(overlay, this) })
    this.#lastNodeId = overlay.nodeId
    this.#epoch += 1
  }

  #applyQueue(record: RecordOf<'queue.changed'>): void {
    const queue = this.#queues[record.queue]
    if (record.removed !== undefined) {
      const removed = new Set(record.removed)
      this.#queues[record.queue] = queue.filter((message) => !removed.has(message.id))
    }
    if (record.added === undefined) return
    if (record.first) this.#queues[record.queue].unshift(record.added)
    else this.#queues[record.queue].push(record.added)
  }

  #checkPlace(
    record: { nodeId: NodeId; parentId: NodeId | null } & LogRecord,
    head: NodeId | null,
    last: NodeId,
  ): void {
    if (this.#open !== undefined) throw corrupt(record, 'a step is still open')
    if (record.nodeId <= last) throw corrupt(record, `${formatNodeId(record.nodeId)} is taken`)
    if (record.parentId !== head)
      throw corrupt(record, `its parent must be the head, ${head === null ? 'none' : formatNodeId(head)}`)
  }

  #append(record: RecordOf<'message.added' | 'reply.end' | 'tool.end'>, stepId: NodeId): void {
    const node = makeNode(record, stepId, this.#trunk.at(-1), this.#counter)
    this.#nodes[node.id] = node
    this.#trunk.push(node)
    if (node.id > this.#lastNodeId) this.#lastNodeId = node.id
  }

  #openNodes(open: OpenStep): ConversationNode[] {
    const nodes: ConversationNode[] = []
    for (const record of [open.reply, ...open.callIds.flatMap((id) => open.results.get(id) ?? [])]) {
      nodes.push(makeNode(record, open.reply.nodeId, nodes.at(-1) ?? this.#trunk.at(-1), this.#counter))
    }
    return nodes
  }

  #correct(message: AssistantMessage, estimated: number): void {
    const { input, cacheRead, cacheWrite } = message.usage
    const reported = input + cacheRead + cacheWrite
    // A mock that reports one token must not switch compaction off, so the correction stays within reason.
    if (reported > 0 && estimated > 0) this.#correction = Math.min(4, Math.max(0.25, reported / estimated))
  }
}

function makeNode(
  record: RecordOf<'message.added' | 'reply.end' | 'tool.end'>,
  stepId: NodeId,
  parent: ConversationNode | undefined,
  counter: TokenCounter,
): ConversationNode {
  const tokens = counter.message(record.message)
  return {
    id: record.nodeId,
    parentId: record.parentId,
    message: record.message,
    loopId: record.loopId,
    turnIndex: record.turnIndex,
    stepId,
    tokens,
    pathTokens: (parent?.pathTokens ?? 0) + tokens,
    depth: (parent?.depth ?? 0) + 1,
  }
}

const corrupt = (record: LogRecord, what: string): RuntimeError =>
  new RuntimeError('LOG_CORRUPT', `Record ${record.seq} (${record.type}) does not follow from the log: ${what}.`)
