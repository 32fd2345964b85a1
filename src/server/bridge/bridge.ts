import { nanoid } from 'nanoid'
import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { Redactor } from '../../actors/redaction/redactor.ts'
import type { Clock } from '../../protocol/clock.ts'
import type { Logger } from '../../protocol/logger.ts'
import { agentMachine } from '../../machines/agentMachine.ts'
import { RuntimeError, toErrorInfo, type ErrorCode, type ErrorInfo } from '../../protocol/errors.ts'
import type { RecordOf } from '../../protocol/records.ts'
import type { Store } from '../../protocol/store.ts'
import type { Agent } from '../../runtime/agents/agent.ts'
import type { Role } from '../../protocol/frames.ts'
import {
  checkReach,
  grantOf,
  isSameGrant,
  isSessionOf,
  sessionIdOf,
  type Grant,
  type Reach,
  type Tokens,
} from './access.ts'
import type { ChartSubject } from '../../charts/chart.ts'
import { UnauthenticatedSockets, type Connection } from './connections.ts'
import { ResultCache } from './resultCache.ts'
import { Decisions } from './decisions.ts'
import { Feed } from './feed.ts'
import type { BridgeLimits } from './limits.ts'
import { createdRecord } from '../../sessions/readHistory.ts'
import { loadSession, type LoadedSession } from '../../sessions/loadSession.ts'
import { outwardError } from './outwardError.ts'
import { RefusalLog } from './refusalLog.ts'
import { Roster } from './roster.ts'
import { SessionIndex } from './sessionIndex.ts'

/** What the bridge needs of its runtime. */
export interface BridgeRuntime {
  agents(): Agent[]
  agent(id: string): Agent | undefined
  spawn(definition: AgentDefinition, options?: { id?: string }): Promise<Agent>
  resume(agentId: string, definition: AgentDefinition): Promise<Agent>
  /** Calls with every agent that begins to run, sub-agents included; returns a function that ends it. */
  onAgent(listener: (agent: Agent) => void): () => void
}

export type BridgeParts = Pick<Bridge, 'store' | 'clock' | 'limits' | 'tokens' | 'definitions'> & {
  readonly redactor?: Redactor | undefined
  readonly logger?: Logger | undefined
  readonly role?: Role
}

/** What the clients of one server share: agents, their feeds, commands already carried out. */
export class Bridge {
  readonly runtime: BridgeRuntime
  readonly store: Store
  readonly clock: Clock
  readonly limits: BridgeLimits
  readonly tokens: Tokens | undefined
  readonly definitions: ReadonlyMap<string, AgentDefinition>
  readonly connections = new Set<Connection>()
  /** Those of them that have not said who they are. */
  readonly unauthenticated: UnauthenticatedSockets
  readonly refusals: RefusalLog
  readonly results: ResultCache
  readonly decisions: Decisions
  readonly sessions: SessionIndex
  /** What whoever comes without a token may do; `undefined` where one is asked for. */
  readonly everyone: Grant | undefined
  /** Takes out secrets that the application named. */
  readonly redactor: Redactor | undefined
  readonly #feeds = new Map<string, Feed>()
  readonly #resuming = new Map<string, Promise<Agent>>()
  readonly #stopFollowing: () => void
  readonly roster: Roster
  #onEmpty: (() => void) | undefined
  #isClosed = false

