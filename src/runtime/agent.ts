import type { SubAgentEntry } from '../actors/subAgents.ts'
import type { ConversationView } from '../conversation/conversation.ts'
import type { RevertCategory } from '../protocol/braking.ts'
import { agentCommandSchema, type AgentCommand, type Content } from '../protocol/commands.ts'
import { describeIssues, RuntimeError } from '../protocol/errors.ts'
import type { Limits, PauseReason, QueueName } from '../protocol/records.ts'
import type { AgentEvent } from '../protocol/events.ts'
import type { ProvenanceKind } from '../protocol/provenance.ts'
import type { AgentHost } from './agentHost.ts'
import { approvalsOf, handOver, hostOf, roomOf, spawnChild, treeOf, type AgentTree, type PendingApproval } from './agentTree.ts'
import { EventBuffer } from './eventBuffer.ts'
import type { AgentListener } from './observers.ts'
import type { Run } from './run.ts'

/** What an agent needs of its runtime. */
export interface AgentOwner {
  newId(): string
  /** Lets go of a stopped agent and its log. */
  release(host: AgentHost): Promise<void>
  agentOf(host: AgentHost): Agent | undefined
  agentById(agentId: string): Agent | undefined
}

/** What goes with something said to an agent. */
export interface SayOptions {
  /** Where it comes from, when it is not a person's own words: it stands so in the provenance of `turn.request`. */
  readonly provenance?: ProvenanceKind | undefined
  /** Messages that go before it, such as memories the application looked up. */
  readonly context?: readonly { readonly content: Content; readonly provenance?: ProvenanceKind }[] | undefined
}

export interface ListenOptions {
  /** Hear of sub-agents too, however deep. Default `false`. */
  readonly descendants?: boolean
}

export interface RunOptions extends SayOptions {
  /** Allowances of this run, over those of the agent. */
  readonly limits?: Limits | undefined
}

/** The options that were given; unknown ones too, so that the command's schema names them. */
const given = (options: object): object =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

/** A running agent. Its methods say what to do and return at once; what comes of it is seen in events and results. */
export class Agent {
  readonly id: string
  readonly #host: AgentHost
  readonly #owner: AgentOwner

  /** Made by `runtime.spawn`. */
  constructor(host: AgentHost, owner: AgentOwner) {
    this.id = host.agentId
    this.#host = host
    this.#owner = owner
  }

  /** Name of the chart's active state: `idle`, `replying.streaming`, `executing`, … */
  get state(): string {
    return this.#host.state
  }

  /** Why the agent is paused; `null` when it is not. */
  get pause(): PauseReason | null {
    return this.#host.context.pause
  }

  /** Bytes of a torn last line that were cut off the log when it was opened; 0 when it was whole. */
  get repairedBytes(): number {
    return this.#host.repairedBytes
  }

  /** The conversation tree, read-only. */
  get conversation(): ConversationView {
    return this.#host.conversation
  }

