// XState names the parent of an actor so.
/* oxlint-disable no-underscore-dangle */
import { isWait } from '../../../src/protocol/runs/waits.ts'
import { isDeepStrictEqual } from 'node:util'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { AgentCommand } from '../../../src/protocol/bridge/commands.ts'
import { type ErrorInfo, RuntimeError } from '../../../src/protocol/errors.ts'
import { type AgentEvent, eventOf, isDelta } from '../../../src/protocol/events.ts'
import { pendingIn } from '../../wire/src/pendingIn.ts'
import { noUsage, textOf } from '../../../src/protocol/messages.ts'
import type { RunResult } from '../../../src/protocol/runs/runResult.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import type { AgentHost } from '../../../src/runtime/agents/agentHost.ts'
import type { UnderActor } from '../../../src/runtime/children/spawnOptions.ts'
import type { LocalRuntime } from '../../../src/runtime/runtime.ts'
import { actorHosts, type EffectActor } from './hosts/durable.ts'
import type { AgentLogicEvent, AgentRequest, AgentSnapshot, AgentView } from './agentSnapshot.ts'
import { inTurn } from '../../../src/actors/timing/inTurn.ts'
import { RequestedRun } from '../../../src/runtime/agents/requestedRun.ts'

interface Change extends Partial<AgentView<unknown>> {
  readonly status?: 'done' | 'error'
  readonly output?: RunResult
  readonly error?: unknown
}

/** Event that informs an actor of changes in its agent. Recognized by its class, so that it cannot be forged. */
export class Update {
  readonly type = 'agent.updated'
  readonly change: Change

  constructor(change: Change) {
    this.change = change
  }
}

/** Arguments with which the logic was made. */
interface Plan {
  readonly runtime: LocalRuntime
  readonly definition: AgentDefinition
  readonly onStop: 'abort' | 'suspend' | 'leave'
  /** Types of events that are sent to the parent. */
  readonly tell: ReadonlySet<string>
  readonly textMs: number
  /** Returns the dependencies of an agent's tools. */
  depsOf(agentId: string, actor: object): unknown
}

/** An actor from any copy of XState, with the field for its parent. */
interface Actor extends UnderActor, Pick<EffectActor, 'id'> {
  readonly _parent?: { send(event: AgentEvent): void }
  getSnapshot(): AgentSnapshot
  send(event: Update): void
}

interface Scope {
  readonly self: object
  readonly system: object
  emit(event: AgentEvent): void
}

/** Connects an actor with its agent, from the actor's start to its end. */
export class Life {
  readonly #plan: Plan
  readonly #agentId: string
  readonly #request: AgentRequest | null
  readonly #scope: Scope
  readonly #self: Actor
  readonly #run: RequestedRun
  /** `opening` the agent, `following` it, `parting` with it because it or its task has ended, `over`. */
  #state: 'opening' | 'following' | 'parting' | 'over' = 'opening'
  #agent: Agent | undefined
  #text = ''
  #unfollow: readonly (() => void)[] = nothing
  #forgetAgents: (() => void) | undefined
  #isFlushing = false
  #cancelTimer: (() => void) | undefined
  /** Keys of the waiting calls and questions that the parent was told of by this instance. */
  readonly #told = new Set<string>()
  /** Resolves once the actor has tried to open the agent, and the commands of a hosted machine were given. Never rejects. */
  readonly opened: Promise<void>
  #given: Promise<unknown> = Promise.resolve()
  #isSuspended = false

