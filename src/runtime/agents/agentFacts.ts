import { AgentCommands } from './agentCommands.ts'
import { awaitRequested } from './requestedRun.ts'
import type { RunOptions } from '../../protocol/bridge/commands.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { Content } from '../../protocol/text/saidContent.ts'
import { given } from '../../protocol/bridge/commandRules.ts'
import type { RunResult } from '../../protocol/runs/runResult.ts'
import { describePolicies } from '../../actors/define/describePolicies.ts'
import type { ConversationView } from '../../conversation/tree/conversationView.ts'
import { mayResumeFailed } from '../../machines/conditions.ts'
import type { AgentPolicy } from '../../machines/agentPolicy.ts'
import type { PolicyInfo } from '../../protocol/braking.ts'
import { listSchedules, type ListedSchedule } from '../../protocol/parts/schedules/scheduleOptions.ts'
import type { SourceInfo } from '../../protocol/toolsChange.ts'
import type { TurnUse } from '../../protocol/bridge/turns.ts'
import type { Metadata } from '../../protocol/metadata.ts'
import type { Pending } from '../../protocol/runs/pending.ts'
import type { LogRecord, PauseReason, Spent } from '../../protocol/records.ts'
import type { AgentEvent, GrowingReply } from '../../protocol/events.ts'
import { approvalsOf, treeOf, type AgentTree, type PendingApproval, undecidedOf } from './agentTree.ts'
import { checkListener } from '../events/observers.ts'
import { settled, type Settled } from './settled.ts'
import { stateOfAgent } from './agentState.ts'
import type { AgentActor } from './machine.ts'
import type { AgentHost } from './agentHost.ts'

/** Longest key of `askOnce`, in UTF-16 units: as long as a client's request id. */
const maxKey = 128

/** Returns the host that an agent delegates to. */
export let hostOf: (agent: AgentFacts<unknown, never>) => AgentHost

/** The readable properties of an agent. */
export abstract class AgentFacts<
  out Output = unknown,
  in Deps = undefined,
  out Event = AgentEvent,
  out State = unknown,