  /** How many more sub-agents it may have alive now. */
  get room(): number {
    return roomOf(this.#host)
  }

  /** The agent it works for; `undefined` at the root of a tree. */
  get parent(): Agent | undefined {
    const { parent } = this.#host
    return parent === undefined ? undefined : this.#owner.agentOf(parent)
  }

  /** Ids of its ancestors, root first. */
  get path(): readonly string[] {
    return this.#host.path
  }

  /** Name of its definition. */
  get definition(): string {
    return this.#host.definition.name
  }

  /** Its sub-agents that are alive, oldest first. */
  children(): Agent[] {
    return this.#host.liveChildren.flatMap((child) => this.#owner.agentOf(child) ?? [])
  }

  /** The agent and everything alive below it. */
  tree(): AgentTree {
    return treeOf(this.#host)
  }

  /** Calls that wait for a decision, here and below. */
  approvals(): PendingApproval[] {
    return approvalsOf(this.#host)
  }

  /**
   * Gives the agent a child that works beside it, to be prompted like any other: it is aborted, stopped and closed with it, and a
   * crash is answered as `restart` says. With the `id` of a child it had before, that one goes on from its log.
   *
   * @throws RuntimeError `INVALID_DEFINITION`, `INVALID_ID`, `AGENT_EXISTS`, `CHILD_REFUSED` (too deep, too many), `AGENT_STOPPED`
   */
  spawn(entry: SubAgentEntry, options: { readonly id?: string } = {}): Promise<Agent> {
    return spawnChild(this.#host, this.#owner, entry, options)
  }

  /**
   * Hands the conversation over: the other agent starts with everything said so far, which is shared and not copied, and is
   * the one to prompt from now on. `then: 'wait'` (default) keeps this agent, with the other as its child; `'end'` closes it, and
   * the other stands on its own. Throws as `spawn` does.
   */
  handOver(entry: SubAgentEntry, options: { readonly then?: 'wait' | 'end' } = {}): Promise<Agent> {
    return handOver(this.#host, this.#owner, entry, options)
  }

  /** Ids of calls that wait for `decide`; none while the run they belong to waits for `resume`. */
  get pendingApprovals(): readonly string[] {
    const { calls, run } = this.#host.context
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
   * result that says so, waiting steering and follow-ups are dropped. Prompts that wait are run next. Nothing at rest.
   */
  abort(): void {
    this.dispatch({ type: 'agent.abort', agentId: this.id })
  }

  /**
   * Approves or denies a call that waits: one of its own by `callId`, one of a sub-agent by the `key` of its event.
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
    await this.#host.end(how)
    await this.#owner.release(this.#host)
    await this.#host.parent?.children?.gone(this.id)
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
    return this.#host.announcer.subscribe(listener, { descendants: options.descendants === true })
  }

  /** Every event from now on, as an async iterable with a bounded buffer; leave the loop to end it. */
  events(options: ListenOptions = {}): AsyncIterableIterator<AgentEvent> {
    const buffer: EventBuffer = new EventBuffer(() => {
      unsubscribe()
      forget()
    })
    const unsubscribe = this.subscribe((event) => buffer.push(event), options)
    const forget = this.#host.onEnd(() => buffer.close())
    if (this.#host.isStopped) buffer.close()
    return buffer
  }

  /** Carries out a command as it comes over a wire; the methods above are shorthands. Throws what they throw. */
  dispatch(command: AgentCommand): Run | undefined {
    const parsed = agentCommandSchema.safeParse(command)
    if (!parsed.success) throw invalid(command, describeIssues(parsed.error))
    if (parsed.data.agentId !== this.id) {
      throw new RuntimeError('INVALID_OPTION', `The command is for agent "${parsed.data.agentId}", not "${this.id}".`)
    }
    if (this.#host.isStopped && parsed.data.type === 'agent.stop') return undefined
    if (this.#host.isStopped) throw new RuntimeError('AGENT_STOPPED', `Agent "${this.id}" has stopped.`)
    const at = this.#host.clock.now()
    const id = this.#owner.newId()
    const { data } = parsed
    if (startsRun.has(data.type)) this.#host.announcer.requested(id)
    switch (data.type) {
      case 'agent.prompt':
      case 'agent.interrupt': {
        this.#checkRoom('prompts')
        const run = this.#host.runs.expect(id)
        const interrupt = data.type === 'agent.interrupt' ? ({ interrupt: true } as const) : {}
        this.#host.send({ type: 'prompt', id, at, ...saidIn(data), ...interrupt })
        return run
      }
      case 'agent.steer':
        this.#checkRoom(this.#isBusy ? 'steering' : 'prompts')
        this.#host.send({ type: 'steer', id, at, ...saidIn(data) })
        return undefined
      case 'agent.followUp':
        this.#checkRoom(this.#isBusy ? 'followUps' : 'prompts')
        this.#host.send({ type: 'followUp', id, at, ...saidIn(data) })
        return undefined
      case 'agent.abort':
        this.#host.send({ type: 'abort' })
        return undefined
      case 'agent.resume':
        return this.#resume(id, data.limits)
      case 'agent.decide':
        return this.#decide(data, at)
      case 'agent.revert': {
        const { step, category, summary } = data
        if (!this.#host.definition.policy.flags.revert) {
          throw new RuntimeError('BRAKING_OFF', `Agent "${this.id}" has no braking.`)
        }
        this.#checkRoom('reverts')
        const request = { id, by: 'person', step, category, ...(summary === undefined ? {} : { summary }) } as const
        this.#host.send({ type: 'revert', request, at })
        return undefined
      }
      case 'agent.stop':
        void this.stop().catch((thrown: unknown) => this.#host.fail(thrown))
        return undefined
    }
  }

  #say(command: AgentCommand): Run {
    return this.dispatch(command)!
  }

  #decide(command: { callId: string; decision: 'approve' | 'deny'; reason?: string }, at: number): undefined {
    const { callId, decision, reason } = command
    if (!this.pendingApprovals.includes(callId)) {
      const below = approvalsOf(this.#host).find(({ key }) => key === callId)
      const host = below === undefined ? undefined : hostOf(this.#host, below.agentId)
      if (below !== undefined && host !== undefined) {
        host.send({ type: 'decide', callId: below.callId, decision, at, ...(reason === undefined ? {} : { reason }) })
        return
      }
      const waiting = [...this.pendingApprovals, ...approvalsOf(this.#host).map(({ key }) => key)].join(', ') || 'none'
      throw new RuntimeError('CALL_NOT_PENDING', `Call "${callId}" does not wait for a decision (waiting: ${waiting}).`)
    }
    this.#host.send({ type: 'decide', callId, decision, at, ...(reason === undefined ? {} : { reason }) })
  }

  #resume(id: string, limits: Limits | undefined): Run {
    const { pause } = this
    if (pause === null || pause.type === 'approvals') {
      throw new RuntimeError(
        'NOT_PAUSED',
        `Agent "${this.id}" is ${this.state}${pause === null ? '' : ', waiting for approvals'}.`,
      )
    }
    const run = this.#host.runs.expect(id)
    void this.#host.resume(run, limits)
    return run
  }

  /** Whether there is a run to say something to; otherwise what is said starts one. */
  get #isBusy(): boolean {
    return this.#host.context.run !== null && this.state !== 'settling'
  }

  #checkRoom(queue: QueueName | 'reverts'): void {
    const { context, definition, unseen } = this.#host
    if (context.pause?.type === 'store') {
      const why = context.pause.error.message
      throw new RuntimeError('AGENT_PAUSED', `Agent "${this.id}" is paused because its store failed: ${why}`)
    }
    const waiting = (context[queue]?.length ?? 0) + unseen
    if (waiting < definition.maxQueue) return
    throw new RuntimeError('QUEUE_FULL', `Agent "${this.id}" has ${waiting} waiting ${queue}, the most allowed.`)
  }
}

const startsRun: ReadonlySet<AgentCommand['type']> = new Set([
  'agent.prompt',
  'agent.interrupt',
  'agent.steer',
  'agent.followUp',
  'agent.resume',
  'agent.revert',
])

/** What a command says, without whom it says it to. */
const saidIn = <C extends { readonly type: string; readonly agentId: string }>({
  type: _,
  agentId: __,
  ...said
}: C): Omit<C, 'type' | 'agentId'> => said

const invalid = (command: Partial<AgentCommand> | null | undefined, issues: string): RuntimeError =>
  issues.startsWith('content')
    ? new RuntimeError('INVALID_CONTENT', `${issues}.`)
    : new RuntimeError('INVALID_OPTION', `${command?.type ?? 'The command'}: ${issues}.`)
