import { nanoid } from 'nanoid'
import type { ActorRefFrom } from 'xstate'
import { z } from 'zod'
import { compactTrunk } from '../actors/compactTrunk.ts'
import { isAgentDefinition, type AgentDefinition } from '../actors/agentDefinition.ts'
import { drainPrunes } from '../actors/drainPrunes.ts'
import { drainReverts } from '../actors/drainReverts.ts'
import { runTool } from '../actors/runTool.ts'
import { settle } from '../actors/settle.ts'
import { sleep } from '../actors/sleep.ts'
import { openChild, watchChild } from '../actors/openChild.ts'
import { streamReply } from '../actors/streamReply.ts'
import { agentMachine } from '../machines/agentMachine.ts'
import type { AgentMachineEvent } from '../machines/agentTypes.ts'
import type { SubAgentLogic } from '../machines/agentSetup.ts'
import { supervisorMachine } from '../machines/supervisorMachine.ts'
import { Redactor, type RedactOptions } from '../actors/redaction/redactor.ts'
import type { Clock } from '../protocol/clock.ts'
import { describeIssues, RuntimeError } from '../protocol/errors.ts'
import { agentIdSchema } from '../protocol/ids.ts'
import type { RecordDraft } from '../protocol/records.ts'
import type { Logger } from '../protocol/logger.ts'
import type { Tracer } from '../protocol/tracer.ts'
import type { Store, StoreLease } from '../protocol/store.ts'
import type { Agent, AgentBody, AgentOwner } from './agent.ts'
import { AgentHost } from './agentHost.ts'
import { warnOfForgottenApprovals } from './forgottenApprovals.ts'
import type { HostOptions, HostShared } from './hostOptions.ts'
import type { BridgeServer, ServeOptions } from './bridge/serveOptions.ts'
import type { Nursery } from './children.ts'
import { Registry, type AgentPage } from './registry/registry.ts'
import { UnloadedHost, type Loader } from './registry/unloadedHost.ts'
import { Unloading } from './registry/unloading.ts'
import { Watchers } from './watchers.ts'
import { readHistory, type History } from './sessions/readHistory.ts'
import { memoryStore } from './stores/memoryStore.ts'
import { systemClock } from '../protocol/systemClock.ts'

export interface RuntimeOptions {
  /** Where logs live; closed with the runtime. Default: in memory. */
  readonly store?: Store
  /** Default: the system's. */
  readonly clock?: Clock
  /** Numbers from 0 to 1, for the jitter of retries. Default: `Math.random`. */
  readonly random?: () => number
  /** Makes ids of agents and requests. Default: nanoid. */
  readonly newId?: () => string
  /** Sees what agents do as spans: `otelTracer` of `escapement/otel`. */
  readonly tracer?: Tracer
  /** Gets a line for what happens, never its content: a pino logger, for example. Silent by default. */
  readonly logger?: Logger
  /** Kept out of logs, events, requests and captures, so that the model does not see it either. Off by default. */
  readonly redact?: RedactOptions
  /**
   * An agent without a parent that was idle for so many milliseconds, with no listener and no child, is unloaded: its log is let
   * go and its memory freed, and its next command loads it again. Until then a timer keeps the process alive. Default: never.
   */
  readonly idleUnloadMs?: number
}

