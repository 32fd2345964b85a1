import type { ActorRefFrom } from 'xstate'
import { checkFold } from '../actors/define/brakingOptions.ts'
import type { AgentDefinition } from '../actors/define/agentDefinition.ts'
import type { agentMachine } from '../machines/agentMachine.ts'
import type { AgentMachineEvent } from '../machines/agentTypes.ts'
import type { Metadata } from '../protocol/metadata.ts'
import type { Clock } from '../protocol/ports/clock.ts'
import { type ErrorInfo, RuntimeError } from '../protocol/errors.ts'
import type { Logger } from '../protocol/ports/logger.ts'
import type { Store, StoreLease } from '../protocol/ports/store.ts'
import type { Agent, AgentOwner } from './agents/agent.ts'
import { hostOf } from './agents/agentFacts.ts'
import { AgentHost } from './agents/agentHost.ts'
import type { HostOptions, HostShared } from './agents/hostOptions.ts'
import type { Closable } from '../actors/tools/toolContext.ts'
import type { ChildHosts } from './children/childHosts.ts'
import type { TreeAgent } from './children/treeAgent.ts'
import type { AgentRuntime } from './agentRuntime.ts'
import type { GivenDeps, OpenOptions, ResumeOptions, RootSpawnOptions } from './children/spawnOptions.ts'
import { checkedHistory, isCutHistory, withHistory, type CheckedHistory } from './beginWithHistory.ts'
import { incognitoStore } from './incognitoStore.ts'
import { preparedMachine, Hosts, Openings } from './agents/hosts.ts'
import { hostShared } from './hostShared.ts'
import { openLease, type LeaseWait } from './openLease.ts'
import { Registry, type ListOptions } from './registry.ts'
import { IdleUnloader } from './agents/idleUnloader.ts'
import { Sources } from './agents/sources.ts'
import {
  checkGiven,
  checkOwedDeps,
  checkOwner,
  checkResumable,
  checkSame,
  checkStored,
  hasLog,
  wasCutOff,
} from './resumable.ts'
import { checkDetachable, detachHost, letGo, rootOf, type ClosingOptions, type DetachOptions } from './letGo.ts'
import { replaceDeps, runDepsOf } from './children/runDeps.ts'
import { checkOptions } from './checkOptions.ts'
import type { RuntimeSetup } from './runtimeSetup.ts'
import type { OpenedLog } from './agents/keptAgent.ts'
import { openHistory } from './openHistory.ts'

