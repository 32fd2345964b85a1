import type { ServedDeps } from '../../../bridge/src/server/servedDeps.ts'
import { depsOf } from '../../../bridge/src/server/servedDeps.ts'
import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { RuntimeError, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'
import type { ParentLink } from '../../../../src/protocol/parentLink.ts'
import type { RecordOf } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { LoggedRequests } from '../../../sessions/src/loggedRequests.ts'
import { createdRecord, firstRecord } from '../../../../src/log/readHistory.ts'
import type { HostView } from '../../../wire/src/hostView.ts'
import { machineNamedIn } from '../../../xstate/src/hosts/naming.ts'
import { hostingOf, type OfferedMachine } from '../../../xstate/src/hosts/registry.ts'
import type { Birth, Carried } from './carried.ts'
import type { Definitions } from './definitions.ts'
import { DrivenMachine, dueOf, type Driven } from './drivenMachine.ts'
import { refusalOf } from './engineErrors.ts'
import { Seats } from './seats.ts'
import { storedState, type StoredState } from './storedState.ts'
import type { TenantQueue } from './tenantQueue.ts'

/** Parts that a worker's agents share. */
export interface WorkerParts {
  readonly runtime: AgentRuntime
  readonly store: Store
  readonly definitions: Definitions
  readonly deps: ServedDeps | undefined
  /** Maximum number of agents at rest in memory, with their logs open. */
  readonly warm: number
  readonly logger: Logger | undefined
  readonly clock: Clock
  /** Lets runs begin within the limits of their tenants. Default: at once. */
  readonly tenants?: TenantQueue | undefined
}

/** An agent that was called by an agent of this worker and works on its own. */
export interface Detached {
  readonly agent: Agent
  readonly parent: ParentLink
  /** True once the engine knows the agent, which then no longer concerns its caller. */
  isTold: boolean
}

const nothing = (): void => {}

/** Agents of a worker. Each is opened for one attempt at a time, and kept for the next one while it rests. */
export class WorkerAgents {
  readonly seats = new Seats()
  readonly #parts: WorkerParts
  /** Agents at rest, the most recently used last. */
  readonly #warm = new Map<string, Agent>()
  readonly #detached = new Map<string, Detached>()
  readonly #opening = new Set<string>()
  readonly #parents = new WeakMap<Driven, ParentLink>()
  readonly #noticing = new Set<Promise<void>>()
  readonly #listeners = new Set<() => void>()
  /** Number of attempts that found their agent in memory, and number that read it from its log. */
  readonly openings = { warm: 0, read: 0 }

  constructor(parts: WorkerParts) {
    this.#parts = parts
    parts.runtime.onAgent((agent) => this.#began(agent))
  }

  get logger(): Logger | undefined {
    return this.#parts.logger
  }

  get definitions(): Definitions {
    return this.#parts.definitions
  }

  /** Resolves to true if an agent, or a machine, has a log. */
  async isThere(agentId: string): Promise<boolean> {
    return (await firstRecord(this.#parts.store, agentId)) !== undefined
  }

  /** Returns the id of the machine to which an agent belongs; `undefined` if there is none. */
  async machineOf(agentId: string): Promise<string | undefined> {
    const created = await this.created(agentId)
    const machine = created === undefined ? undefined : machineNamedIn(agentId, created.definition)
    if (machine === undefined) return undefined
    return (await firstRecord(this.#parts.store, machine))?.type === 'host.created' ? machine : undefined
  }

  /** Resolves with the state of an agent or a machine by its log. Rejects as `loadSession` does. */
  async stateOf(agentId: string): Promise<StoredState | HostView> {
    const { store, runtime } = this.#parts
    const first = await firstRecord(store, agentId)
    if (first?.type !== 'host.created') return await storedState(store, agentId)
    return (await this.#machine(first).read(runtime, agentId)).view
  }

  /** Returns the first record of an agent's log; `undefined` without one. */
  created(agentId: string): Promise<RecordOf<'agent.created'> | undefined> {
    return createdRecord(this.#parts.store, agentId)
  }

  /** Returns true if runs wait for the limits of their tenants. */
  get isLimited(): boolean {
    return this.#parts.tenants !== undefined
  }

  /** Number of runs that wait for the limits of their tenants. */
  get queued(): number {
    return this.#parts.tenants?.length ?? 0
  }

  /** Returns the reason why no further run of the agent's tenant may wait; `undefined` if one may. */
  async roomFor(agentId: string, { metadata }: Birth): Promise<ErrorInfo | undefined> {
    try {
      this.#parts.tenants?.checkRoom(metadata ?? (await this.created(agentId))?.metadata)
      return undefined
    } catch (thrown) {
      return refusalOf(thrown)
    }
  }

  /** Resolves to true if the log of an agent has a request. Rejects as the store does. */
  async wasAsked(agentId: string, requestId: string): Promise<boolean> {
    const requests = new LoggedRequests()
    for await (const record of this.#parts.store.read(agentId)) requests.apply(record)
    return requests.has(requestId)
  }

  /** Stops runs from beginning here: those that wait go elsewhere. */
  leave(): void {
    this.#parts.tenants?.close()
  }

  /**
   * Resolves once a run of the agent may begin, with a function to call when it is over; `undefined`: the signal was aborted, or this worker is
   * leaving.
   */
  async admit(agentId: string, birth: Birth, signal: AbortSignal): Promise<(() => void) | undefined> {
    const { tenants } = this.#parts
    if (tenants === undefined) return nothing
    return tenants.enter(birth.metadata ?? (await this.created(agentId))?.metadata, signal)
  }

  /**
   * Opens the agent or machine of a command.
   *
   * @throws RuntimeError as `runtime.open` and `hostMachine` do; `INVALID_OPTION` for a sub-agent;
   * `MACHINE_NOT_FOUND`: the command is for a machine, and there is none, or this worker does not know it
   */
  async open(agentId: string, { command, birth }: Carried): Promise<Driven> {
    const { store, definitions, runtime } = this.#parts
    const first = await firstRecord(store, agentId)
    const isNew = first === undefined && (command.type === 'event' || command.type === 'open')
    const machine = first?.type === 'host.created' ? this.#machine(first) : definitions.machine(birth.definition)
    if (machine === undefined || (!isNew && first?.type !== 'host.created')) {
      if (command.type !== 'event') return await this.#openAgent(agentId, birth, { anew: command.type === 'wake' })
      throw new RuntimeError('MACHINE_NOT_FOUND', whyNoMachine(agentId, first !== undefined, birth.definition))
    }
    checkMachine(agentId, machine.name, birth)
    const host = await machine.open(runtime, agentId, { input: birth.input, takeOver: true })
    // Its agents are there before a command for one of them is carried out.
    await host.ready()
    return new DrivenMachine(host, {
      agent: (id) => runtime.agent(id),
      wasAsked: (requestId) => this.wasAsked(agentId, requestId),
    })
  }

  /** @throws RuntimeError `MACHINE_NOT_FOUND` */
  #machine({ hostId, machine: name }: RecordOf<'host.created'>): OfferedMachine {
    const machine = this.definitions.machine(name)
    if (machine !== undefined) return machine
    throw new RuntimeError('MACHINE_NOT_FOUND', `Machine "${name}" of "${hostId}" is not known to this worker.`)
  }

  /**
   * Opens the agent with everything in its log, ready for commands; an interrupted run continues.
   * `anew`: the agent is read again even if it is in memory, unless it has just begun here.
   *
   * @throws RuntimeError as `runtime.open` does; `INVALID_OPTION` for a sub-agent
   */
  async #openAgent(agentId: string, birth: Birth, { anew }: { readonly anew: boolean }): Promise<Agent> {
    const { runtime, definitions, deps } = this.#parts
    this.#warm.delete(agentId)
    const here = runtime.agent(agentId)
    const isBegunHere = this.#detached.delete(agentId)
    if (here !== undefined && (!anew || isBegunHere) && (await this.#isCurrent(here))) {
      this.openings.warm += 1
      return here
    }
    if (here !== undefined) await this.letGo(here)
    const created = await this.created(agentId)
    const root = created?.path[0]
    if (root !== undefined) {
      const what = `"${agentId}" is a sub-agent, which lives with "${root}": give the command to that one`
      throw new RuntimeError('INVALID_OPTION', `${what}, and decide its calls by their key.`)
    }
    const definition = definitions.of(agentId, created?.definition, birth.definition)
    const metadata = birth.metadata ?? created?.metadata
    const { metadata: asked, history } = birth
    this.#opening.add(agentId)
    this.openings.read += 1
    try {
      const agent = (await runtime.open(agentId, definition, {
        takeOver: true,
        ...(asked === undefined ? {} : { metadata: asked }),
        ...(history === undefined ? {} : { history }),
        ...(await depsOf(deps, definition, { id: agentId, metadata })),
      })) as Agent
      if (created?.parent !== undefined) this.#parents.set(agent, created.parent)
      return agent
    } finally {
      this.#opening.delete(agentId)
    }
  }

  /** Returns the id of the agent to which an agent reports its work. */
  callerOf(agent: Driven): string | undefined {
    const parent = this.#parents.get(agent)
    return parent?.reports === undefined ? undefined : parent.agentId
  }

  /** Returns true if no other writer has appended to the log since: another worker may have had the agent in between. */
  async #isCurrent(agent: Agent): Promise<boolean> {
    await agent.durable()
    for await (const _ of this.#parts.store.read(agent.id, agent.lastSeq + 1, 1)) return false
    return true
  }

  /** Keeps a resting agent for its next command, and releases the least recently used ones. */
  async keep(agent: Driven): Promise<void> {
    if (agent instanceof DrivenMachine) return await this.letGo(agent)
    this.#warm.set(agent.id, agent)
    for (const [agentId, oldest] of this.#warm) {
      if (this.#warm.size <= this.#parts.warm) return
      this.#warm.delete(agentId)
      await this.letGo(oldest)
    }
  }

  /** Releases an agent without a record in its log, and those that report to it. Never rejects. */
  async letGo(agent: Driven): Promise<void> {
    const below = this.reporting(agent).map((detached) => this.#detach(detached.agent.id))
    await Promise.all([agent instanceof DrivenMachine ? agent.letGo() : this.#detach(agent.id), ...below])
  }

  async #detach(agentId: string): Promise<void> {
    this.#warm.delete(agentId)
    this.#detached.delete(agentId)
    try {
      await this.#parts.runtime.detach(agentId)
    } catch (thrown) {
      if (
        thrown instanceof RuntimeError &&
        ['AGENT_NOT_FOUND', 'RUNTIME_CLOSED', 'STORE_LEASE_LOST'].includes(thrown.code)
      )
        return
      this.logger?.warn({ agentId, error: thrown }, 'an agent could not write the end of its log when it was let go of')
    }
  }

  /** Returns the agents that report their work to an agent of this tree, and live as long as it does. */
  reporting(root: Driven): Detached[] {
    return this.#below(root).filter(({ parent, isTold }) => parent.reports !== undefined && !isTold)
  }

  /** Returns the ids of agents of their own that agents of this tree have begun since it was opened. */
  begun(root: Driven): string[] {
    const found = this.#below(root).filter(({ parent, isTold }) => parent.reports === undefined && !isTold)
    for (const detached of found) detached.isTold = true
    return found.map(({ agent }) => agent.id)
  }

  /** Returns the time at which an agent wants to be woken, for a schedule or a sleeping call. */
  dueOf(agent: Driven): { readonly due?: { readonly at: number; readonly inMs: number } } {
    const at = agent instanceof DrivenMachine ? agent.due : dueOf(agent)
    return at === null ? {} : { due: { at, inMs: Math.max(0, at - this.#parts.clock.now()) } }
  }

  /** Returns the number of sub-agents that an agent has had. */
  countOf(agent: Driven): number {
    return agent instanceof DrivenMachine ? 0 : (agent.ref?.getSnapshot().context.children ?? 0)
  }

  /**
   * Returns the ids of agents that agents of this tree had begun before it was opened, and that are
   * agents of their own, by the logs. The engine may or may not know of them. Those among the first
   * `known` sub-agents of the root are left out, because the engine has heard of them.
   */
  async begunBefore(root: Driven, known: number): Promise<string[]> {
    const begun = new Set(await this.#begunBy(root.id, known + 1, this.countOf(root)))
    for (const child of root.children()) for (const id of await this.#begunBy(child.id)) begun.add(id)
    for (const id of begun) {
      const detached = this.#detached.get(id)
      if (detached !== undefined) detached.isTold = true
    }
    return [...begun]
  }

  /** Returns the ids of agents of their own that one agent's sub-agents have begun, at any depth. */
  async #begunBy(agentId: string, from = 1, to = Infinity): Promise<string[]> {
    const begun: string[] = []
    for (let number = from; number <= to; number += 1) {
      const childId = `${agentId}.${number}`
      const created = await this.created(childId)
      if (created === undefined && to === Infinity) break
      if (created === undefined) continue
      if (created.path.length === 0 && created.parent?.reports === undefined) begun.push(childId)
      else begun.push(...(await this.#begunBy(childId)))
    }
    return begun
  }

  #below(root: Driven): Detached[] {
    return [...this.#detached.values()].filter(({ parent }) => this.#rootOf(parent.agentId) === root.id)
  }

  /** Resolves once all agents that have begun are known. */
  async noticed(): Promise<void> {
    while (this.#noticing.size > 0) await Promise.all(this.#noticing)
  }

  /** Subscribes to the start of agents that work on their own; returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #began(agent: Agent): void {
    if (agent.incognito || agent.parent !== undefined || this.#opening.has(agent.id)) return
    const noticing = this.#notice(agent).catch((thrown: unknown) =>
      this.logger?.warn({ agentId: agent.id, error: thrown }, 'the log of a detached agent could not be read'),
    )
    const done = noticing.then(() => void this.#noticing.delete(done))
    this.#noticing.add(done)
  }

  async #notice(agent: Agent): Promise<void> {
    // It is in the middle of its start, at whose end it has a first record.
    await Promise.resolve()
    await agent.durable()
    const parent = (await this.created(agent.id))?.parent
    if (parent === undefined) return
    this.#detached.set(agent.id, { agent, parent, isTold: false })
    this.#parents.set(agent, parent)
    for (const listener of this.#listeners) listener()
  }

  /** Returns the id of the agent or machine at the top of an agent's present or former tree: a sub-agent may have ended since. */
  #rootOf(agentId: string): string {
    const { runtime } = this.#parts
    const here = runtime.agent(agentId)
    const caller = here === undefined ? /^(.+)\.\d+$/.exec(agentId)?.[1] : undefined
    if (caller !== undefined && !this.#detached.has(agentId)) return this.#rootOf(caller)
    const root = runtime.agent(here?.path[0] ?? agentId)
    const machine = root === undefined ? undefined : machineNamedIn(root.id, root.definition)
    return machine !== undefined && hostingOf(runtime).open.has(machine) ? machine : (root?.id ?? agentId)
  }
}

function whyNoMachine(hostId: string, isAgent: boolean, asked: string | undefined): string {
  if (isAgent) return `"${hostId}" is an agent, and no machine.`
  const beside = asked === undefined ? '' : `, and this worker does not know machine "${asked}"`
  return `There is no machine "${hostId}" in this store${beside}.`
}

/** @throws RuntimeError `INVALID_DEFINITION` for a different machine; `INVALID_OPTION` for options that only agents have */
function checkMachine(hostId: string, name: string, { definition, metadata, history }: Birth): void {
  if (definition !== undefined && definition !== name)
    throw new RuntimeError('INVALID_DEFINITION', `"${hostId}" is of machine "${name}", not "${definition}".`)
  if (metadata !== undefined || history !== undefined)
    throw new RuntimeError('INVALID_OPTION', `"${hostId}" is a machine, which has no metadata and no history.`)
}