/** Spawns agents and owns what they share. */
export interface Runtime {
  /**
   * Starts an agent of this definition, with a log of its own.
   *
   * @throws RuntimeError `RUNTIME_CLOSED`, `INVALID_ID`, `AGENT_EXISTS` (the id has a log already), `STORE_LOCKED`, `STORE_OPEN_FAILED`
   */
  spawn(definition: AgentDefinition, options?: { id?: string }): Promise<Agent>
  /**
   * Goes on with an agent from its log, after its process ended without `stop`: the conversation, queues, approvals and pauses are
   * as they were. A run that was cut off is continued as a new one (with `continue: false` it stays paused until
   * `agent.resume()`): the model is asked again, and calls in flight are run again or answered as their tools' `effects` say.
   *
   * @throws RuntimeError `AGENT_NOT_FOUND`, `AGENT_STOPPED`, `AGENT_EXISTS` (it runs already), `INVALID_DEFINITION` (of another
   * name), `STORE_LOCKED`, `LOG_CORRUPT`, `LOG_VERSION`
   */
  resume(agentId: string, definition: AgentDefinition, options?: { continue?: boolean }): Promise<Agent>
  /**
   * The agents that have not ended and have no parent, unloaded ones too, oldest first; all of them, or a page.
   *
   * @throws RuntimeError `INVALID_OPTION`: `after` is the id of none of them, `limit` is no positive integer.
   */
  agents(options?: { readonly page?: AgentPage }): Agent[]
  /** An agent that has not ended, a sub-agent too. */
  agent(id: string): Agent | undefined
  /**
   * Serves the agents over WebSocket, to `escapement/client` or anything that speaks the protocol. Closed with the runtime. The
   * first call loads the server.
   *
   * @throws RuntimeError `INVALID_OPTION`, also for a host beyond this machine without tokens; `BRIDGE_LISTEN_FAILED`, `RUNTIME_CLOSED`
   */
  serve(options?: ServeOptions): Promise<BridgeServer>
  /** Calls with every agent that begins to run, sub-agents included; returns a function that ends it. */
  onAgent(listener: (agent: Agent) => void): () => void
  /** Ends every agent so that it can be resumed, writes their logs and closes the store. Idempotent. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const has =
  (...methods: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof Reflect.get(value, name) === 'function')

const runtimeOptionsSchema = z
  .strictObject({
    store: z.custom(has('append', 'read', 'list', 'open', 'close'), 'give a store, such as fileStore(dir)'),
    clock: z.custom(has('now', 'after'), 'give { now, after }'),
    random: z.custom((value) => typeof value === 'function', 'give a function'),
    newId: z.custom((value) => typeof value === 'function', 'give a function'),
    tracer: z.custom(has('event', 'within'), 'give a tracer, such as otelTracer()'),
    logger: z.custom(has('debug', 'info', 'warn', 'error'), 'give a logger, such as pino()'),
    redact: z.looseObject({}),
    idleUnloadMs: z.number().positive(),
  })
  .partial()

const spawnOptionsSchema = z.strictObject({ id: z.string() }).partial()
const resumeOptionsSchema = z.strictObject({ continue: z.boolean() }).partial()

function checkOptions(schema: z.ZodType, options: unknown, verb: string): void {
  const checked = schema.safeParse(options)
  if (!checked.success) throw new RuntimeError('INVALID_OPTION', `${verb}: ${describeIssues(checked.error)}.`)
}

/** Makes a runtime. Close it, or hold it with `await using` where Node has that. */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  checkOptions(runtimeOptionsSchema, options, 'createRuntime')
  return new LocalRuntime(options)
}

class LocalRuntime implements Runtime, Nursery, Loader {
  readonly #store: Store
  readonly #shared: HostShared
  readonly #owner: AgentOwner
  readonly #logger: Logger | undefined
  readonly #hosts = new Map<string, AgentHost>()
  readonly #registry: Registry
  readonly #unloading: Unloading | undefined
  readonly #releasing = new WeakMap<AgentHost, Promise<void>>()
  readonly #forget = warnOfForgottenApprovals(this)
  #closing: Promise<void> | undefined
  readonly #servers: BridgeServer[] = []