export class LocalRuntime implements AgentRuntime, ChildHosts {
  readonly #store: Store
  readonly #memoryStore: () => Store
  readonly #shared: HostShared
  readonly #owner: AgentOwner<Agent>
  readonly #logger: Logger | undefined
  readonly #hosts = new Hosts((host) => {
    if (host.isLoaded) this.#registry.remove(host)
    this.#unloader?.forget(host)
  })
  readonly #openings = new Openings()
  readonly #registry: Registry
  readonly #unloader: IdleUnloader | undefined
  readonly #forget: () => void
  #closing: Promise<void> | undefined
  readonly #companions: Closable[] = []
  readonly #above = new Set<Closable>()

  constructor(setup: RuntimeSetup) {
    const { store, clock, logger, idleUnloadMs, interpreter, newId } = setup
    this.#store = store
    this.#memoryStore = setup.memoryStore
    this.#logger = logger
    this.#forget = setup.watch(this)
    this.#owner = {
      newId,
      release: (host) => this.releaseHost(host),
      unheard: (host) => this.#unloader?.look(host),
      agent: (agentId) => this.#registry.get(agentId),
    }
    this.#registry = new Registry(this.#owner)
    if (idleUnloadMs !== undefined)
      this.#unloader = new IdleUnloader(idleUnloadMs, {
        clock,
        unload: ({ agentId }) => {
          const host = this.#hosts.get(agentId)!
          host.unload(() => this.release(host))
        },
      })
    const attach = (agentId: string, actor: ActorRefFrom<typeof agentMachine>): void => this.#attach(agentId, actor)
    const machine = preparedMachine({ clock, interpreter, hosts: this.#hosts, attach })
    const sources = new Sources(setup)
    this.#shared = hostShared(setup, {
      machine,
      sources,
      createActor: interpreter.createActor,
      childHosts: this,
      store: this.#store,
      isStoreOver: () => setup.storeEnds && this.#closing !== undefined,
      clock,
      unloader: this.#unloader,
      reload: (agentId, begin) => this.#reload(this.#registry.host(agentId)!, begin),
    })
  }

  async spawn(
    definition: AgentDefinition,
    options?: RootSpawnOptions & GivenDeps<unknown>,
  ): Promise<Agent<never, unknown, never>> {
    if (options !== undefined) checkOptions('spawn', options)
    const agentId = options?.id ?? `${definition?.name}-${this.#owner.newId()}`
    this.#check(agentId, definition, 'spawn')
    this.#checkFree(agentId)
    const history = checkedHistory(options?.history)
    const deps = runDepsOf(definition, options?.deps, 'spawn')
    return this.#openings.alone(agentId, async () => {
      const incognito = options?.incognito === true ? this.incognitoStore() : undefined
      const lease = await this.openLog(agentId, incognito)
      const { metadata, under } = options ?? {}
      const birth = { agentId, definition, lease, incognito, metadata, under, deps }
      if (lease.lastSeq === 0 || (await isCutHistory(lease, this.#store, history)))
        return await this.#begin(birth, history)
      await lease.release()
      throw hasLog(lease)
    })
  }

  async resume(
    agentId: string,
    definition: AgentDefinition,
    options: ResumeOptions & GivenDeps<unknown> = {},
  ): Promise<Agent<never, unknown, never>> {
    checkOptions('resume', options)
    this.#check(agentId, definition, 'resume')
    checkStored(this.#hosts.get(agentId), 'resume')
    this.#checkFree(agentId)
    return this.#openings.alone(agentId, async () => {
      return this.#continue(await this.openLog(agentId, undefined, options), definition, options)
    })
  }

  async open(
    agentId: string,
    definition: AgentDefinition,
    options: OpenOptions & GivenDeps<unknown> = {},
  ): Promise<Agent<never, unknown, never>> {
    checkOptions('open', options)
    const history = checkedHistory(options.history)
    const metadata = this.#shared.sources.redactor?.value(options.metadata) ?? options.metadata
    for (;;) {
      this.#check(agentId, definition, 'open')
      checkStored(this.#hosts.get(agentId), 'open')
      const opening = this.#openings.of(agentId)
      const host = this.#registry.host(agentId)
      if (opening !== undefined) await opening
      else if (host === undefined) break
      else if (host.machine.isStopped) await this.#parting(host)
      else {
        checkOwner(agentId, host.metadata, metadata)
        checkSame(agentId, host.view.definition.name, definition)
        replaceDeps(host, options.deps, 'open')
        host.dueTimer.look()
        return this.#agent(agentId)
      }
    }
    const deps = runDepsOf(definition, options.deps, 'open')
    return this.#openings.alone(agentId, async () => {
      const lease = await this.openLog(agentId, undefined, options)
      return lease.lastSeq === 0 || (await isCutHistory(lease, this.#store, history))
        ? await this.#begin({ agentId, definition, lease, metadata, under: options.under, deps }, history)
        : await this.#continue(lease, definition, options, metadata)
    })
  }

  async detach(agentId: string, options: DetachOptions = {}): Promise<void> {
    this.checkOpen()
    checkOptions('detach', options)
    await this.#openings.of(agentId)
    const host = this.#registry.host(agentId)
    checkDetachable(agentId, host)
    await detachHost(host, this, options)
  }

  lost(host: TreeAgent, why: ErrorInfo): void {
    letGo(rootOf(host), why, this).catch((thrown: unknown) => host.announcer.fail(thrown))
  }

  /** Resolves once an ending agent has released its log. A failure is reported to the code that ended it. */
  async #parting(host: AgentHost): Promise<void> {
    await host.machine.end('close').catch(() => {})
    await this.releaseHost(host).catch(() => {})
  }

  async #continue(
    lease: StoreLease,
    definition: AgentDefinition,
    { continue: goesOn = true, takeOver, under, deps }: ResumeOptions & GivenDeps<unknown>,
    metadata?: Metadata,
  ): Promise<Agent<never, unknown, never>> {
    return this.#fromLog(lease, definition, metadata, async (history) => {
      const { agentId } = lease
      const given = runDepsOf(definition, deps, 'resume')
      if (goesOn) checkOwedDeps(definition, deps, history)
      const leasing = { takeOver }
      const host = this.adopt({
        agentId,
        definition,
        lease,
        leasing,
        history,
        staysPaused: !goesOn,
        under,
        deps: given,
      })
      host.start(goesOn && wasCutOff(host.machine.input) ? [this.#resumption()] : [])
      await host.family.ready()
      return this.#agent(agentId)
    })
  }

  /** Makes an agent that continues from a log. If that fails, the log is released. */
  async #fromLog<T>(
    lease: StoreLease,
    definition: AgentDefinition,
    metadata: Metadata | undefined,
    make: (history: OpenedLog) => Promise<T>,
  ): Promise<T> {
    try {
      const history = await openHistory(this.#store, lease, definition, this.#logger)
      checkResumable(lease.agentId, definition, history, metadata)
      return await make(history)
    } catch (thrown) {
      await lease.release()
      throw thrown
    }
  }

  /** Returns a command that continues an interrupted run before anyone can send another message. */
  #resumption(): AgentMachineEvent {
    return { type: 'resume', id: this.#owner.newId(), at: this.#shared.clock.now() }
  }

  #check(agentId: string, definition: AgentDefinition, verb: string): void {
    this.checkOpen()
    checkGiven(agentId, definition, verb)
  }

  #checkFree(agentId: string): void {
    this.#hosts.checkFree(agentId)
    this.#openings.checkFree(agentId)
  }

  find(agentId: string): AgentHost | undefined {
    return this.#registry.host(agentId)
  }

  newId(): string {
    return this.#owner.newId()
  }

  incognitoStore(): Store {
    return incognitoStore(this.#store, this.#memoryStore())
  }

  async openLog(agentId: string, store: Store = this.#store, leasing: LeaseWait = {}): Promise<StoreLease> {
    if (this.#registry.get(agentId)?.isLoaded === false)
      throw new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" already exists, unloaded.`)
    await this.#hosts.released(agentId)
    return openLease(store, agentId, leasing, this)
  }

  async #begin(options: HostOptions, history: CheckedHistory | undefined): Promise<Agent<never, unknown, never>> {
    this.adopt(history === undefined ? options : await withHistory(options, history, this.#shared)).start()
    return this.#agent(options.agentId)
  }

  #agent(agentId: string): Agent<never, unknown, never> {
    return this.#registry.get(agentId) as Agent<never, unknown, never>
  }

  adopt(options: HostOptions): AgentHost {
    checkFold(options.definition)
    const host = new AgentHost(options, this.#shared)
    this.#hosts.add(host)
    return host
  }

  /** Makes the agent visible, now that its actor runs. */
  #attach(agentId: string, actor: ActorRefFrom<typeof agentMachine>): void {
    const host = this.#hosts.get(agentId)!
    host.attach(actor)
    this.#registry.add(host)
  }

  get clock(): Clock {
    return this.#shared.clock
  }

  /** Parts that all agents of the runtime share. */
  get shared(): HostShared {
    return this.#shared
  }

  get logger(): Logger | undefined {
    return this.#logger
  }

  async #reload(host: AgentHost, begin: () => void): Promise<void> {
    const { agentId, ownDefinition } = host
    const lease = await openLease(this.#store, agentId, {}, this)
    await this.#fromLog(lease, ownDefinition, undefined, async (history) => {
      host.load({ lease, history })
      this.#hosts.add(host)
      begin()
    })
  }

  agents(options?: ListOptions): Agent[] {
    return this.#registry.roots(options)
  }

  /** Returns all agents without a parent, including incognito ones. */
  roots(): Agent[] {
    return this.#registry.everyRoot()
  }

  agent(id: string): Agent | undefined {
    return this.#registry.get(id)
  }

  onAgent(listener: (agent: Agent) => void): () => void {
    return this.#registry.onAgent(listener)
  }

  /** Closes `companion` with the runtime, while its agents end. Returns `false` if the runtime is already closing. */
  closeWith(companion: Closable): boolean {
    if (this.#closing !== undefined) return false
    this.#companions.push(companion)
    return true
  }

  /** Closes `above`, which stands above agents, before any of them ends. Returns `false` if the runtime is already closing. */
  closeFirst(above: Closable): boolean {
    if (this.#closing === undefined) this.#above.add(above)
    return this.#closing === undefined
  }

  /** Forgets something above agents that was closed by itself. */
  closed(above: Closable): void {
    this.#above.delete(above)
  }

  close(options: ClosingOptions = {}): Promise<void> {
    checkOptions('close', options)
    this.#closing ??= this.#close(options)
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close({ detach = false, drainMs = 0 }: ClosingOptions): Promise<void> {
    this.#forget()
    if (this.#above.size > 0) await Promise.allSettled([...this.#above].map((above) => above.close()))
    // Agents end first, so that clients still see their runs end.
    const end = (agent: Agent): Promise<void> =>
      detach && agent.isLoaded ? detachHost(hostOf(agent), this, { drainMs }) : agent.close()
    const agents = Promise.allSettled(this.roots().map(end))
    if (drainMs > 0) await agents
    const companions = Promise.allSettled(this.#companions.map((companion) => companion.close()))
    const stops = await agents
    await companions
    await this.#hosts.releaseAll()
    await this.#shared.resources.close()
    await this.#shared.sources.close()
    await this.#store.close()
    const failed = stops.find((stop) => stop.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  /** Releases an agent that has ended, and its log. */
  releaseHost(host: AgentHost): Promise<void> {
    const { unloaded } = host.machine
    // Whoever goes on with it opens those below it as well.
    if (unloaded === undefined) return host.family.released()?.then(() => this.release(host)) ?? this.release(host)
    this.#registry.remove(host)
    return unloaded.released
  }

  release(host: AgentHost): Promise<void> {
    return this.#hosts.release(host)
  }

  /** Checks that the runtime is open. @throws RuntimeError `RUNTIME_CLOSED` */
  checkOpen(): void {
    if (this.#closing !== undefined) throw new RuntimeError('RUNTIME_CLOSED', 'The runtime is closed.')
  }
}
