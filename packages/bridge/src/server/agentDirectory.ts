import { createdRecord } from '../../../../src/log/readHistory.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { inTurn } from '../../../../src/actors/timing/inTurn.ts'
import { agentMachine } from '../../../../src/machines/agentMachine.ts'
import { hasCode, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { RecordOf } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { ChartSubject } from '../../../charts/src/chart.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'
import { loadSession, type LoadedSession } from '../../../sessions/src/loadSession.ts'
import { isSurelyHere, type Dispatch } from './dispatch.ts'
import { depsOf, type ServedDeps } from './servedDeps.ts'
import type { Reach, Reached } from './roles.ts'

/** Options that a client may choose for an agent that it spawns. */
interface Spawning {
  readonly id?: string
  readonly incognito?: boolean
  readonly metadata?: Metadata
}

/** Parts of the runtime that the bridge uses. */
export interface BridgeRuntime {
  agents(options?: { readonly metadata?: Metadata }): Agent[]
  agent(id: string): Agent | undefined
  spawn(definition: AgentDefinition, options?: Spawning & { readonly deps?: unknown }): Promise<Agent>
  resume(agentId: string, definition: AgentDefinition, options?: { readonly deps?: unknown }): Promise<Agent>
  /** Resumes an agent that other callers may be resuming at the same time. All of them get the same agent. Missing if there are no other callers. */
  open?(agentId: string, definition: AgentDefinition): Promise<Agent>
  /** Calls `listener` with every agent that starts to run, including sub-agents. Returns a function that removes the listener. */
  onAgent(listener: (agent: Agent) => void): () => void
}

/** Client for which an agent is looked up. */
export interface Viewer {
  readonly reach: Reach
  /** Checks that an agent is within reach. @throws RuntimeError `BRIDGE_FORBIDDEN` or `AGENT_NOT_FOUND` for an agent out of reach */
  check(agent: Reached): void
  /** Checks that the client is still admitted. @throws RuntimeError `BRIDGE_UNAUTHORISED`, `SERVER_CLOSED` once it is not */
  checkAdmitted(): void
  /** Returns a running agent, within reach or not. An incognito agent of another client is not found, and its existence is not revealed. */
  find(agentId: string): Agent | undefined
  /** Returns true if an agent, running or ended, is incognito and belongs to another client. */
  isHidden(agentId: string, path: readonly string[]): boolean
}

/** Finds the agents that a client may reach: running ones, and those that exist only in their logs. */
export class AgentDirectory {
  readonly #runtime: BridgeRuntime
  readonly #store: Store
  readonly #definitions: ReadonlyMap<string, AgentDefinition>
  readonly #deps: ServedDeps | undefined
  readonly #dispatch: Dispatch | undefined
  readonly #resuming = new Map<string, Promise<Agent>>()

  constructor(
    runtime: BridgeRuntime,
    store: Store,
    {
      definitions,
      deps,
      dispatch,
    }: {
      readonly definitions: ReadonlyMap<string, AgentDefinition>
      readonly deps?: ServedDeps | undefined
      readonly dispatch?: Dispatch | undefined
    },
  ) {
    this.#runtime = runtime
    this.#store = store
    this.#definitions = definitions
    this.#deps = deps
    this.#dispatch = dispatch
  }

  /** Returns a definition by name. @throws RuntimeError `INVALID_OPTION` for an unknown name */
  definition(name: string): AgentDefinition {
    const definition = this.#definitions.get(name)
    if (definition !== undefined) return definition
    const known = [...this.#definitions.keys()].join(', ') || 'none'
    throw new RuntimeError('INVALID_OPTION', `There is no definition ${JSON.stringify(name)} (there are: ${known}).`)
  }

  /** Spawns an agent. Rejects as `runtime.spawn` and `viewer.checkAdmitted` do, and with `INVALID_OPTION`. */
  async spawn(name: string, options: Spawning & { readonly id: string }, viewer: Viewer): Promise<Agent> {
    const definition = this.definition(name)
    const { id } = options
    // Of two clients that want the same agent at once, the second is told that it exists once it does.
    return inTurn(this, id, async () => {
      const deps = await depsOf(this.#deps, definition, options)
      viewer.checkAdmitted()
      return this.#runtime.spawn(definition, { ...options, ...deps })
    })
  }

  /** Returns true if an agent with this id exists but is out of reach. */
  async isBeyond(id: string, viewer: Viewer): Promise<boolean> {
    const running = this.#runtime.agent(id)
    if (running !== undefined) return viewer.find(id) === undefined || !viewer.reach(running)
    // If the log cannot be read, it is unknown whose it is.
    const unknown = { path: [], metadata: undefined }
    const created = await createdRecord(this.#store, id).catch(() => unknown)
    return created !== undefined && !viewer.reach({ id, path: created.path, metadata: created.metadata })
  }

  /**
   * Returns an agent that runs, or resumes it from its log. A sub-agent is resumed with its root. An agent out of reach
   * is not woken, and its existence is not revealed.
   * @throws RuntimeError `AGENT_NOT_FOUND`, `AGENT_STOPPED`, `BRIDGE_FORBIDDEN`, and as `viewer.checkAdmitted` does
   */
  async agent(agentId: string, viewer: Viewer): Promise<Agent> {
    const running = await this.#running(agentId, viewer)
    if (running !== undefined) return running
    const [root = agentId] = (await this.created(agentId, viewer)).path
    viewer.checkAdmitted()
    const resuming = this.#resuming.get(root) ?? this.#resume(root)
    this.#resuming.set(root, resuming)
    await resuming.finally(() => this.#resuming.delete(root))
    const agent = this.#runtime.agent(agentId)
    if (agent === undefined) throw new RuntimeError('AGENT_NOT_FOUND', `Agent "${agentId}" has ended.`)
    return agent
  }

  async #resume(root: string): Promise<Agent> {
    const running = this.#runtime.agent(root)
    if (running !== undefined) return running
    const created = await createdRecord(this.#store, root)
    const definition = this.#definitions.get(created?.definition ?? '')
    if (definition === undefined) throw notFound(root)
    const deps = await depsOf(this.#deps, definition, { id: root, metadata: created?.metadata })
    try {
      return await this.#runtime.resume(root, definition, deps)
    } catch (thrown) {
      // The application was faster, or is at it.
      if (this.#runtime.open === undefined || !hasCode(thrown, 'AGENT_EXISTS')) throw thrown
      return await this.#runtime.open(root, definition)
    }
  }

  /** Returns a loaded agent within reach. Any other agent is read from its log and not woken. Rejects as `agent` does. */
  async runningOrStored(agentId: string, viewer: Viewer): Promise<Agent | LoadedSession> {
    const agent = await this.#running(agentId, viewer)
    const mayBeRead = agent?.incognito === true || this.#dispatch === undefined || isSurelyHere(agent, this.#dispatch)
    if (agent?.isLoaded === true && mayBeRead) return agent
    await this.created(agentId, viewer)
    return await loadSession(this.#store, agentId)
  }

  /** Returns the agent if it runs, else its definition, else the machine of all agents. Rejects with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`. */
  async charted(agentId: string, viewer: Viewer): Promise<ChartSubject> {
    const agent = await this.#running(agentId, viewer)
    return agent ?? this.#definitions.get((await this.created(agentId, viewer)).definition) ?? agentMachine
  }

  /** Returns the agent if it runs. Rejects with `BRIDGE_FORBIDDEN`. */
  async #running(agentId: string, viewer: Viewer): Promise<Agent | undefined> {
    const agent = viewer.find(agentId)
    if (agent === undefined) return undefined
    viewer.check(agent)
    // Another client may be waking it right now.
    await this.#resuming.get(agent.path[0] ?? agentId)
    return agent
  }

  /**
   * Checks that an agent is within reach. Rejects with `BRIDGE_FORBIDDEN` for an agent out of reach, running or not, and otherwise as the store does.
   */
  async checkReach(agentId: string, viewer: Viewer): Promise<void> {
    const running = viewer.find(agentId)
    if (running === undefined) await this.#findCreated(agentId, viewer)
    else viewer.check(running)
  }

  /** Returns the first record of an agent's log. Rejects with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`. */
  async created(agentId: string, viewer: Viewer): Promise<RecordOf<'agent.created'>> {
    const created = await this.#findCreated(agentId, viewer)
    if (created === undefined) throw notFound(agentId)
    return created
  }

  /** Returns the first record of an agent's log; `undefined` without one. Rejects with `BRIDGE_FORBIDDEN`, and within reach as the store does. */
  async #findCreated(agentId: string, viewer: Viewer): Promise<RecordOf<'agent.created'> | undefined> {
    const created = await createdRecord(this.#store, agentId).catch((thrown: unknown) => {
      // If the log cannot be read, the agent's ancestors are unknown.
      viewer.check({ id: agentId, path: [], metadata: undefined })
      throw thrown
    })
    viewer.check({ id: agentId, path: created?.path ?? [], metadata: created?.metadata })
    return created
  }
}

const notFound = (agentId: string): RuntimeError =>
  new RuntimeError('AGENT_NOT_FOUND', `There is no agent "${agentId}" here.`)