  constructor(options: RuntimeOptions) {
    this.#store = options.store ?? memoryStore()
    const { clock = systemClock, random = Math.random, tracer, logger, redact, idleUnloadMs } = options
    this.#logger = logger
    this.#owner = {
      newId: options.newId ?? (() => nanoid(12)),
      release: (body) => this.#let(body),
      unheard: (body) => {
        if (body instanceof AgentHost) this.#unloading?.look(body)
      },
      agentOf: (host) => this.#registry.get(host.agentId),
      agentById: (agentId) => this.#registry.get(agentId),
    }
    this.#registry = new Registry(this.#owner)
    if (idleUnloadMs !== undefined)
      this.#unloading = new Unloading(idleUnloadMs, { clock, unload: (host) => this.#unload(host) })
    const find = (agentId: string): AgentHost => this.#hosts.get(agentId)!
    // Once for all agents: every `provide` builds the chart anew.
    const supervisor = supervisorMachine.provide({
      actors: { openChild: openChild(find), watchChild: watchChild(find), sleep: sleep(clock) },
    })
    const machine = agentMachine.provide({
      actors: {
        streamReply: streamReply(find),
        runTool: runTool(find),
        settle: settle(find),
        compactTrunk: compactTrunk(find),
        sleep: sleep(clock),
        drainReverts: drainReverts(find),
        drainPrunes: drainPrunes(find),
        subAgent: supervisor as unknown as SubAgentLogic,
      },
      actions: {
        attach: ({ context, self }) => this.#attach(context.agentId, self as ActorRefFrom<typeof agentMachine>),
        record: ({ context }: { context: { agentId: string } }, record: RecordDraft) =>
          find(context.agentId).record(record),
      },
    })
    // The two contain each other.
    supervisor.implementations.actors['agent'] = machine
    this.#shared = {
      machine,
      nursery: this,
      store: this.#store,
      clock,
      random,
      unloading: this.#unloading,
      ...(tracer === undefined && logger === undefined ? {} : { watchers: new Watchers({ tracer, logger }) }),
      ...(redact === undefined ? {} : { redactor: new Redactor(redact) }),
    }
  }

  async spawn(definition: AgentDefinition, options: { id?: string } = {}): Promise<Agent> {
    checkOptions(spawnOptionsSchema, options, 'spawn')
    const agentId = options.id ?? `${definition?.name}-${this.#owner.newId()}`
    this.#check(agentId, definition, 'spawn')
    const lease = await this.openLog(agentId)
    if (lease.lastSeq === 0) return this.#begin({ agentId, definition, lease })
    await lease.release()
    const what = `Agent "${agentId}" has a log of ${lease.lastSeq} records in this store: resume it, or`
    throw new RuntimeError('AGENT_EXISTS', `${what} spawn under another id.`)
  }

  async resume(agentId: string, definition: AgentDefinition, options: { continue?: boolean } = {}): Promise<Agent> {
    checkOptions(resumeOptionsSchema, options, 'resume')
    this.#check(agentId, definition, 'resume')
    const lease = await this.openLog(agentId)
    try {
      const history = await readHistory(this.#store, agentId)
      checkResumable(agentId, definition, history)
      const host = this.adopt({ agentId, definition, lease, history, staysPaused: options.continue === false })
      host.start(options.continue !== false && wasCutOff(host) ? [this.#resumption()] : [])
      await host.children?.ready()
      return this.#registry.get(agentId)!
    } catch (thrown) {
      await lease.release()
      throw thrown
    }
  }

  /** Goes on with a run that was cut off, before anybody can say something else. */
  #resumption(): AgentMachineEvent {
    return { type: 'resume', id: this.#owner.newId(), at: this.#shared.clock.now() }
  }

  #check(agentId: string, definition: AgentDefinition, verb: string): void {
    this.#checkOpen()
    if (!isAgentDefinition(definition)) {
      throw new RuntimeError('INVALID_DEFINITION', `${verb} takes what defineAgent returns.`)
    }
    if (!agentIdSchema.safeParse(agentId).success) {
      throw new RuntimeError('INVALID_ID', `${JSON.stringify(agentId)} is no agent id.`)
    }
    if (this.#hosts.has(agentId)) throw new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" is running already.`)
  }

  openLog(agentId: string): Promise<StoreLease> {
    const agent = this.#registry.get(agentId)
    if (agent === undefined || agent.isLoaded) return this.#open(agentId)
    return Promise.reject(new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" is there already, unloaded.`))
  }

  async #open(agentId: string): Promise<StoreLease> {
    const lease = await this.#store.open(agentId)
    if (this.#closing === undefined) return lease
    await lease.release()
    throw new RuntimeError('RUNTIME_CLOSED', 'The runtime was closed meanwhile.')
  }

  #begin(options: HostOptions): Agent {
    this.adopt(options).start()
    return this.#registry.get(options.agentId)!
  }

  adopt(options: HostOptions): AgentHost {
    const host = new AgentHost(options, this.#shared)
    this.#hosts.set(options.agentId, host)
    return host
  }

  /** Its actor runs: from now on the agent can be seen. */
  #attach(agentId: string, actor: ActorRefFrom<typeof agentMachine>): void {
    const host = this.#hosts.get(agentId)!
    host.attach(actor)
    this.#registry.seat(host)
  }

  /** Everything is written: what comes now loads the agent again. */
  #unload(host: AgentHost): void {
    const unloaded = new UnloadedHost(host, this)
    this.#registry.replace(host, unloaded)
    host.unload()
    unloaded.releasing(this.release(host))
  }

  get clock(): Clock {
    return this.#shared.clock
  }

  get watchers(): Watchers | undefined {
    return this.#shared.watchers
  }

  async load(unloaded: UnloadedHost, begin: (host: AgentHost) => void): Promise<AgentHost> {
    const { agentId, definition } = unloaded
    const lease = await this.#open(agentId)
    try {
      const history = await readHistory(this.#store, agentId)
      checkResumable(agentId, definition, history)
      const host = this.adopt({ agentId, definition, lease, history })
      begin(host)
      return host
    } catch (thrown) {
      await lease.release()
      throw thrown
    }
  }

  agents(options?: { readonly page?: AgentPage }): Agent[] {
    return this.#registry.roots(options)
  }

  agent(id: string): Agent | undefined {
    return this.#registry.get(id)
  }

  onAgent(listener: (agent: Agent) => void): () => void {
    return this.#registry.onSeat(listener)
  }

  async serve(options: ServeOptions = {}): Promise<BridgeServer> {
    this.#checkOpen()
    const { serve } = await import('./bridge/serve.ts')
    const server = await serve(this, { ...this.#shared, logger: this.#logger }, options)
    this.#servers.push(server)
    return server
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#forget()
    // Agents first, so that clients still see their runs end.
    const agents = Promise.allSettled(this.agents().map((agent) => agent.close()))
    const servers = Promise.allSettled(this.#servers.map((server) => server.close()))
    const stops = await agents
    await servers
    await Promise.allSettled([...this.#hosts.values()].map((host) => this.release(host)))
    await this.#store.close()
    const failed = stops.find((stop) => stop.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  #let(body: AgentBody): Promise<void> {
    if (body instanceof AgentHost) return this.release(body)
    this.#registry.remove(body)
    return body.released
  }

  release(host: AgentHost): Promise<void> {
    if (this.#hosts.get(host.agentId) !== host) return this.#releasing.get(host)?.catch(() => {}) ?? Promise.resolve()
    const release = this.#releasing.get(host) ?? this.#release(host)
    this.#releasing.set(host, release)
    return release
  }

  async #release(host: AgentHost): Promise<void> {
    const { agentId } = host
    this.#registry.remove(host)
    this.#unloading?.forget(host)
    try {
      await host.release()
    } finally {
      if (this.#hosts.get(agentId) === host) this.#hosts.delete(agentId)
    }
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new RuntimeError('RUNTIME_CLOSED', 'The runtime is closed.')
  }
}

/** Its log ends in the middle of a run, or with one that was cut off. */
const wasCutOff = ({ input: { restored } }: AgentHost): boolean =>
  restored?.context.run != null || restored?.context.pause?.type === 'interrupted'

function checkResumable(agentId: string, definition: AgentDefinition, { created, records }: History): void {
  if (records.at(-1)?.type === 'agent.stopped')
    throw new RuntimeError('AGENT_STOPPED', `Agent "${agentId}" was stopped for good.`)
  if (created.definition === definition.name) return
  const what = `Agent "${agentId}" is of definition "${created.definition}", not "${definition.name}".`
  throw new RuntimeError('INVALID_DEFINITION', what)
}
