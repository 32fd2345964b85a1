import { isAgentDefinition } from '../../actors/agentDefinition.ts'
import type { SubAgentEntry } from '../../actors/subAgents.ts'
import type { ConversationView } from '../../conversation/conversation.ts'
import type { RevertCategory } from '../../protocol/braking.ts'
import { checkCommand, type CheckedCommand } from '../../protocol/checkCommand.ts'
import { given, type AgentCommand, type RunOptions, type SayOptions } from '../../protocol/commands.ts'
import type { Content } from '../../protocol/content.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { PauseReason, Spent } from '../../protocol/records.ts'
import type { AgentEvent, GrowingReply } from '../../protocol/events.ts'
import { spawnChild } from '../children/spawnChild.ts'
import type { AgentBody, LoadedAgent } from './agentBody.ts'
import { approvalsOf, treeOf, type AgentTree, type PendingApproval } from './agentTree.ts'
import { dispatchCommand } from './commands.ts'
import { EventBuffer } from '../../runs/eventBuffer.ts'
import type { InspectionListener } from './inspections.ts'
import type { AgentListener } from '../events/observers.ts'
import type { Run } from '../../runs/run.ts'

/** Where an agent finds its body, which may come and go. */
export interface AgentSlot {
  readonly body: AgentBody
}

/** What an agent needs of its runtime. */
export interface AgentOwner {
  newId(): string
  /** Lets go of a stopped agent and its log. */
  release(body: AgentBody): Promise<void>
  /** Somebody stopped listening: an idle agent may be unloaded now. */
  unheard(body: AgentBody): void
  agent(agentId: string): Agent | undefined
}

export interface ListenOptions {
  /** Hear of sub-agents too, however deep. Default `false`. */
  readonly descendants?: boolean
}

/**
 * A running agent. Its methods say what to do and return at once; what comes of it is seen in events and results. With
 * `idleUnloadMs` of the runtime it may be unloaded while idle: its next command loads it again, and all of them work as ever.
 */
export class Agent {
  readonly id: string
  readonly #slot: AgentSlot
  readonly #owner: AgentOwner

  /** Made by `runtime.spawn`. */
  constructor(slot: AgentSlot, owner: AgentOwner) {
    this.id = slot.body.agentId
    this.#slot = slot
    this.#owner = owner
  }

