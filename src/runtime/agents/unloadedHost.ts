import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import { Conversation, type ConversationView } from '../../conversation/conversation.ts'
import type { AgentContext, AgentMachineEvent } from '../../machines/agentTypes.ts'
import { runIdOf } from '../../machines/draft.ts'
import type { Clock } from '../../protocol/clock.ts'
import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { Spent } from '../../protocol/records.ts'
import type { TracedAgent } from '../../protocol/tracer.ts'
import type { AgentHost } from './agentHost.ts'
import type { InspectionListener } from './inspections.ts'
import { Observers, type AgentListener } from '../events/observers.ts'
import { RunHandle } from '../../runs/run.ts'
import type { Watchers } from '../../telemetry/watchers.ts'

const nobody: readonly never[] = Object.freeze([])
const emptyConversation: ConversationView = new Conversation()

/** What is known of an agent at rest. */
const atRest: Pick<AgentContext, 'pause' | 'run' | 'calls' | 'prompts' | 'steering' | 'followUps' | 'reverts'> = {
  pause: null,
  run: null,
  calls: nobody,
  prompts: nobody,
  steering: nobody,
  followUps: nobody,
  reverts: nobody,
}

/** What unloaded agents need of their runtime. */
export interface Loader {
  readonly clock: Clock
  readonly watchers: Watchers | undefined
  /**
   * Makes an agent's host anew from its log and hands it to `begin`, which starts it. Rejects as the store does, and with
   * `RUNTIME_CLOSED`, `AGENT_STOPPED`, `AGENT_NOT_FOUND`; the log is let go then.
   */
  load(unloaded: UnloadedHost, begin: (host: AgentHost) => void): Promise<AgentHost>
}

/** What somebody bound to the agent, to be bound to its host. */
interface Bond {
  bind(host: AgentHost): () => void
  readonly listener?: AgentListener
  readonly close?: (crash: ErrorInfo | null) => void
  unbind?: () => void
}

/** What was asked for since the agent was unloaded, in order. */
interface Waking {
  readonly events: AgentMachineEvent[]
  readonly runs: RunHandle[]
}

/**
 * Stands in for the host of an agent that was unloaded: all that is kept of it. The first command loads the host again; those
 * that come meanwhile wait and are carried out in order. When that fails, their runs end with the error and the next command
 * tries again.
 */
export class UnloadedHost {
  readonly agentId: string
  readonly definition: AgentDefinition
  /** `seq` of the last record of its log. */
  readonly lastSeq: number
  readonly spent: Spent
  readonly #loader: Loader
  readonly #runs: number
  readonly #turns: number
  #released: Promise<void> | undefined
  #loading: Promise<AgentHost> | undefined
  #waking: Waking | undefined
  #bonds: Bond[] | undefined
  #ending: { readonly how: 'stop' | 'close'; readonly done: Promise<void> } | undefined
  #isEnded = false

  constructor(host: AgentHost, loader: Loader) {
    this.agentId = host.agentId
    this.definition = host.definition
    this.#loader = loader
    this.lastSeq = host.conversation.lastSeq
    this.spent = host.spent
    this.#runs = host.context.runs
    this.#turns = host.context.turns
  }

  get parent(): undefined {
    return undefined
  }

  get path(): readonly string[] {
    return nobody
  }

  get state(): string {
    return this.#isEnded ? 'stopped' : 'idle'
  }

  get context(): typeof atRest {
    return atRest
  }

  get repairedBytes(): number {
    return 0
  }

  get conversation(): ConversationView {
    return emptyConversation
  }

  get isStuck(): boolean {
    return false
  }

  get liveChildren(): readonly AgentHost[] {
    return nobody
  }

  get clock(): Clock {
    return this.#loader.clock
  }

  get isStopped(): boolean {
    return this.#isEnded || this.#ending !== undefined
  }

  /** Commands that wait until it is loaded. */
  get unseen(): number {
    return this.#waking?.events.length ?? 0
  }

  get announcer(): Pick<UnloadedHost, 'requested' | 'subscribe'> {
    return this
  }

  get runs(): Pick<UnloadedHost, 'expect' | 'resume'> {
    return this
  }

  /** The old host is writing and letting go of the log; loading waits for it. */
  releasing(release: Promise<void>): void {
    this.#released = release
      .catch((thrown: unknown) => this.fail(thrown))
      .finally(() => {
        this.#released = undefined
      })
  }

  /** Resolves once the old host has let go of the log. */
  get released(): Promise<void> {
    return this.#released ?? Promise.resolve()
  }

