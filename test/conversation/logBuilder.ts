import { noUsage, type Block, type PlainBlock, type Usage, type UserSource } from '../../src/protocol/messages.ts'
import type { QueuedMessage, QueueName } from '../../src/protocol/runs/queue.ts'
import type { LogRecord, Overlay, RecordOf } from '../../src/protocol/records.ts'

export const text = (value: string): PlainBlock[] => [{ type: 'text', text: value }]
export const toolCall = (callId: string, input: unknown = {}): Block => ({
  type: 'toolCall',
  callId,
  name: 'tool',
  input,
})

interface ReplyOptions {
  readonly usage?: Partial<Usage>
  readonly estimatedTokens?: number
  readonly stopReason?: 'stop' | 'length' | 'toolUse' | 'refusal' | 'aborted'
}

/** Writes a log by hand, the way the machine would: places and numbers come by themselves. */
export class LogBuilder {
  readonly records: LogRecord[] = []
  turnIndex = 0
  #lastNodeId = 0
  #head: number | null = null
  #open: { readonly replyId: number; readonly callIds: readonly string[]; left: number } | undefined

  get head(): number | null {
    return this.#head
  }

  get lastNodeId(): number {
    return this.#lastNodeId
  }

  user(content: string | readonly PlainBlock[], source: UserSource = 'prompt'): number {
    const message = { role: 'user', content: typeof content === 'string' ? text(content) : content, source } as const
    const place = this.#place()
    this.#push({ type: 'message.added', ...place, message })
    return place.nodeId
  }

  /** A reply; with calls it stays open until `result` has been called for each. */
  reply(content: string | readonly Block[], options: ReplyOptions = {}): number {
    const blocks = typeof content === 'string' ? text(content) : content
    const callIds = blocks.flatMap((block) => (block.type === 'toolCall' ? [block.callId] : []))
    const before = this.#head
    const place = this.#place()
    this.#push({
      type: 'reply.end',
      ...place,
      costUsd: 0,
      estimatedTokens: options.estimatedTokens ?? 0,
      message: {
        role: 'assistant',
        content: blocks,
        stopReason: options.stopReason ?? (callIds.length > 0 ? 'toolUse' : 'stop'),
        usage: { ...noUsage, ...options.usage },
        model: 'test:model',
      },
    })
    if (callIds.length > 0) {
      this.#open = { replyId: place.nodeId, callIds, left: callIds.length }
      this.#head = before
      this.#lastNodeId += callIds.length
    }
    return place.nodeId
  }

  result(callId: string, content: string | readonly PlainBlock[] = `result of ${callId}`, isError = false): number {
    const open = this.#open!
    const nodeId = open.replyId + 1 + open.callIds.indexOf(callId)
    this.#push({
      type: 'tool.end',
      nodeId,
      parentId: nodeId - 1,
      callId,
      key: `a/t${this.turnIndex}/tool/${callId}`,
      name: 'tool',
      message: {
        role: 'toolResult',
        callId,
        toolName: 'tool',
        content: typeof content === 'string' ? text(content) : content,
        isError,
      },
    })
    open.left -= 1
    if (open.left === 0) {
      this.#head = open.replyId + open.callIds.length
      this.#open = undefined
    }
    return nodeId
  }

  /** A whole step: a reply with these calls, and their results in order. */
  step(...callIds: readonly string[]): number {
    const nodeId = this.reply(callIds.map((callId) => toolCall(callId)))
    for (const callId of callIds) this.result(callId)
    this.turnIndex += 1
    return nodeId
  }

  compact(overlay: Partial<Overlay> & { readonly from: number; readonly to: number }, applied = true): Overlay {
    const whole = {
      nodeId: this.#lastNodeId + 1,
      summary: 'what happened',
      kept: [],
      recentTo: overlay.to,
      maxToolOutputChars: 100,
      ...overlay,
    }
    this.#push({ type: 'compaction.end', applied, overlay: whole, tokensBefore: 0, tokensAfter: 0, costUsd: 0 })
    if (applied) this.#lastNodeId = whole.nodeId
    return whole
  }

  /** A fold of these steps, with these lines. */
  fold(steps: readonly number[], memo = steps.map((id) => `n${id} tool`).join('\n'), more: object = {}): void {
    this.#push({
      type: 'prune.applied',
      id: `f${steps[0]}`,
      applied: true,
      by: 'runtime',
      steps,
      tokens: 1,
      memo,
      ...more,
    })
  }

  enqueue(queue: QueueName, added: QueuedMessage, first?: true): void {
    this.#push({ type: 'queue.changed', queue, added, length: 0, ...(first ? { first } : {}) })
  }

  dequeue(queue: QueueName, removed: readonly string[], why: 'taken' | 'dropped' = 'taken'): void {
    this.#push({ type: 'queue.changed', queue, removed, why, length: 0 })
  }

  /** An answer that could not be used. */
  refuse(repair: string): void {
    this.#push({ type: 'reply.reset', attempt: 1, error: { code: 'OUTPUT_INVALID', message: repair }, repair })
  }

  /** A record that says nothing to the tree. */
  turnStart(): void {
    this.#push({ type: 'turn.start' })
  }

  last<T extends LogRecord['type']>(type: T): RecordOf<T> {
    return this.records.findLast((record): record is RecordOf<T> => record.type === type)!
  }

  #place(): { nodeId: number; parentId: number | null } {
    const place = { nodeId: this.#lastNodeId + 1, parentId: this.#head }
    this.#lastNodeId = place.nodeId
    this.#head = place.nodeId
    return place
  }

  #push(body: object): void {
    const seq = this.records.length + 1
    this.records.push({ v: 3, seq, time: seq, runId: 'a/r0', turnIndex: this.turnIndex, ...body } as LogRecord)
  }
}
