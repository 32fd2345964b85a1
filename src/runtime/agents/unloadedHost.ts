import type { HostShared } from './hostOptions.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { PricedModel } from '../../actors/turn/turnOptions.ts'
import { Conversation } from '../../conversation/tree/conversation.ts'
import type { ConversationView } from '../../conversation/tree/conversationView.ts'
import type { AgentMachineEvent } from '../../machines/agentTypes.ts'
import { runIdOf } from '../../machines/draft.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { Metadata } from '../../protocol/metadata.ts'
import type { Spent } from '../../protocol/records.ts'
import type { Limits } from '../../protocol/runs/runLimits.ts'
import type { Store } from '../../protocol/ports/store.ts'
import type { TracedAgent } from '../../protocol/ports/tracer.ts'
import type { GrowingReply } from '../../protocol/events.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import type { AgentBody, LoadedAgent, RestingContext } from './agentBody.ts'
import type { AgentHost } from './agentHost.ts'
import { Bindings } from './bindings.ts'
import { emptyBrakeQueues } from '../../protocol/brakes/brakeTable.ts'
import { noTotals } from '../children/treeTotals.ts'
import type { RunDeps } from '../children/runDeps.ts'
import type { InspectionListener } from './inspections.ts'
import { Observers, type AgentListener } from '../events/observers.ts'
import { RunHandle } from '../../protocol/runs/run.ts'
import type { Instrumentation } from '../events/instrumentation.ts'

const nobody: readonly never[] = Object.freeze([])
const emptyConversation: ConversationView = new Conversation()

/** Context of an idle agent. */
const atRest: RestingContext = {
  pause: null,
  run: null,
  failedRun: null,
  resuming: null,
  ending: null,
  calls: nobody,
  prompts: nobody,
  steering: nobody,
  followUps: nobody,
  ...emptyBrakeQueues,
  compactRequests: nobody,
  policyRequests: nobody,
  frame: null,
}

/** Functions of the runtime that unloaded agents use. */
export interface AgentLoader {
  readonly clock: Clock
  readonly instrumentation: Instrumentation | undefined
  readonly shared: Pick<HostShared, 'callbackFailed'>
  /**
   * Recreates an agent's host from its log and passes it to `begin`, which starts it. Rejects as the store does, and with
   * `RUNTIME_CLOSED`, `AGENT_STOPPED`, `AGENT_NOT_FOUND`; then the log is released.
   */
  load(unloaded: UnloadedHost, begin: (host: AgentHost) => void): Promise<AgentHost>
}

/** Commands and runs requested since the agent was unloaded, in order. */
interface PendingCommands {
  readonly events: AgentMachineEvent[]
  readonly runs: RunHandle[]
}

/** Its state. A failed load leads back to `unloaded`. */
type State =
  | { readonly type: 'unloaded' | 'ended' }
  | { readonly type: 'loading'; readonly host: Promise<AgentHost> }
  | {
      readonly type: 'ending'
      readonly how: 'stop' | 'close'
      readonly host: Promise<AgentHost>
      readonly done: Promise<void>
    }

const unloaded: State = { type: 'unloaded' }

/**
 * Stands in for the host of an unloaded agent, and is all that remains of it in memory. The first command loads the host again; commands that
 * arrive meanwhile wait and are executed in order. If loading fails, their runs end with the error and the next command tries again.
 */
export class UnloadedHost implements AgentBody {
  readonly agentId: string
  readonly definition: AgentDefinition
  readonly active: string
  /** `seq` of the last record of its log. */
  readonly lastSeq: number
  readonly spent: Spent
  readonly outline: AgentBody['outline']
  readonly store: Store
  readonly metadata: Metadata | undefined
  readonly sources: AgentBody['sources']
  /** Models that code gave it to use. */
  lent: Map<string, PricedModel> | undefined
  readonly #frame: RestingContext['frame']
  readonly #failedRun: string | null
  given: RunDeps | undefined
  readonly #loader: AgentLoader
  readonly #runs: number
  readonly #turns: number
  #state: State = unloaded
  #released: Promise<void> | undefined
  #pending: PendingCommands | undefined
  readonly #bindings = new Bindings()