> extends AgentCommands<Output, Deps, Event> {
  readonly #host: AgentHost

  constructor(host: AgentHost) {
    super()
    this.#host = host
  }

  static {
    hostOf = (agent) => agent.#host
  }

  /** True if the agent is in memory, rather than only in its log. */
  get isLoaded(): boolean {
    return this.#host.isLoaded
  }

  /**
   * Loads the agent if it is unloaded. Rejects as `runtime.resume` does if its log cannot be opened or read; the agent then stays
   * unloaded, and the next command tries again.
   */
  async wake(): Promise<void> {
    await this.#host.loaded(async () => {})
  }

  /**
   * The XState actor that runs its chart, for `useSelector`, `waitFor` and the like; `undefined` while the agent is unloaded, and another
   * one after each load. Give commands to the agent, not to this actor.
   */
  get ref(): AgentActor | undefined {
    return this.#host.machine.ref
  }

  /** Name of the chart's active state: `idle`, `replying.streaming`, `executing`, … */
  get state(): string {
    return this.#host.machine.state
  }

  /** Id of the model for which the agent's request is waiting, within the limits of the runtime; `null` if none is. */
  get waitsFor(): string | null {
    return this.#host.ports?.waitsFor ?? null
  }

  /** Reason why the agent is paused; `null` if it is not. */
  get pause(): PauseReason | null {
    return this.#host.machine.context.pause
  }

  /** True if the agent's last run ended with `error` and `resume` can continue it: nothing has begun since. */
  get hasFailed(): boolean {
    return mayResumeFailed(this.#host.machine)
  }

  /** Number of bytes cut off from a torn last line when the log was opened; 0 if the log was intact. */
  get repairedBytes(): number {
    return this.#host.log.repairedBytes
  }

  /** The conversation tree, read-only. Empty while the agent is not loaded: `await agent.wake()` before reading it. */
  get conversation(): ConversationView {
    return this.#host.view.conversation
  }

  /** The state of the agent, frozen; `undefined` without one, and while the agent is not loaded. */
  get appState(): State | undefined {
    return this.#host.ports?.ownState?.value as State | undefined
  }

  /** Version of the state: `seq` of the record that changed it last; 0 if none did. */
  get stateVersion(): number {
    return this.#host.ports?.ownState?.version ?? 0
  }

  /**
   * Changes the state of the agent: `update` changes the given draft, or returns another state, synchronously. Resolves with the
   * new state once it is stored. A change made here is a person's: a revert keeps it. With `base`, the version that the change is
   * based on, the change is refused if a part of the state that it touches has changed since.
   *
   * Rejects with RuntimeError `STATE_OFF`, `STATE_INVALID` (it does not fit the schema, is no JSON or too large),
   * `STATE_CONFLICT`, `AGENT_STOPPED`, `AGENT_PAUSED`, as `wake` does, and with what `update` throws; then nothing is changed.
   *
   * @example
   * ```ts
   * const schema = z.object({ title: z.string() })
   * const planner = defineAgent({ name: 'planner', model, state: { schema, initial: { title: '' } } })
   * const agent = await runtime.spawn(planner)
   * await agent.updateState((plan) => {
   *   plan.title = 'Move house'
   * })
   * ```
   */
  updateState(
    update: (draft: State) => State | void,
    options: { readonly base?: number | undefined } = {},
  ): Promise<State> {
    const base = options?.base
    return this.#host.loaded(async (host) => {
      const state = stateOfAgent(host.ports.ownState, host.agentId)
      checkListener('updateState', update)
      // What a listener asks for comes after the step.
      if (host.machine.isStepping) await Promise.resolve()
      const patch = state.patchBy(update)
      if (patch.length > 0)
        this.dispatch({ type: 'agent.state', agentId: this.id, patch, ...(base === undefined ? {} : { base }) })
      const { value } = state
      await host.log.durable()
      return value as State
    })
  }

  /** Number of further sub-agents that the agent may have alive now. */
  get room(): number {
    return this.#host.family.room
  }

  /** True if nothing about the agent is stored: see `runtime.spawn`. */
  get incognito(): boolean {
    return this.#host.incognito === true
  }

  /** Metadata that the application gave at the spawn; a sub-agent has its root's. */
  get metadata(): Metadata | undefined {
    return this.#host.metadata
  }

  /** Ids of the agent's ancestors, root first. */
  get path(): readonly string[] {
    return this.#host.path
  }

  /** `seq` of the agent's last record. */
  get lastSeq(): number {
    return this.#host.view.lastSeq
  }

  /** The brakes that are on for the model and the runtime. People and code may revert, prune and compact in any case. */
  get braking(): Omit<AgentPolicy['flags'], 'compact' | 'turns'> {
    const { compact: _, turns: __, ...brakes } = this.#host.view.definition.policy.flags
    return brakes
  }

  /** Policies that `brake` can ask by name, in the order of `braking.policies`; empty without policies. */
  get policies(): readonly PolicyInfo[] {
    return describePolicies(this.#host.view.definition)
  }

  /** The sources of the agent's tools, their state, and the tools from them that the last request offered. */
  get sources(): readonly SourceInfo[] {
    return this.#host.view.sources
  }

  /** Names of the agent's tools without `run`, whose calls clients carry out. */
  get clientTools(): readonly string[] {
    return this.#host.view.definition.policy.external ?? []
  }

  /** Usage of the agent in its lifetime, including its sub-agents. */
  get spent(): Spent {
    return this.#host.view.spent
  }

  /** Resolves once every record so far is as durable as the store guarantees; `undefined` if it already is. Rejects if the store fails. */
  durable(): Promise<void> | undefined {
    return this.#host.log.durable()
  }

  /**
   * Returns the records of the agent's log so far, from `fromSeq` on; for an incognito agent, those in memory.
   * Rejects if they could not be written, and with the store's errors.
   */
  async *readLog(fromSeq = 1): AsyncGenerator<LogRecord, void, undefined> {
    const { log, store } = this.#host
    await log.durable()
    yield* store.read(this.id, fromSeq)
  }

  /** The part of the current reply that has arrived, for listeners that join late; with `redact` only the part that can no longer become a secret. */
  get growingReply(): GrowingReply | undefined {
    return this.#host.ports?.growingReply
  }

  /** Name of the agent's definition. */
  get definition(): string {
    return this.#host.view.definition.name
  }

  /** Name of the definition that answers: the agent's own, or the one to which the conversation was handed over. */
  get active(): string {
    return this.#host.view.active
  }

  /** Returns the agent and all live agents below it. */
  tree(): AgentTree {
    return treeOf(this.#host)
  }

  /** Returns the calls that wait for a decision, here and below; redacted like the events that ask for one. */
  approvals(): PendingApproval[] {
    return this.#host.announcer.clean(approvalsOf(this.#host))
  }

  /**
   * Returns the calls and questions that wait for people, here and below: calls to be approved, questions of tools,
   * and calls that a client carries out, told apart by `kind`. Redacted like the events that ask for them.
   */
  pending(): Pending[] {
    return this.#host.announcer.clean(undecidedOf(this.#host))
  }

  /** Returns the agent's schedules, the next one first. */
  schedules(): ListedSchedule[] {
    return this.#host.announcer.clean(listSchedules(this.#host.machine.context.parts.schedules?.schedules ?? {}))
  }

  /** Options set by `use`, without secrets; `null` if none are set. */
  get inUse(): TurnUse | null {
    return this.#host.announcer.clean(this.#host.machine.context.frame?.use ?? null)
  }

  /**
   * Resolves once nothing more happens by itself in the agent and those below it, and their records are stored: with `idle`, `waiting`
   * for people, `paused` until it is resumed, or `stopped`. Until then a model, a tool, or the wait for a retry is in progress.
   * Resolves at once if none is. Rejects with the reason of `signal`, and as `wake` does for an unloaded agent with pending commands.
   *
   * @throws RuntimeError `INVALID_OPTION`
   *
   * @example
   * ```ts
   * agent.prompt('Tidy up the tests')
   * const settled = await agent.settled()
   * if (settled.status === 'waiting') console.log('Somebody must decide', settled.pending)
   * ```
   */
  settled(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<Settled> {
    return settled(this.#host, options?.signal)
  }

  /**
   * Returns true if the agent's log has a request id given to `dispatch`; aborting an idle agent leaves none. Loads the agent; rejects as
   * `wake` does.
   */
  wasAsked(requestId: string): Promise<boolean> {
    return this.#host.loaded(async ({ view }) => view.asked.has(requestId))
  }

  /**
   * Returns the result of a run that has no `Run` here, because another process began it: the newest, or the one that `requestId` asked
   * for, with the runs that continued it. Waits until it has ended, for people too; a run that waits for `resume` is `paused`. The
   * answer is checked against the definition's current schema; a result that does not fit has no `output`. Usage, cost and turns are
   * those of the last part; `spent` has the total. `undefined`: the log has no such request. Rejects as `wake` does.
   *
   * @example
   * ```ts
   * const resumed = await runtime.open(agent.id, coder) // in the process after
   * const result = await resumed.result()
   * if (result?.stopReason === 'stop') console.log(result.output)
   * ```
   */
  result(requestId?: string): Promise<RunResult<Output> | undefined> {
    return this.#host.loaded(async (agent) => {
      const isKnown = requestId === undefined || agent.view.asked.has(requestId) || agent.runs.expects(requestId)
      const result = isKnown ? await awaitRequested(agent, this.readLog(), requestId) : undefined
      return result as RunResult<Output> | undefined
    })
  }

  /**
   * Asks once under a key of yours, however often and in whichever process it is called: `prompt`, unless the log has the key, then `result`.
   *
   * @throws RuntimeError as `prompt`; rejects as `wake` does.
   *
   * @example
   * ```ts
   * const { text } = await agent.askOnce('order-17', 'Check order 17.')
   * ```
   */
  async askOnce(
    key: string,
    content: Content,
    { deps, ...said }: Omit<RunOptions, 'signal'> & { readonly deps?: Deps } = {},
  ): Promise<RunResult<Output>> {
    if (typeof key !== 'string' || key === '' || key.length > maxKey)
      throw new RuntimeError('INVALID_OPTION', `askOnce takes a key of 1 to ${maxKey} characters first.`)
    await this.#host.loaded(async ({ view, runs }) => {
      if (view.asked.has(key) || runs.expects(key)) return
      const prompt = { type: 'agent.prompt', agentId: this.id, content, ...given(said) } as const
      this.dispatch(prompt, { requestId: key, deps })
    })
    return (await this.result(key))!
  }
}
