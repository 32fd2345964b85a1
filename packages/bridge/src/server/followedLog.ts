import { Conversation } from '../../../../src/conversation/tree/conversation.ts'
import { rebuildConversation } from '../../../../src/conversation/tree/rebuildConversation.ts'
import { isWaiting } from '../../../../src/log/callStage.ts'
import { Folding } from '../../../../src/log/fold.ts'
import { machineFold, pauseOf } from '../../../sessions/src/machineState.ts'
import { totalFold, totalSpent } from '../../../../src/log/spent.ts'
import { requestsFold } from '../../../../src/log/requestIndex.ts'
import { eventOf, type AgentEvent, type GrowingReply } from '../../../../src/protocol/events.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import { pendingIn } from '../../../wire/src/pendingIn.ts'
import type { LogRecord, PauseReason, RecordOf, Spent } from '../../../../src/protocol/records.ts'
import type { AgentTree } from '../../../../src/runtime/agents/agentTree.ts'

/** Maximum number of unlogged events that are held back. */
const maxHeard = 4_096

const folds = [machineFold, totalFold, requestsFold]

type Growing = { -readonly [K in keyof GrowingReply]: GrowingReply[K] }

/** State of one agent, built from its log record by record and from unlogged events. */
export class FollowedLog {
  readonly agentId: string
  conversation = new Conversation()
  created: RecordOf<'agent.created'> | undefined
  lastSeq = 0
  growing: Growing | undefined
  /** The last reported state. */
  toldState = 'idle'
  /** Running sub-agents by id, oldest first, with the call that each carries out. */
  readonly below = new Map<string, { readonly log: FollowedLog; readonly callId: string | undefined }>()
  readonly #folding = new Folding(folds)
  readonly #machine = this.#folding.at(machineFold)
  readonly #spent = this.#folding.at(totalFold)
  readonly #requests = this.#folding.at(requestsFold)
  readonly #asked = new Map<string, Pending>()
  /** Unlogged events in order, each held until the records before it are read. */
  #live: AgentEvent[] = []
  #isStopped = false
  #at = { runId: '', turnIndex: 0 }

  constructor(agentId: string) {
    this.agentId = agentId
  }

  get path(): readonly string[] {
    return this.created?.path ?? []
  }

  /** Path of the chart's state according to the log. */
  get state(): string {
    return this.#isStopped ? 'stopped' : this.#machine.state.state
  }

  get isInRun(): boolean {
    return this.#machine.state.inRun
  }

  get pause(): PauseReason | null {
    return pauseOf(this.#machine.state)
  }

  get spent(): Spent {
    return totalSpent(this.#spent.state)
  }

  /** Returns true if the log has a request. */
  has(requestId: string): boolean {
    return this.#requests.state.ids.has(requestId)
  }

  /** Run and turn of the agent's current events. */
  get at(): { readonly runId: string; readonly turnIndex: number } {
    return this.#at
  }

  /** Starts with the records that a fork shares with its sources, before its own first record. */
  begin(past: readonly LogRecord[], created: LogRecord): void {
    this.conversation = rebuildConversation([], { past })
    if (created.type === 'agent.created' && created.forkedFrom !== undefined) this.conversation.beginLog()
  }

  /** Applies the next record, after the unlogged events before it, and yields the events. */
  *take(record: LogRecord): Generator<AgentEvent, void, undefined> {
    yield* this.heardBefore(record.seq)
    this.conversation.apply(record)
    this.#folding.apply(record)
    this.lastSeq = record.seq
    if ('runId' in record && 'turnIndex' in record) this.#at = { runId: record.runId, turnIndex: record.turnIndex }
    const pending = pendingIn(this.agentId, record)
    if (pending !== undefined) this.#asked.set(pending.callId, pending)
    if (record.type === 'agent.created') this.created = record
    else if (record.type === 'agent.stopped') this.#isStopped = true
    else if (record.type === 'child.spawned') this.#begins(record.childId, undefined)
    else if (record.type === 'tool.start' && record.childId !== undefined) this.#begins(record.childId, record.callId)
    else if (record.type === 'child.ended') this.below.delete(record.childId)
    else if (record.type === 'tool.end') {
      this.#asked.delete(record.callId)
      const child = this.childOf(record.callId)
      if (child !== undefined) this.below.delete(child.agentId)
    }
    const isOver = record.type === 'reply.end' || record.type === 'reply.reset' || record.type === 'run.end'
    if (isOver) this.growing = undefined
    yield eventOf(record, this)
  }

  #begins(childId: string, callId: string | undefined): void {
    const log = this.below.get(childId)?.log ?? new FollowedLog(childId)
    this.below.set(childId, { log, callId: callId ?? this.below.get(childId)?.callId })
  }

  /** Returns the sub-agent that carries out a call. */
  childOf(callId: string): FollowedLog | undefined {
    for (const child of this.below.values()) if (child.callId === callId) return child.log
    return undefined
  }

  /** Holds an unlogged event. */
  hear(event: AgentEvent): void {
    // While the store fails nothing of it can be told.
    if (this.#live.length >= maxHeard) this.#live = []
    this.#live.push(event)
  }

  /** Yields the unlogged events before a record. */
  *heardBefore(seq: number): Generator<AgentEvent, void, undefined> {
    while (this.#live.length > 0 && this.#live[0]!.seq < seq) {
      const event = this.#live.shift()!
      this.#grow(event)
      yield event
    }
  }

  /** Discards the unlogged events, because they are from another instance of the agent. */
  forgetHeard(): void {
    this.#live = []
  }

  #grow(event: AgentEvent): void {
    if (event.type === 'reply.start') {
      const { runId, turnIndex } = event
      this.growing = { runId, turnIndex, text: '', thinking: '' }
    } else if (this.growing !== undefined && event.type === 'reply.delta') this.growing.text += event.text
    else if (this.growing !== undefined && event.type === 'thinking.delta') this.growing.thinking += event.text
  }

  /** Returns the calls and questions that wait for people, of this agent and its descendants. */
  pending(): Pending[] {
    const { calls, inRun } = this.#machine.state
    const own = inRun ? [...this.#asked.values()].filter(({ callId }) => isWaiting(calls.get(callId))) : []
    return [...own, ...[...this.below.values()].flatMap(({ log }) => log.pending())]
  }

  tree(): AgentTree {
    return {
      id: this.agentId,
      definition: this.created?.definition ?? '',
      state: this.state,
      children: [...this.below.values()].map(({ log }) => log.tree()),
    }
  }
}