  constructor(host: AgentHost, loader: AgentLoader) {
    this.agentId = host.agentId
    this.definition = host.ownDefinition
    this.active = host.active
    this.#loader = loader
    this.given = host.given
    this.lastSeq = host.conversation.lastSeq
    this.spent = host.spent
    this.outline = host.outline
    this.store = host.store
    this.metadata = host.metadata
    this.lent = host.asking.lent
    const { sources } = host
    this.sources =
      sources.length === 0 ? nobody : sources.map(({ source, tools }) => ({ source, state: 'idle', tools }))
    this.#frame = host.announcer.clean(host.context.frame)
    this.#failedRun = host.context.failedRun
    this.#runs = host.context.runs
    this.#turns = host.context.turns
  }

  get parent(): undefined {
    return undefined
  }

  get incognito(): undefined {
    return undefined
  }

  get path(): readonly string[] {
    return nobody
  }

  get state(): string {
    return this.#state.type === 'ended' ? 'stopped' : 'idle'
  }

  get waitsFor(): null {
    return null
  }

  get context(): RestingContext {
    // What was asked since goes first.
    const failedRun = this.unseen === 0 ? this.#failedRun : null
    return this.#frame === null && failedRun === null ? atRest : { ...atRest, frame: this.#frame, failedRun }
  }

  get repairedBytes(): number {
    return 0
  }

  get conversation(): ConversationView {
    return emptyConversation
  }

  get totals(): typeof noTotals {
    return noTotals
  }

  get version(): object {
    return this.#state
  }

  get wasLetGo(): undefined {
    return undefined
  }

  get isStuck(): boolean {
    return false
  }

  get listedChildren(): readonly TreeAgent[] {
    return nobody
  }

  get clock(): Clock {
    return this.#loader.clock
  }

  get isStopped(): boolean {
    return this.#state.type === 'ended' || this.#state.type === 'ending'
  }

  /** Commands that wait until it is loaded. */
  get unseen(): number {
    return this.#pending?.events.length ?? 0
  }

  get ref(): undefined {
    return undefined
  }

  get deps(): unknown {
    return this.given?.current
  }

  get isLoaded(): false {
    return false
  }

  get room(): number {
    return this.definition.policy.maxChildren
  }

  get growingReply(): GrowingReply | undefined {
    return undefined
  }

  durable(): undefined {
    return undefined
  }

  get announcer(): AgentBody['announcer'] {
    return this
  }

  get runs(): AgentBody['runs'] {
    return this
  }

  /** The old host is still writing and releasing the log; loading waits for it. */
  releasing(release: Promise<void>): void {
    this.#released = release
      .catch((thrown: unknown) => this.fail(thrown))
      .finally(() => {
        this.#released = undefined
      })
  }

  /** Resolves once the old host has released the log. */
  get released(): Promise<void> {
    return this.#released ?? Promise.resolve()
  }

  joinGroup(): void {}

  /** Never called: an idle agent has no calls that wait for people. */
  get answers(): never {
    throw new RuntimeError('INTERNAL', `Agent "${this.agentId}" is not loaded.`)
  }

  lend(model: PricedModel): void {
    this.lent ??= new Map()
    this.lent.set(model.model.id, model)
  }

  clean<T>(value: T): T {
    return value
  }

  requested(requestId: string): void {
    this.#loader.instrumentation?.requested(requestId, this.#traced)
  }

  expect(requestId: string): RunHandle {
    const run = new RunHandle(requestId)
    this.#pend().runs.push(run)
    return run
  }

