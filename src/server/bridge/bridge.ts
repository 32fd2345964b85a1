import { nanoid } from 'nanoid'
import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { Redactor } from '../../redaction/redactor.ts'
import type { Clock } from '../../protocol/clock.ts'
import type { Logger } from '../../protocol/logger.ts'
import { toErrorInfo, type ErrorCode, type ErrorInfo } from '../../protocol/errors.ts'
import type { Store } from '../../protocol/store.ts'
import type { Role } from '../../protocol/frames.ts'
import { checkReach, grantOf, isSameGrant, type Grant, type Tokens } from './roles.ts'
import { UnauthenticatedSockets, type Connection } from './connections.ts'
import { ResultCache } from './resultCache.ts'
import { AgentDirectory, type BridgeRuntime, type Viewer } from './agentDirectory.ts'
import { Decisions } from './decisions.ts'
import { Feed } from './feed.ts'
import { IncognitoAgents } from './incognitoAgents.ts'
import type { BridgeLimits } from './limits.ts'
import { outwardError } from './outwardError.ts'
import { RefusalLog } from './refusalLog.ts'
import { Roster } from './roster.ts'
import { SessionIndex } from './sessionIndex.ts'

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
  /** Those of them that have not authenticated. */
  readonly unauthenticated: UnauthenticatedSockets
  readonly refusals: RefusalLog
  readonly results: ResultCache
  readonly agents: AgentDirectory
  readonly decisions: Decisions
  readonly sessions: SessionIndex
  /** What everyone may do; `undefined` where a token is required. */
  readonly everyone: Grant | undefined
  /** Removes secrets that the application named. */
  readonly redactor: Redactor | undefined
  readonly #feeds = new Map<string, Feed>()
  readonly #stopFollowing: () => void
  readonly roster: Roster
  readonly incognito = new IncognitoAgents()
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
    this.results = new ResultCache(parts.limits.sessionMs, {
      forgotten: (sessionId) => this.incognito.endSession(sessionId),
    })
    this.sessions = new SessionIndex(parts.store)
    this.agents = new AgentDirectory(runtime, parts.store, parts.definitions)
    this.decisions = new Decisions(parts.store, (agentId) => runtime.agent(agentId))
    this.unauthenticated = new UnauthenticatedSockets(parts.limits)
    this.refusals = new RefusalLog(parts.logger, parts.clock)
    this.roster = new Roster(() => runtime.agents(), parts.clock)
    this.#stopFollowing = runtime.onAgent((agent) => {
      this.incognito.began(agent)
      this.#feeds.get(agent.id)?.attach(agent)
      this.decisions.began(agent.id)
    })
  }

  /** An error as clients may see it. If that hides one of the server's paths, the original goes to the server's log. */
  outward(thrown: unknown, fallback: ErrorCode = 'INTERNAL'): ErrorInfo {
    const error = toErrorInfo(thrown, fallback)
    const outward = outwardError(error)
    if (outward.message !== error.message) this.refusals.log('store', error.message, { code: error.code })
    return outward
  }

  /** Whether there is room for one more client. */
  get hasRoom(): boolean {
    return this.connections.size - this.unauthenticated.size < this.limits.connections
  }

  /** What a token allows; `undefined`: nothing, or it is missing. */
  grantOf(token: string | undefined): Grant | undefined {
    return this.everyone ?? (token === undefined ? undefined : grantOf(this.tokens!, token))
  }

  /** Whether a token still has the same grant: the application may change its tokens. */
  isGranted(token: string | undefined, grant: Grant): boolean {
    return isSameGrant(this.grantOf(token), grant)
  }

  newId(): string {
    return nanoid(16)
  }

  /** Where to read an agent, which is not woken by it. Rejects with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`. */
  async feedOf(agentId: string, { reach, find, isHidden }: Viewer): Promise<Feed> {
    const feed = this.#feeds.get(agentId)
    const known = feed === undefined || isHidden(agentId, feed.path) ? find(agentId) : feed
    if (known !== undefined) {
      // Before there is a feed of it, which would stay where nobody subscribes.
      checkReach(reach, agentId, known.path)
      return this.#openFeed(known, agentId)
    }
    // One that does not run is in its log, and followed should it begin to run.
    const { path } = await this.agents.created(agentId, reach)
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

  /** Where the records of an agent are read: those of an incognito one are in no store. */
  logOf(agentId: string): Pick<Store, 'read'> {
    const agent = this.runtime.agent(agentId)
    return agent?.incognito === true ? { read: (_, fromSeq) => agent.readLog(fromSeq) } : this.store
  }

  /** A client unsubscribed: closes the feed if nobody reads it any more. */
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

  /** No more clients are accepted. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  close(): void {
    this.#isClosed = true
    this.#stopFollowing()
    this.roster.close()
    this.refusals.close()
    this.incognito.close()
    for (const feed of this.#feeds.values()) feed.close()
    this.#feeds.clear()
  }
}