  constructor(plan: Plan, { agentId, request }: AgentSnapshot, scope: Scope) {
    this.#plan = plan
    this.#agentId = agentId
    this.#request = request
    this.#scope = scope
    this.#self = scope.self as Actor
    this.#run = new RequestedRun(request?.id, () => (this.#loaded?.view.definition ?? plan.definition).output)
    // In turn, so that an actor that was stopped while it opened the agent has closed it before the next one finds it.
    this.opened = inTurn(plan.runtime, agentId, () => this.#open()).catch((thrown: unknown) => this.#fail(thrown))
  }

  /** True while the agent works, and waits neither for people nor for a time. */
  get isBusy(): boolean {
    if (this.#state !== 'following') return this.#state !== 'over'
    const { state, pause } = this.#agent!
    return state !== 'idle' && pause === null && this.#agent!.pending().length === 0
  }

  /** Resolves once the agent does nothing more by itself. Never rejects. */
  async settled(): Promise<void> {
    await this.opened
    await this.#agent?.settled().catch(() => {})
  }

  /** Ends the agent as a crash would, whatever `onStop` says, unless the agent is one that is always left. Never rejects. */
  async suspend(): Promise<void> {
    this.#isSuspended = true
    const isParting = this.#state === 'parting' || this.#state === 'over'
    const isOpening = this.#state === 'opening'
    this.#state = 'over'
    await (isOpening ? this.opened : isParting ? undefined : this.#part())
  }

  /**
   * Gives the agent a command of a hosted machine, once the agent is open and unless its log has the request. Resolves once
   * its log has the command, or no agent is there to take it; `false`: the command must be given again. Never rejects.
   */
  give(event: AgentLogicEvent, requestId: string): Promise<boolean> {
    const giving = this.#given.then(async () => {
      await this.opened
      const agent = this.#agent
      if (this.#state !== 'following' || agent === undefined) return !this.#isSuspended
      if (!(await agent.wasAsked(requestId))) this.say(event, requestId)
      await agent.durable()
      return true
    })
    this.#given = giving.catch(() => {})
    return giving.catch(() => !this.#isSuspended)
  }

  /** Handles the stop of the actor. */
  stop(): void {
    const isOpening = this.#state === 'opening'
    if (this.#state === 'over') return
    this.#state = 'over'
    if (!isOpening) void this.#part()
  }

  /** Gives the agent a command; returns `false` if the agent is not open yet. */
  say(event: AgentLogicEvent, requestId?: string): boolean {
    const { runtime } = this.#plan
    if (this.#state === 'opening' || this.#agent === undefined) return false
    try {
      const { type, ...said } = event
      this.#agent.dispatch(
        { ...said, type: `agent.${type}`, agentId: this.#agentId } as AgentCommand,
        requestId === undefined ? {} : { requestId },
      )
    } catch (thrown) {
      // Thrown in a transition it would end the actor.
      runtime.find(this.#agentId)?.announcer.fail(thrown)
    }
    return true
  }

  async #open(): Promise<void> {
    if (this.#state === 'over') return
    const agent = await this.#find()
    const isAsked = this.#request !== null && (await agent.wasAsked(this.#request.id))
    await this.#run.catchUp(isAsked ? agent.readLog() : nothing)
    if (this.#isOver) return this.#part()
    if (this.#state === 'opening') this.#begin(agent, isAsked)
  }

  /** Returns the loaded agent. If it starts here, it is followed from its first record on. */
  async #find(): Promise<Agent> {
    const { runtime, definition, depsOf } = this.#plan
    const deps = depsOf(this.#agentId, this.#self)
    this.#forgetAgents = runtime.onAgent((agent) => {
      if (agent.id === this.#agentId && this.#state === 'opening') this.#follow(agent)
      // A restored one may have brought calls that wait for a decision.
      else if (agent.path.includes(this.#agentId)) void this.#loaded?.family.ready().then(() => this.#restored())
    })
    const agent = await runtime.open(this.#agentId, definition, {
      continue: false,
      under: this.#self,
      deps,
      takeOver: actorHosts.get(this.#scope.system)?.takesOver ?? false,
    })
    if (agent !== this.#agent) this.#follow(agent)
    await agent.wake()
    return agent
  }

  /** `isAsked`: the log already has the request, made by this actor before a restart. */
  #begin(agent: Agent, isAsked: boolean): void {
    this.#state = 'following'
    // It may be in the middle of a reply.
    this.#text = agent.growingReply?.text ?? this.#text
    const request = isAsked ? null : this.#request
    if (this.#own !== undefined) continueOrDrop(agent, request !== null)
    if (this.#isDone) return this.#finish(agent)
    if (request !== null) {
      const { id, content, limits } = request
      const prompt = { type: 'agent.prompt', agentId: this.#agentId, content } as const
      agent.dispatch(limits === undefined ? prompt : { ...prompt, limits }, { requestId: id })
    }
    const { queued } = this.#self.getSnapshot()
    this.#tell({ ...this.#view(agent), queued: [] })
    for (const event of queued) this.say(event)
    void this.#tellWaiting(agent)
  }

  /** Handles the agents below that were restored from a log. */
  #restored(): void {
    this.#flush()
    if (this.#state === 'following') void this.#tellWaiting(this.#agent!)
  }

  /**
   * Reports calls and questions again that have waited since before this start, because the actor
   * may have been persisted before they were reported. Never rejects.
   */
  async #tellWaiting(agent: Agent): Promise<void> {
    for (const { key, agentId } of agent.pending()) {
      if (this.#told.has(key)) continue
      this.#told.add(key)
      const asking = agentId === agent.id ? agent : this.#plan.runtime.agent(agentId)
      try {
        const asked = asking === undefined ? undefined : await askedBy(asking, key)
        const isOpen = this.#state === 'following' && this.#agent === agent
        if (asked === undefined || !isOpen || !agent.pending().some((one) => one.key === key)) continue
        this.#scope.emit(asked)
        this.#tellParent(asked)
      } catch (thrown) {
        this.#loaded?.announcer.fail(thrown)
      }
    }
  }

  #follow(agent: Agent): void {
    this.#forget()
    this.#agent = agent
    const host = this.#plan.runtime.find(this.#agentId)
    if (host === undefined) throw new RuntimeError('AGENT_STOPPED', `Agent "${this.#agentId}" was stopped meanwhile.`)
    this.#unfollow = [
      agent.subscribe((event) => this.#heard(event, agent)),
      host.machine.onEnd((crash) => this.#ended(crash)),
    ]
  }

  #forget(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    for (const end of this.#unfollow) end()
    this.#unfollow = nothing
  }

  #heard(event: AgentEvent, agent: Agent): void {
    if (event.agentId === this.#agentId) this.#note(event)
    const asked = pendingIn(event.agentId, event)
    if (asked !== undefined) this.#told.add(asked.key)
    this.#scope.emit(event)
    if (!this.#isOver) this.#tellParent(event)
    if (this.#state !== 'following') return
    if (this.#isDone) this.#finish(agent)
    else if (isDelta(event)) this.#cancelTimer ??= this.#plan.runtime.clock.after(this.#plan.textMs, this.#flush)
    else if (!this.#isFlushing) {
      this.#isFlushing = true
      queueMicrotask(this.#flush)
    }
  }

  #tellParent(event: AgentEvent): void {
    if (!this.#plan.tell.has(event.type)) return
    const host = actorHosts.get(this.#scope.system)
    if (host === undefined) this.#self._parent?.send(event)
    else host.arrived(event, this.#self)
  }

  #note(event: AgentEvent): void {
    this.#run.note(event)
    if (event.type === 'reply.delta') this.#text += event.text
    else if (event.type === 'reply.end') this.#text = textOf(event.message.content)
    else if (event.type === 'reply.start' || event.type === 'reply.reset') this.#text = ''
  }

  readonly #flush = (): void => {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#isFlushing = false
    if (this.#state === 'following') this.#tell(this.#view(this.#agent!))
  }

  #view(agent: Agent): Change {
    const { state, pause, spent } = agent
    return { state, text: this.#text, pause, pending: agent.pending(), spent, result: this.#run.result }
  }

  /** Sends the changed fields. Unchanged fields keep their object, so that observers are not updated for nothing. */
  #tell(change: Change): void {
    const before = this.#self.getSnapshot()
    const news = Object.entries(change).filter(
      ([key, value]) => !isDeepStrictEqual(value, before[key as keyof AgentSnapshot]),
    )
    if (news.length > 0) this.#self.send(new Update(Object.fromEntries(news)))
  }

  get #isOver(): boolean {
    return this.#state === 'over'
  }

  get #isDone(): boolean {
    return this.#request !== null && this.#run.result !== undefined
  }

  get #loaded(): AgentHost | undefined {
    const host = this.#plan.runtime.find(this.#agentId)
    return host?.isLoaded === true ? host : undefined
  }

  /** The agent, if this actor opened it. */
  get #own(): AgentHost | undefined {
    const host = this.#loaded
    return host?.under === this.#self ? host : undefined
  }

  /** Handles the end of the requested run. */
  #finish(agent: Agent): void {
    void this.#end(async () => {
      await agent.durable()
      return { ...this.#view(agent), status: 'done', output: this.#run.result! }
    })
  }

  /** Handles an end of the agent that this actor did not cause. */
  #ended(crash: ErrorInfo | null): void {
    if (this.#state === 'parting' || this.#state === 'over') return
    if (crash !== null) return this.#fail(Object.assign(new Error(crash.message), { code: crash.code }))
    const output = { ...aborted, text: this.#text }
    void this.#end(async () => ({ state: 'stopped', status: 'done', output }))
  }

  #fail(error: unknown): void {
    void this.#end(async () => ({ status: 'error', error }))
  }

  /** Parts with the agent, then reports the end to the actor, so that the log is free by then. Never rejects. */
  async #end(outcome: () => Promise<Change>): Promise<void> {
    if (this.#isOver) return
    this.#state = 'parting'
    const change = await outcome().catch((error: unknown): Change => ({ status: 'error', error }))
    if (this.#isOver) return
    await this.#part()
    if (this.#isOver) return
    this.#state = 'over'
    this.#tell(change)
  }

  /** Leaves, suspends or closes the agent, as `onStop` says; resolves once its log is released. Idempotent; never rejects. */
  async #part(): Promise<void> {
    this.#forget()
    this.#forgetAgents?.()
    const { runtime, onStop } = this.#plan
    const host = this.#own
    if (host === undefined || onStop === 'leave') return
    try {
      if (onStop === 'abort' && !this.#isSuspended) await runtime.agent(this.#agentId)?.close()
      else await suspend(runtime, host)
    } catch (thrown) {
      host.announcer.fail(thrown)
    }
  }
}

const nothing: readonly never[] = Object.freeze([])

/** Returns the event by which an agent asked people for something, from its log. */
async function askedBy(agent: Agent, key: string): Promise<AgentEvent | undefined> {
  let asked: AgentEvent | undefined
  for await (const record of agent.readLog())
    if (pendingIn(agent.id, record)?.key === key)
      asked = eventOf(record, { agentId: agent.id, path: agent.path, incognito: agent.incognito || undefined })
  return asked
}

const aborted = { stopReason: 'aborted', runId: '', turns: 0, childTurns: 0, usage: noUsage, costUsd: 0 } as const

/**
 * Continues the work that an agent was in the middle of when its process, or the actor before, ended, unless something new is asked of it; then
 * the work, that of an actor that was stopped, is aborted.
 */
function continueOrDrop(agent: Agent, isNew: boolean): void {
  const { pause } = agent
  if (isNew && pause !== null && (pause.type === 'interrupted' || isWait(pause))) agent.abort()
  else if (pause?.type === 'interrupted') agent.resume()
}

/** Ends an agent as a crash would: nothing is recorded, and its work continues when the agent is opened again. */
async function suspend(runtime: LocalRuntime, host: AgentHost): Promise<void> {
  host.machine.drop()
  const released = runtime.release(host)
  // Sub-agents that were being opened let go of their logs.
  await host.family.ready()
  await released
}