  send(event: AgentMachineEvent): void {
    // An idle agent has nothing to abort.
    if (event.type === 'withdraw' && this.unseen === 0) return
    if (event.type === 'abort' && (this.unseen === 0 || this.#pending?.events.at(-1)?.type === 'abort')) return
    this.#pend().events.push(event)
  }

  #pend(): PendingCommands {
    this.#pending ??= { events: [], runs: [] }
    void this.load().catch(() => {})
    return this.#pending
  }

  /** Continues a run that failed: agents that are paused are not unloaded. */
  async resume({ requestId: id }: RunHandle, limits: Limits | undefined): Promise<void> {
    this.send({ type: 'resume', id, at: this.clock.now(), ...(limits === undefined ? {} : { limits }) })
  }

  subscribe(listener: AgentListener, options: { readonly descendants: boolean }): () => void {
    return this.#bindings.add({ listener, bind: (host) => host.announcer.subscribe(listener, options) })
  }

  inspect(listener: InspectionListener): () => void {
    return this.#bindings.add({ bind: (host) => host.inspect(listener) })
  }

  onEnd(close: (crash: ErrorInfo | null) => void): () => void {
    return this.#bindings.add({ close, bind: (host) => host.onEnd(close) })
  }

  loaded<T>(work: (agent: LoadedAgent) => Promise<T>): Promise<T> {
    return this.load().then(work)
  }

  /** Loads the host, once for all concurrent callers. Rejects with `AGENT_STOPPED` if it was closed, and as `AgentLoader.load` does. */
  load(): Promise<AgentHost> {
    const state = this.#state
    if (state.type === 'ended')
      return Promise.reject(new RuntimeError('AGENT_STOPPED', `Agent "${this.agentId}" has stopped.`))
    if (state.type === 'loading' || state.type === 'ending') return state.host
    const host = this.#load()
    this.#state = { type: 'loading', host }
    return host
  }

  async #load(): Promise<AgentHost> {
    try {
      await this.released
      return await this.#loader.load(this, (host) => this.#begin(host))
    } catch (thrown) {
      if (this.#state.type === 'loading') this.#state = unloaded
      this.#failed(thrown)
      throw thrown
    }
  }

  #begin(host: AgentHost): void {
    this.#bindings.bindTo(host)
    const { events = nobody, runs = nobody } = this.#pending ?? {}
    for (const run of runs) host.runs.await(run)
    host.start(events)
    // Before what was asked has had a chance to ask a model.
    if (this.#state.type === 'ending') void host.end(this.#state.how).catch(() => {})
  }

  #failed(thrown: unknown): void {
    const isClosing = thrown instanceof RuntimeError && thrown.code === 'RUNTIME_CLOSED'
    const error = toErrorInfo(thrown, 'STORE_OPEN_FAILED')
    const { runs = nobody } = this.#pending ?? {}
    this.#pending = undefined
    for (const run of runs) {
      if (isClosing) run.cancel('aborted')
      else run.cancel('error', error)
    }
    if (!isClosing) this.fail(thrown)
  }

  /** Ends the agent. To stop it, it is loaded, because its log must say so. Idempotent; the first call decides, unless it failed. */
  end(how: 'stop' | 'close'): Promise<void> {
    const state = this.#state
    if (state.type === 'ending') return state.done
    if (state.type === 'ended' || (state.type === 'unloaded' && how === 'close')) {
      this.#hasEnded()
      return Promise.resolve()
    }
    const host = this.load()
    const done = this.#end(how, host)
    this.#state = { type: 'ending', how, host, done }
    return done
  }

  async #end(how: 'stop' | 'close', host: Promise<AgentHost>): Promise<void> {
    try {
      await (await host).end(how)
    } catch (thrown) {
      if (how === 'stop') {
        this.#state = unloaded
        throw thrown
      }
      this.#hasEnded()
    }
  }

  #hasEnded(): void {
    this.#state = { type: 'ended' }
    this.#bindings.close()
  }

  /** Reports something that went wrong. */
  fail(thrown: unknown): void {
    const { agentId, path, clock } = this
    const at = { runId: runIdOf(agentId, this.#runs), turnIndex: Math.max(0, this.#turns - 1) }
    const error = toErrorInfo(thrown, 'INTERNAL')
    const event = { type: 'error', agentId, path, seq: this.lastSeq, time: clock.now(), ...at, error } as const
    this.#loader.instrumentation?.event(event, this.#traced)
    const place = `A listener of agent "${this.definition.name}"`
    const listenerFailed = (failure: unknown): void => this.#loader.shared.callbackFailed(place, failure, { agentId })
    const observers = new Observers({ listenerFailed })
    for (const listener of this.#bindings.listeners) observers.add(listener)
    observers.tell(event, undefined)
  }

  get #traced(): TracedAgent {
    const { agentId, path, definition } = this
    return { agentId, path, name: definition.name, model: definition.model.id }
  }
}