  constructor(runtime: BridgeRuntime, parts: BridgeParts) {
    this.runtime = runtime
    this.store = parts.store
    this.clock = parts.clock
    this.limits = parts.limits
    this.tokens = parts.tokens
    this.definitions = parts.definitions
    this.redactor = parts.redactor
    this.everyone = parts.tokens === undefined ? { role: parts.role ?? 'admin' } : undefined
    this.results = new ResultCache(parts.limits.sessionMs)
    this.sessions = new SessionIndex(parts.store)
    this.decisions = new Decisions(parts.store, (agentId) => runtime.agent(agentId))
    this.unauthenticated = new UnauthenticatedSockets(parts.limits)
    this.refusals = new RefusalLog(parts.logger, parts.clock)
    this.roster = new Roster(() => runtime.agents(), parts.clock)
    this.#stopFollowing = runtime.onAgent((agent) => {
      this.#feeds.get(agent.id)?.attach(agent)
      this.decisions.began(agent.id)
    })
  }

  /**
   * The session a client goes on with, or begins. Where there are tokens it must be one of its own; without, everybody is the same.
   *
   * @throws RuntimeError `BRIDGE_SESSION`
   */
  resolveSession(sessionId: string | undefined, token: string | undefined): string {
    if (this.tokens === undefined || token === undefined) return sessionId ?? this.newId()
    if (sessionId === undefined) return sessionIdOf(this.newId(), token)
    if (isSessionOf(sessionId, token)) return sessionId
    throw new RuntimeError('BRIDGE_SESSION', `The session "${sessionId}" was not made with this token.`)
  }

  /** What a client is told of a failure. Where that hides a path of the server, the server's log has it. */
  outward(thrown: unknown, fallback: ErrorCode = 'INTERNAL'): ErrorInfo {
    const error = toErrorInfo(thrown, fallback)
    const outward = outwardError(error)
    if (outward.message !== error.message) this.refusals.log('store', error.message, { code: error.code })
    return outward
  }

  /** Whether one more client may be let in. */
  get hasRoom(): boolean {
    return this.connections.size - this.unauthenticated.size < this.limits.connections
  }

  /** What a token allows; `undefined`: nothing, or it is missing. */
  grantOf(token: string | undefined): Grant | undefined {
    return this.everyone ?? (token === undefined ? undefined : grantOf(this.tokens!, token))
  }

  /** Whether a token still allows what it did: the application may change its tokens. */
  isGranted(token: string | undefined, grant: Grant): boolean {
    return isSameGrant(this.grantOf(token), grant)
  }

  newId(): string {
    return nanoid(16)
  }

  spawn(name: string, id: string | undefined): Promise<Agent> {
    const definition = this.definitions.get(name)
    if (definition === undefined) {
      const known = [...this.definitions.keys()].join(', ') || 'none'
      throw new RuntimeError('INVALID_OPTION', `There is no definition ${JSON.stringify(name)} (there are: ${known}).`)
    }
    return this.runtime.spawn(definition, id === undefined ? {} : { id })
  }

  /**
   * An agent that runs, or goes on from its log now; a sub-agent goes on with its root. One out of reach is not woken, and nothing
   * tells whether it exists.
   *
   * @throws RuntimeError `AGENT_NOT_FOUND`, `AGENT_STOPPED`, `BRIDGE_FORBIDDEN`
   */
  async agentFor(agentId: string, reach: Reach): Promise<Agent> {
    const running = await this.#running(agentId, reach)
    if (running !== undefined) return running
    const [root = agentId] = (await this.#created(agentId, reach)).path
    const resuming = this.#resuming.get(root) ?? this.#resume(root)
    this.#resuming.set(root, resuming)
    await resuming.finally(() => this.#resuming.delete(root))
    const agent = this.runtime.agent(agentId)
    if (agent === undefined) throw new RuntimeError('AGENT_NOT_FOUND', `Agent "${agentId}" has ended.`)
    return agent
  }

  async #resume(root: string): Promise<Agent> {
    const running = this.runtime.agent(root)
    if (running !== undefined) return running
    const definition = this.definitions.get((await createdRecord(this.store, root))?.definition ?? '')
    if (definition === undefined) throw notFound(root)
    return await this.runtime.resume(root, definition)
  }

  /** An agent that runs within reach; one that does not is not woken. Rejects as `agentFor` does. */
  async runningOrStored(agentId: string, reach: Reach): Promise<Agent | LoadedSession> {
    const agent = await this.#running(agentId, reach)
    await agent?.wake()
    if (agent !== undefined) return agent
    await this.#created(agentId, reach)
    return await loadSession(this.store, agentId)
  }

  /** The agent if it runs, else its definition, else the machine of any. Rejects with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`. */
  async charted(agentId: string, reach: Reach): Promise<ChartSubject> {
    const agent = await this.#running(agentId, reach)
    return agent ?? this.definitions.get((await this.#created(agentId, reach)).definition) ?? agentMachine
  }

  /** The agent if it runs. Rejects with `BRIDGE_FORBIDDEN`. */
  async #running(agentId: string, reach: Reach): Promise<Agent | undefined> {
    const agent = this.runtime.agent(agentId)
    if (agent === undefined) return undefined
    checkReach(reach, agentId, agent.path)
    // Woken by another client, it may not have gone on yet.
    await this.#resuming.get(agent.path[0] ?? agentId)
    return agent
  }

  /** Rejects with `BRIDGE_FORBIDDEN` for an agent out of reach, running or not, and where there is none in reach as the store does. */
  async checkReach(agentId: string, reach: Reach): Promise<void> {
    const running = this.runtime.agent(agentId)
    if (running === undefined) await this.#findCreated(agentId, reach)
    else checkReach(reach, agentId, running.path)
  }

  /** The first record of an agent's log. Rejects with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`. */
  async #created(agentId: string, reach: Reach): Promise<RecordOf<'agent.created'>> {
    const created = await this.#findCreated(agentId, reach)
    if (created === undefined) throw notFound(agentId)
    return created
  }

  /** The first record of an agent's log; `undefined` without one. Rejects with `BRIDGE_FORBIDDEN`, and within reach as the store does. */
  async #findCreated(agentId: string, reach: Reach): Promise<RecordOf<'agent.created'> | undefined> {
    const created = await createdRecord(this.store, agentId).catch((thrown: unknown) => {
      // A log that cannot be read does not tell whom the agent is below.
      checkReach(reach, agentId, [])
      throw thrown
    })
    checkReach(reach, agentId, created?.path ?? [])
    return created
  }

  /** Where to read an agent, which is not woken by it. Rejects with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`. */
  async feedOf(agentId: string, reach: Reach): Promise<Feed> {
    const known = this.#feeds.get(agentId) ?? this.runtime.agent(agentId)
    if (known !== undefined) {
      // Before there is a feed of it, which would stay where nobody subscribes.
      checkReach(reach, agentId, known.path)
      return this.#openFeed(known, agentId)
    }
    // One that does not run is in its log, and followed should it begin to run.
    const { path } = await this.#created(agentId, reach)
    let lastSeq = 0
    for await (const { seq } of this.store.read(agentId)) lastSeq = seq
    return this.#openFeed({ path, lastSeq }, agentId)
  }

  /** The feed there is by now, or a new one: of the agent, if that runs by now. */
  #openFeed({ path, lastSeq }: Pick<Feed, 'path' | 'lastSeq'>, agentId: string): Feed {
    const agent = this.runtime.agent(agentId)
    const feed = this.#feeds.get(agentId) ?? new Feed({ agentId, path, lastSeq: agent?.lastSeq ?? lastSeq }, agent)
    this.#feeds.set(agentId, feed)
    return feed
  }

  /** A client unsubscribed: a feed nobody reads is given up. */
  releaseFeed(agentId: string): void {
    const feed = this.#feeds.get(agentId)
    if (feed === undefined || feed.hasListeners) return
    feed.close()
    this.#feeds.delete(agentId)
  }

  disconnected(connection: Connection): void {
    this.connections.delete(connection)
    if (this.connections.size === 0) this.#onEmpty?.()
  }

  /** Calls once the last client has left. */
  onEmpty(call: () => void): void {
    this.#onEmpty = call
  }

  /** Nobody is let in any more. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  close(): void {
    this.#isClosed = true
    this.#stopFollowing()
    this.roster.close()
    this.refusals.close()
    for (const feed of this.#feeds.values()) feed.close()
    this.#feeds.clear()
  }
}

const notFound = (agentId: string): RuntimeError =>
  new RuntimeError('AGENT_NOT_FOUND', `There is no agent "${agentId}" here.`)