  requested(requestId: string): void {
    this.#loader.watchers?.requested(requestId, this.#traced)
  }

  expect(requestId: string): RunHandle {
    const run = new RunHandle(requestId)
    this.#wake().runs.push(run)
    return run
  }

  send(event: AgentMachineEvent): void {
    // There is nothing to abort at rest.
    if (event.type === 'abort' && (this.unseen === 0 || this.#waking?.events.at(-1)?.type === 'abort')) return
    this.#wake().events.push(event)
  }

  #wake(): Waking {
    this.#waking ??= { events: [], runs: [] }
    void this.load().catch(() => {})
    return this.#waking
  }

  /** Only a paused agent is resumed, and those are not unloaded. */
  async resume(run: RunHandle): Promise<void> {
    run.cancel('stop')
  }

  subscribe(listener: AgentListener, options: { readonly descendants: boolean }): () => void {
    return this.#bind({ listener, bind: (host) => host.announcer.subscribe(listener, options) })
  }

  inspect(listener: InspectionListener): () => void {
    return this.#bind({ bind: (host) => host.inspect(listener) })
  }

  onEnd(close: (crash: ErrorInfo | null) => void): () => void {
    return this.#bind({ close, bind: (host) => host.onEnd(close) })
  }

  #bind(bond: Bond): () => void {
    this.#bonds ??= []
    this.#bonds.push(bond)
    return () => {
      this.#bonds = this.#bonds?.filter((other) => other !== bond)
      bond.unbind?.()
    }
  }

  /** Loads the host; once, however many ask. Rejects with `AGENT_STOPPED` when it was closed, and as `Loader.load` does. */
  load(): Promise<AgentHost> {
    if (this.#isEnded) return Promise.reject(new RuntimeError('AGENT_STOPPED', `Agent "${this.agentId}" has stopped.`))
    this.#loading ??= this.#load()
    return this.#loading
  }

  async #load(): Promise<AgentHost> {
    try {
      await this.released
      return await this.#loader.load(this, (host) => this.#begin(host))
    } catch (thrown) {
      this.#loading = undefined
      this.#failed(thrown)
      throw thrown
    }
  }

  #begin(host: AgentHost): void {
    const bonds = this.#bonds ?? nobody
    for (const bond of bonds) bond.unbind = bond.bind(host)
    const { events = nobody, runs = nobody } = this.#waking ?? {}
    for (const run of runs) host.runs.await(run)
    host.start(events)
  }

  #failed(thrown: unknown): void {
    const isClosing = thrown instanceof RuntimeError && thrown.code === 'RUNTIME_CLOSED'
    const error = toErrorInfo(thrown, 'STORE_OPEN_FAILED')
    const { runs = nobody } = this.#waking ?? {}
    this.#waking = undefined
    for (const run of runs) {
      if (isClosing) run.cancel('aborted')
      else run.cancel('error', error)
    }
    if (!isClosing) this.fail(thrown)
  }

  /** Ends the agent: to stop, it is loaded, as its log must say so. Idempotent; the first call decides, unless it failed. */
  end(how: 'stop' | 'close'): Promise<void> {
    if (this.#isEnded) return Promise.resolve()
    this.#ending ??= { how, done: this.#end(how) }
    return this.#ending.done
  }

  async #end(how: 'stop' | 'close'): Promise<void> {
    const loading = how === 'stop' ? this.load() : this.#loading
    try {
      if (loading !== undefined) return await (await loading).end(how)
    } catch (thrown) {
      if (how === 'stop') {
        this.#ending = undefined
        throw thrown
      }
    }
    this.#isEnded = true
    const bonds = this.#bonds ?? nobody
    this.#bonds = undefined
    for (const { close } of bonds) close?.(null)
  }

  /** Reports something that went wrong. */
  fail(thrown: unknown): void {
    const { agentId, path, clock } = this
    const at = { runId: runIdOf(agentId, this.#runs), turnIndex: Math.max(0, this.#turns - 1) }
    const error = toErrorInfo(thrown, 'INTERNAL')
    const event = { type: 'error', agentId, path, seq: this.lastSeq, time: clock.now(), ...at, error } as const
    this.#loader.watchers?.event(event, this.#traced)
    const observers = new Observers({ listenerFailed: () => {} })
    for (const { listener } of this.#bonds ?? nobody) if (listener !== undefined) observers.add(listener)
    observers.tell(event, undefined)
  }

  get #traced(): TracedAgent {
    const { agentId, path, definition } = this
    return { agentId, path, name: definition.name, model: definition.model.id }
  }
}
