import type { Permissions } from '../../protocol/parts/permissions/permissionState.ts'
import { shownPermissions } from './permissions.ts'
import { isAgentDefinition, type AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { useCommand, type UseOptions } from '../../actors/turn/turnOptions.ts'
import type { SharedLessons } from '../../conversation/brakes/lessons/sharedLessons.ts'
import { checkCommand } from '../../protocol/bridge/checkCommand.ts'
import { abortFields, type AbortOptions } from '../../protocol/bridge/abortOptions.ts'
import type { CheckedCommand, AgentCommand } from '../../protocol/bridge/commands.ts'
import { type ErrorCode, RuntimeError } from '../../protocol/errors.ts'
import type { AgentEvent } from '../../protocol/events.ts'
import { spawnChild } from '../children/spawnChild.ts'
import type { DepsFor, DispatchOptions, Entry, ListenOptions, SpawnArguments } from './agentTypes.ts'
import type { EventsOf } from '../../actors/define/typedEvents.ts'
import type { GivenDeps, SpawnOptions } from '../children/spawnOptions.ts'
import { AgentFacts } from './agentFacts.ts'
import type { AgentHost } from './agentHost.ts'
import { dispatchCommand } from './commands.ts'
import { EventBuffer } from '../../protocol/runs/eventBuffer.ts'
import type { Run } from '../../protocol/runs/run.ts'
import type { InspectionListener } from './inspections.ts'
import { checkListener, type AgentListener } from '../events/observers.ts'

/** Functions of the runtime that an agent uses. */
export interface AgentOwner<Agent> {
  newId(): string
  /** Releases a stopped agent and its log. */
  release(host: AgentHost): Promise<void>
  /** Reports that a listener was removed, so that an idle agent may be unloaded now. */
  unheard(host: AgentHost): void
  agent(agentId: string): Agent | undefined
}

/**
 * A running agent. Its methods give commands and return at once; their effects appear in events and results. With the runtime's
 * `idleUnloadMs` it may be unloaded while idle: its next command loads it again, so all commands work as usual.
 */
export class Agent<
  out Output = unknown,
  in Deps = undefined,
  out Event extends AgentEvent = AgentEvent,
  out State = unknown,
> extends AgentFacts<Output, Deps, Event, State> {
  readonly id: string
  readonly #host: AgentHost
  readonly #owner: AgentOwner<Agent>

  /** Used by the runtime. Applications call `runtime.spawn`. */
  constructor(host: AgentHost, owner: AgentOwner<Agent>) {
    super(host)
    this.id = host.agentId
    this.#host = host
    this.#owner = owner
  }

  /** The agent's parent; `undefined` for the root of a tree. */
  get parent(): Agent | undefined {
    const { parent } = this.#host
    return parent === undefined ? undefined : this.#owner.agent(parent.agentId)
  }

  /** Returns the agent's live sub-agents, oldest first. Incognito ones are listed only by an incognito agent. */
  children(): Agent[] {
    return this.#host.family.listed.flatMap((child) => this.#owner.agent(child.agentId) ?? [])
  }

  /**
   * Starts a child that works alongside the agent and is prompted like any other. It is aborted, stopped and closed with the agent, and
   * restarted after a crash according to `restart`. With the `id` of an earlier child, that one resumes from its log. An `incognito` child of
   * an agent that is not incognito counts towards `spent`, and is otherwise known only to the code that holds it: the agent neither lists it
   * nor shows its waiting calls, and logs only the child's id, definition and usage. Without `deps` it uses those of the agent's run.
   *
   * @throws RuntimeError `INVALID_DEPS`, `INVALID_DEFINITION`, `INVALID_ID`, `AGENT_EXISTS`, `CHILD_REFUSED` (too deep, too many),
   * `AGENT_STOPPED`
   */
  spawn<O, D, C, S>(
    entry: Entry<O, D, C, S>,
    options: SpawnOptions & GivenDeps<DepsFor<D>> = {},
  ): Promise<Agent<O, DepsFor<D> | undefined, EventsOf<C>, S>> {
    return this.#host.loaded((agent) => this.#spawn(agent, entry, options))
  }

  /**
   * Hands the conversation over to another agent, which starts with the whole conversation so far (shared, not
   * copied) and is the one to prompt from now on. `afterwards: 'wait'` (default) keeps this agent, with the other as
   * its child; `'end'` closes it, and the other becomes a root. Throws as `spawn` does.
   */
  handOver<O, D, C, S>(
    entry: Entry<O, D, C, S>,
    options: { readonly afterwards?: 'wait' | 'end' } = {},
  ): Promise<Agent<O, DepsFor<D> | undefined, EventsOf<C>, S>> {
    const isEnd = options?.afterwards === 'end'
    return this.#host.loaded(async (agent) => {
      const rest = isAgentDefinition(entry) ? { definition: entry } : entry
      const successor = await this.#spawn(agent, { context: 'fork', ...rest, detach: isEnd }, {})
      if (isEnd) await this.close()
      return successor
    })
  }

  /** Returns the current rules for the agent's calls, the rules added by people, and the mode; `null` without `permissions`. */
  permissions(): Permissions | null {
    return shownPermissions(this.#host)
  }

  /**
   * Sets instructions, tools or a model for the agent from its next turn on, in place of the definition's. The change is recorded, so it
   * holds after a restart too; `null` resets it. The definition's `beforeTurn` has the last word.
   *
   * @throws RuntimeError `INVALID_OPTION` (no such tool), `MODEL_NOT_FOUND`, `INVALID_DEFINITION` (no model), `AGENT_STOPPED`, `AGENT_PAUSED`
   */
  use(options: UseOptions | null): void {
    const { use, model } = useCommand(options, `Agent "${this.id}"`)
    if (model !== undefined) this.#host.lend(model)
    this.#carryOut(checkCommand({ type: 'agent.use', agentId: this.id, use }))
  }

  /**
   * Ends the current run: no further delta is emitted, the part of the reply that has arrived is kept, calls in flight are
   * told to stop and get a result that says so, and waiting steering and follow-ups are dropped. Waiting prompts run next.
   * Does nothing if the agent is idle. An agent stuck on a record that its store can never accept (`RECORD_TOO_LARGE`) is
   * closed: `runtime.open` continues from its log. Background calls end too: all of them, or as `background` says.
   *
   * @throws RuntimeError `INVALID_OPTION` for another `background`
   */
  abort(options?: AbortOptions): void {
    this.#carryOut(checkCommand({ type: 'agent.abort', agentId: this.id, ...abortFields(options) }))
  }

  /** Ends the agent for good: aborts its work, writes the log and releases it. Idempotent. */
  async stop(): Promise<void> {
    await this.#end('stop')
  }

  /**
   * Ends the agent so that `runtime.resume` can continue it: aborts its work, and leaves queues and approvals waiting. An incognito agent
   * leaves nothing. Idempotent.
   */
  async close(): Promise<void> {
    await this.#end('close')
  }

  async #end(how: 'stop' | 'close'): Promise<void> {
    const host = this.#host
    await host.machine.end(how)
    await this.#owner.release(host)
    await host.parent?.family.children.gone(this.id)
  }

  /**
   * Calls `listener` with every event from now on. Returns a function that unsubscribes it. A listener that throws or
   * rejects affects nothing else: the others get an `error` event with `SUBSCRIBER_FAILED`. Approvals, questions and client
   * calls of sub-agents are included, because someone must decide them; with `descendants` all their events are.
   *
   * @example
   * ```ts
   * const unsubscribe = agent.subscribe((event) => {
   *   if (event.type === 'approval.requested') agent.decide(event.key, 'approve')
   * })
   * await agent.prompt('Run the tests').result
   * unsubscribe()
   * ```
   */
  subscribe(listener: (event: Event) => unknown, options?: { readonly descendants?: false }): () => void
  subscribe(listener: AgentListener, options: ListenOptions): () => void
  subscribe(listener: (event: never) => unknown, options: ListenOptions = {}): () => void {
    checkListener('subscribe', listener)
    const { descendants = false } = options ?? {}
    const unsubscribe = this.#host.announcer.subscribe(listener as AgentListener, { descendants })
    return () => {
      unsubscribe()
      this.#owner.unheard(this.#host)
    }
  }

  /** Returns every event from now on, as an async iterable with a bounded buffer. Leaving the loop unsubscribes. */
  events(options?: { readonly descendants?: false }): AsyncIterableIterator<Event>
  events(options: ListenOptions): AsyncIterableIterator<AgentEvent>
  events(options: ListenOptions = {}): AsyncIterableIterator<AgentEvent> {
    const buffer: EventBuffer = new EventBuffer(() => {
      unsubscribe()
      forget()
    })
    const unsubscribe = this.subscribe((event) => buffer.push(event), options)
    const forget = this.#host.machine.onEnd(() => buffer.close())
    if (this.#host.machine.isStopped) buffer.close()
    return buffer
  }

  /**
   * Calls `listener` with XState's own inspection events for the agent's actor and every actor below it, starting with those that
   * already exist. Returns a function that unsubscribes it. XState inspectors accept these events. Nothing in them is redacted.
   */
  inspect(listener: InspectionListener): () => void {
    checkListener('inspect', listener)
    const end = this.#host.machine.inspect(listener)
    return () => {
      end()
      this.#owner.unheard(this.#host)
    }
  }

  /** Executes a command given as data; the methods above are shorthands, and throw the same errors. */
  dispatch(command: AgentCommand, options: DispatchOptions = {}): Run | undefined {
    const checked = checkCommand(command)
    if (checked.agentId === this.id) return this.#carryOut(checked, options)
    throw new RuntimeError('INVALID_OPTION', `The command is for agent "${checked.agentId}", not "${this.id}".`)
  }

  /** Adds the agent to a group. Called by the groups that an agent is opened for. */
  joinGroup(group: SharedLessons): void {
    // Only those that are loaded take part.
    this.#host.ports?.joinGroup(group)
  }

  #carryOut(checked: CheckedCommand, { requestId, deps }: DispatchOptions = {}): Run | undefined {
    const host = this.#host
    const { machine, log } = host
    const context = machine.open
    if (checked.type === 'agent.stop') return context === undefined ? undefined : this.#endSoon('stop')
    if (context === undefined) throw stoppedError(host)
    const isItsRun = checked.type === 'agent.abort' && [undefined, context.run?.requestId].includes(checked.run)
    // Back to what its log says leads only through the log.
    if (isItsRun && log.isStuck) return this.#endSoon('close')
    return dispatchCommand({ host, context }, checked, {
      id: requestId ?? this.#owner.newId(),
      isRemote: requestId !== undefined,
      deps,
    })
  }

  #endSoon(how: 'stop' | 'close'): undefined {
    void this.#end(how).catch((thrown: unknown) => this.#host.announcer.fail(thrown))
  }

  /** Spawns a child, whose types are those of the entry. */
  async #spawn(agent: AgentHost, ...[entry, options]: SpawnArguments): Promise<Agent<never, unknown, never, never>> {
    const isTaken = (agentId: string): boolean => this.#owner.agent(agentId) !== undefined
    const { agentId } = await spawnChild(agent, agent.family.children, entry, { options, isTaken })
    return this.#owner.agent(agentId) as Agent<never, unknown, never, never>
  }
}

/** Returns the error for a command to an agent that no longer takes any. */
const stoppedError = ({ agentId, machine: { wasLetGo } }: AgentHost): RuntimeError =>
  wasLetGo === undefined
    ? new RuntimeError('AGENT_STOPPED', `Agent "${agentId}" has stopped.`)
    : new RuntimeError(wasLetGo.code as ErrorCode, wasLetGo.message)

/** Type of an agent with its own dependencies, by its definition: `AgentOf<typeof coder>`. */
export type AgentOf<D extends AgentDefinition> =
  D extends AgentDefinition<infer Output, infer Deps, infer Calls, infer State>
    ? Agent<Output, DepsFor<Deps> | undefined, EventsOf<Calls>, State>
    : never