  get #body(): AgentBody {
    return this.#slot.body
  }

  /** Whether it is in memory, and not only in its log. */
  get isLoaded(): boolean {
    return this.#body.isLoaded
  }

  /**
   * Loads the agent if it was unloaded. Rejects as `runtime.resume` does when its log cannot be opened or read; the agent stays
   * unloaded then, and the next command tries again.
   */
  async wake(): Promise<void> {
    await this.#body.loaded(async () => {})
  }

  /** Name of the chart's active state: `idle`, `replying.streaming`, `executing`, … */
  get state(): string {
    return this.#body.state
  }

  /** Why the agent is paused; `null` when it is not. */
  get pause(): PauseReason | null {
    return this.#body.context.pause
  }

  /** Bytes of a torn last line that were cut off the log when it was opened; 0 when it was whole. */
  get repairedBytes(): number {
    return this.#body.repairedBytes
  }

  /** The conversation tree, read-only. Empty while the agent is not loaded: `await agent.wake()` before reading it. */
  get conversation(): ConversationView {
    return this.#body.conversation
  }

  /** How many more sub-agents it may have alive now. */
  get room(): number {
    return this.#body.room
  }

  /** The agent it works for; `undefined` at the root of a tree. */
  get parent(): Agent | undefined {
    const { parent } = this.#body
    return parent === undefined ? undefined : this.#owner.agent(parent.agentId)
  }

  /** Ids of its ancestors, root first. */
  get path(): readonly string[] {
    return this.#body.path
  }

  /** `seq` of its last record. */
  get lastSeq(): number {
    return this.#body.lastSeq
  }

  /** Which brakes of its conversation are on. */
  get braking(): { readonly revert: boolean; readonly prune: boolean } {
    const { revert, prune } = this.#body.definition.policy.flags
    return { revert, prune }
  }

  /** What it used over its life, its sub-agents included. */
  get spent(): Spent {
    return this.#body.spent
  }

  /** Resolves once every record so far is as durable as the store promises; `undefined`: it is already. Rejects when the store fails. */
  durable(): Promise<void> | undefined {
    return this.#body.durable()
  }

  /** What has arrived of the reply under way, for whoever comes in the middle; `undefined` with `redact`, as it is not clean. */
  get growingReply(): GrowingReply | undefined {
    return this.#body.growingReply
  }

  /** Name of its definition. */
  get definition(): string {
    return this.#body.definition.name
  }

  /** Its sub-agents that are alive, oldest first. */
  children(): Agent[] {
    return this.#body.liveChildren.flatMap((child) => this.#owner.agent(child.agentId) ?? [])
  }

  /** The agent and everything alive below it. */
  tree(): AgentTree {
    return treeOf(this.#body)
  }

  /** Calls that wait for a decision, here and below; without secrets, as the events that ask for it. */
  approvals(): PendingApproval[] {
    return this.#body.announcer.clean(approvalsOf(this.#body))
  }

  /**
   * Gives the agent a child that works beside it, to be prompted like any other: it is aborted, stopped and closed with it, and a
   * crash is answered as `restart` says. With the `id` of a child it had before, that one goes on from its log.
   *
   * @throws RuntimeError `INVALID_DEFINITION`, `INVALID_ID`, `AGENT_EXISTS`, `CHILD_REFUSED` (too deep, too many), `AGENT_STOPPED`
   */
  spawn(entry: SubAgentEntry, options: { readonly id?: string } = {}): Promise<Agent> {
    return this.#body.loaded((agent) => this.#spawn(agent, entry, options))
  }

  /**
   * Hands the conversation over: the other agent starts with everything said so far, which is shared and not copied, and is
   * the one to prompt from now on. `afterwards: 'wait'` (default) keeps this agent, with the other as its child; `'end'` closes it, and
   * the other stands on its own. Throws as `spawn` does.
   */
  handOver(entry: SubAgentEntry, options: { readonly afterwards?: 'wait' | 'end' } = {}): Promise<Agent> {
    return this.#body.loaded(async (agent) => {
      const isEnd = options.afterwards === 'end'
      const rest = isAgentDefinition(entry) ? { definition: entry } : entry
      const successor = await this.#spawn(agent, { context: 'fork', ...rest, detach: isEnd }, {})
      if (isEnd) await this.close()
      return successor
    })
  }

  /** Ids of calls that wait for `decide`; none while the run they belong to waits for `resume`. */
  get pendingApprovals(): readonly string[] {
    const { calls, run } = this.#body.context
    return run === null ? [] : calls.filter((call) => call.status === 'held').map((call) => call.callId)
  }

  /**
   * Starts a run; a busy agent runs it after the ones before.
   *
   * @throws RuntimeError `INVALID_CONTENT`, `QUEUE_FULL`, `AGENT_STOPPED`, `AGENT_PAUSED` (by a failed store); nothing happened then.
   */
  prompt(content: Content, options: RunOptions = {}): Run {
    return this.#say({ type: 'agent.prompt', agentId: this.id, content, ...given(options) })
  }

  /** Aborts the run under way and prompts, ahead of prompts that wait. Throws as `prompt` does. */
  interrupt(content: Content, options: RunOptions = {}): Run {
    return this.#say({ type: 'agent.interrupt', agentId: this.id, content, ...given(options) })
  }

  /**
   * Says something in the middle of a run: it is taken between tool calls, and calls of that reply which have not started
   * are skipped. At rest it starts a run. Throws as `prompt` does.
   */
  steer(content: Content, options: SayOptions = {}): void {
    this.dispatch({ type: 'agent.steer', agentId: this.id, content, ...given(options) })
  }

  /** Says something once the agent would be done, in the same run. At rest it starts a run. Throws as `prompt` does. */
  followUp(content: Content, options: SayOptions = {}): void {
    this.dispatch({ type: 'agent.followUp', agentId: this.id, content, ...given(options) })
  }

  /**
   * Ends the run under way: no delta follows; what arrived of the reply is kept, calls in flight are told to stop and get a
   * result that says so, waiting steering and follow-ups are dropped. Prompts that wait are run next. Nothing at rest. An agent that
   * waits for a record its store can never take (`RECORD_TOO_LARGE`) is closed: `runtime.open` goes on from its log.
   */
  abort(): void {
    this.#carryOut({ type: 'agent.abort', agentId: this.id })
  }

  /**
   * Approves or denies a call that waits, by the `key` of its event; one of the agent's own by its `callId` too.
   *
   * @throws RuntimeError `CALL_NOT_PENDING` when it does not wait.
   */
  decide(callId: string, decision: 'approve' | 'deny', reason?: string): void {
    this.dispatch({
      type: 'agent.decide',
      agentId: this.id,
      callId,
      decision,
      ...(reason === undefined ? {} : { reason }),
    })
  }

  /**
   * Goes on after a pause, as a new run whose `limits` (default: the agent's) count from here. After a failed store it first
   * writes what could not be written; the run's result says when that fails again.
   *
   * @throws RuntimeError `NOT_PAUSED`, `AGENT_STOPPED`
   */
  resume(options: RunOptions = {}): Run {
    return this.#say({ type: 'agent.resume', agentId: this.id, ...given(options) })
  }

  /**
   * Asks for a revert to a step, such as `n12`, as the model may: the same drain decides, by the same rules, between turns or at
   * once at rest. What came of it is a `revert.applied` event.
   *
   * @throws RuntimeError `BRAKING_OFF`, `INVALID_OPTION`, `AGENT_STOPPED`
   */
  revert(step: string, options: { category: RevertCategory; summary?: string | undefined }): void {
    this.dispatch({ type: 'agent.revert', agentId: this.id, step, ...given(options ?? {}) } as AgentCommand)
  }

  /** Ends the agent for good: aborts what runs, writes the log, lets another process open it. Idempotent. */
  async stop(): Promise<void> {
    await this.#end('stop')
  }

  /** Ends the agent so that `runtime.resume` can go on with it: aborts what runs, leaves queues and approvals waiting. Idempotent. */
  async close(): Promise<void> {
    await this.#end('close')
  }

  async #end(how: 'stop' | 'close'): Promise<void> {
    await this.#body.end(how)
    await this.#owner.release(this.#body)
    await this.#body.parent?.childGone(this.id)
  }

  /**
   * Calls `listener` with every event from now on; returns a function that ends it. A listener that throws or rejects harms
   * nobody: the others get an `error` event `SUBSCRIBER_FAILED`. Approvals of sub-agents are heard too, as somebody must decide
   * them; with `descendants` everything of theirs is.
   */
  subscribe(listener: AgentListener, options: ListenOptions = {}): () => void {
    if (typeof listener !== 'function') {
      throw new RuntimeError('INVALID_OPTION', `subscribe takes a function, not ${typeof listener}.`)
    }
    const unsubscribe = this.#body.announcer.subscribe(listener, { descendants: options.descendants === true })
    return () => {
      unsubscribe()
      this.#owner.unheard(this.#body)
    }
  }

  /** Every event from now on, as an async iterable with a bounded buffer; leave the loop to end it. */
  events(options: ListenOptions = {}): AsyncIterableIterator<AgentEvent> {
    const buffer: EventBuffer = new EventBuffer(() => {
      unsubscribe()
      forget()
    })
    const unsubscribe = this.subscribe((event) => buffer.push(event), options)
    const forget = this.#body.onEnd(() => buffer.close())
    if (this.#body.isStopped) buffer.close()
    return buffer
  }

  /**
   * Calls `listener` with XState's own inspection events of the agent's actor and every actor below it, those that are there first;
   * returns a function that ends it. It is what an inspector made for XState takes. Nothing in them is redacted.
   */
  inspect(listener: InspectionListener): () => void {
    if (typeof listener !== 'function') {
      throw new RuntimeError('INVALID_OPTION', `inspect takes a function, not ${typeof listener}.`)
    }
    const end = this.#body.inspect(listener)
    return () => {
      end()
      this.#owner.unheard(this.#body)
    }
  }

  /**
   * Carries out a command as it comes over a wire; the methods above are shorthands. Throws what they throw. `requestId`: what its
   * run or message is known by in the log, instead of one made here.
   */
  dispatch(command: AgentCommand, options: { readonly requestId?: string } = {}): Run | undefined {
    const checked = checkCommand(command)
    if (checked.agentId !== this.id) {
      throw new RuntimeError('INVALID_OPTION', `The command is for agent "${checked.agentId}", not "${this.id}".`)
    }
    return this.#carryOut(checked, options)
  }

  #carryOut(checked: CheckedCommand, { requestId }: { readonly requestId?: string } = {}): Run | undefined {
    if (this.#body.isStopped && checked.type === 'agent.stop') return undefined
    if (this.#body.isStopped) throw new RuntimeError('AGENT_STOPPED', `Agent "${this.id}" has stopped.`)
    if (checked.type === 'agent.stop') return this.#endSoon('stop')
    // Back to what its log says leads only through the log.
    if (checked.type === 'agent.abort' && this.#body.isStuck) return this.#endSoon('close')
    return dispatchCommand(this.#body, checked, requestId ?? this.#owner.newId(), requestId !== undefined)
  }

  #endSoon(how: 'stop' | 'close'): undefined {
    void this.#end(how).catch((thrown: unknown) => this.#body.fail(thrown))
  }

  /**
   * Whether its log has the request of a command, given to `dispatch`, however long ago. Loads the agent; rejects as `wake` does. An
   * abort of an agent at rest leaves none.
   */
  wasAsked(requestId: string): Promise<boolean> {
    return this.#body.loaded(async ({ requests }) => requests.has(requestId))
  }

  async #spawn(agent: LoadedAgent, entry: SubAgentEntry, options: { readonly id?: string }): Promise<Agent> {
    const isTaken = (agentId: string): boolean => this.#owner.agent(agentId) !== undefined
    const { agentId } = await spawnChild(agent, agent.family, entry, { options, isTaken })
    return this.#owner.agent(agentId)!
  }

  #say(command: AgentCommand): Run {
    return this.dispatch(command)!
  }
}
