import { randomBytes } from 'node:crypto'
import { WaitingList } from '../../../waking/src/waitingList.ts'
import { nanoid } from 'nanoid'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { Redactor } from '../../../../src/protocol/ports/redactor.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'
import { RuntimeError, toErrorInfo, type ErrorCode, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { Role } from '../../../wire/src/rights.ts'
import { Authenticator, type Authenticate, type Permit } from './authenticator.ts'
import type { Tokens } from './roles.ts'
import { UnauthenticatedSockets, type Connection } from './connections.ts'
import { ResultCache } from './commandResults.ts'
import { AgentDirectory, type BridgeRuntime, type Viewer } from './agentDirectory.ts'
import { Decisions } from './decisions.ts'
import { Feed } from './feed.ts'
import { FollowedLogs } from './followedLogs.ts'
import { ForwardedTokens } from './forwarded.ts'
import type { Front } from './front.ts'
import { IncognitoAgents } from './incognitoAgents.ts'
import { GivenAgents } from './clientAgent.ts'
import type { Dispatch } from './dispatch.ts'
import type { Key } from './keyed.ts'
import type { BridgeLimits } from './limits.ts'
import { outwardError } from './outwardError.ts'
import { PlacedAgents } from './placedAgents.ts'
import { RefusalLog } from './refusalLog.ts'
import { Room } from './room.ts'
import { Roster } from './roster.ts'
import type { ServedDeps } from './servedDeps.ts'
import { ShareTokens } from './shareTokens.ts'
import { SessionIndex, type WantedSessions } from './sessionIndex.ts'
import { SpendIndex } from './spendIndex.ts'
import type { SearchHit } from '../../../../src/protocol/ports/logSearch.ts'
import { searchSessions } from '../../../sessions/src/searchSessions.ts'

/** Maximum number of records that are passed to the application's function. */
const mostHits = 1_000

/** Runs the searches of one server's clients, one at a time, because a store without an index reads its logs for each. */
class SessionSearch {
  readonly #store: Store
  #last: Promise<unknown> = Promise.resolve()

  constructor(store: Store) {
    this.#store = store
  }

  /** Returns the matching records. Rejects as `searchSessions` does. */
  hits(text: string, { query, choose }: Omit<WantedSessions, 'running'>, limit: number): Promise<readonly SearchHit[]> {
    const found = this.#last.then(() =>
      searchSessions(this.#store, { ...query, text, limit: choose === undefined ? limit : mostHits }),
    )
    this.#last = found.catch(() => {})
    return found
  }
}

export type BridgeParts = Pick<Bridge, 'store' | 'clock' | 'limits' | 'definitions'> & {
  readonly deps?: ServedDeps | undefined
  readonly tokens: Tokens | undefined
  readonly authenticate?: Authenticate | undefined
  /** Returns the redactor for secrets that the application named, once there are any. */
  readonly redactor?: (() => Redactor | undefined) | undefined
  readonly logger?: Logger | undefined
  readonly role?: Role
  readonly alertUsd?: number | undefined
  readonly shareKey?: string | undefined
  readonly gatewaySecret?: string | undefined
  /** Returns true if a place is one at which a gateway knows this server. */
  readonly isHere?: ((place: string) => boolean) | undefined
  readonly front?: Front | undefined
  readonly dispatch?: Dispatch | undefined
}

const onlyRead = (): Promise<never> =>
  Promise.reject(
    new RuntimeError(
      'BRIDGE_FORBIDDEN',
      'The agent is at rest and was opened for reading only, so it takes no commands.',
    ),
  )

/** The dispatch of agents that are read and not woken. */
const reading: Dispatch = { command: onlyRead, begin: onlyRead }

/** State that the clients of one server share: agents, their feeds, commands already carried out. */
export class Bridge {
  readonly runtime: BridgeRuntime
  readonly store: Store
  readonly clock: Clock
  readonly limits: BridgeLimits
  readonly definitions: ReadonlyMap<string, AgentDefinition>
  readonly connections = new Set<Connection>()
  /** Sockets of clients that have not authenticated. */
  readonly unauthenticated: UnauthenticatedSockets
  readonly room: Room
  readonly refusals: RefusalLog
  readonly results: ResultCache
  readonly agents: AgentDirectory
  readonly decisions: Decisions
  readonly sessions: SessionIndex
  readonly search: SessionSearch
  readonly spend: SpendIndex
  readonly waiting: WaitingList
  readonly authenticator: Authenticator
  readonly shares: ShareTokens
  /** Cost in US dollars from which the page shows a tree of agents in red. */
  readonly alertUsd: number | undefined
  /** Key of the sealed values that clients receive and send back. It is the same on all servers that have to recognise them. */
  readonly key: Key
  /** Passes commands to the workers that have the agents. Set for a gateway. */
  readonly front: Front | undefined
  /** Passes commands to agents outside this process. */
  readonly dispatch: Dispatch | undefined
  /** Agents that are followed by their logs. Other protocols read agents at rest this way, and drive them with `dispatch`. */
  readonly followed: PlacedAgents
  readonly given = new GivenAgents()
  readonly #redactor: BridgeParts['redactor']
  readonly #feeds = new Map<string, Feed>()
  readonly #followed: FollowedLogs
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
    this.definitions = parts.definitions
    this.#redactor = parts.redactor
    this.results = new ResultCache(parts.limits.sessionMs, {
      forgotten: (sessionId) => this.incognito.endSession(sessionId),
    })
    this.sessions = new SessionIndex(parts.store)
    this.search = new SessionSearch(parts.store)
    this.spend = new SpendIndex(parts.store)
    // Where an engine has them work, what this process knows of them may be old.
    this.waiting = new WaitingList(parts.store, (id) => (parts.dispatch === undefined ? runtime.agent(id) : undefined))
    this.agents = new AgentDirectory(runtime, parts.store, parts)
    this.decisions = new Decisions(parts.store, (agentId) => runtime.agent(agentId))
    this.unauthenticated = new UnauthenticatedSockets(parts.limits)
    this.room = new Room(parts.limits.connections, parts.clock)
    this.refusals = parts.front?.refusals ?? new RefusalLog(parts.logger, parts.clock)
    const { tokens, authenticate, role = 'admin', clock, isHere = () => false } = parts
    const failed = (message: string): void => this.refusals.log('authenticate', message)
    this.shares = new ShareTokens(clock, parts.shareKey)
    const { shares } = this
    const forwarded = parts.gatewaySecret === undefined ? undefined : new ForwardedTokens(parts.gatewaySecret)
    this.authenticator = new Authenticator({ tokens, authenticate, role, shares, forwarded, isHere, clock, failed })
    this.key = parts.shareKey ?? parts.gatewaySecret ?? randomBytes(32)
    this.front = parts.front
    this.alertUsd = parts.alertUsd
    this.dispatch = parts.dispatch
    const { store, definitions, dispatch } = parts
    const placing = { runtime, store, clock, definitions, newId: () => this.newId() }
    this.followed = new PlacedAgents(placing, dispatch ?? reading)
    this.roster = new Roster(() => runtime.agents(), parts.clock)
    this.#followed = new FollowedLogs({
      store: parts.store,
      clock,
      feeds: () => this.#feeds.values(),
      agent: (agentId) => runtime.agent(agentId),
      dispatch: parts.dispatch,
    })
    this.#stopFollowing = runtime.onAgent((agent) => {
      this.incognito.began(agent)
      this.#feeds.get(agent.id)?.attach(agent)
      this.decisions.began(agent.id)
      this.followed.began(agent)
    })
  }

  /** Returns an error as clients may see it. If that hides one of the server's paths, the original goes to the server's log. */
  outward(thrown: unknown, fallback: ErrorCode = 'INTERNAL'): ErrorInfo {
    const error = toErrorInfo(thrown, fallback)
    const outward = outwardError(error)
    if (outward.message !== error.message) this.refusals.log('store', error.message, { code: error.code })
    return outward
  }

  /** Redactor for secrets that the application named. */
  get redactor(): Redactor | undefined {
    return this.#redactor?.()
  }

  /** Returns true if there is room for another client, and for this one in particular. */
  hasRoom(permit: Permit, address: string): boolean {
    const { size } = this.connections
    return size - this.unauthenticated.size < this.limits.connections && this.room.has(permit, address)
  }

  newId(): string {
    return nanoid(16)
  }

  /**
   * Resolves to the feed to read an agent from, starting at a record. The agent is not woken. Rejects as the
   * store does, and with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`.
   */
  async feedOf(agentId: string, viewer: Viewer, fromSeq = 1): Promise<Feed> {
    for (;;) {
      const feed = await this.#feedOf(agentId, viewer)
      // Where another process drives it, this one knows of its records a little later, or had it and does not know that it went on.
      if (fromSeq > feed.lastSeq + 1)
        await this.#followed.catchUp(feed).catch((thrown: unknown) => {
          this.releaseFeed(agentId)
          throw thrown
        })
      // Its last listener may have left in this very moment.
      if (!feed.isClosed) return feed
    }
  }

  async #feedOf(agentId: string, viewer: Viewer): Promise<Feed> {
    const feed = this.#feeds.get(agentId)
    const known = feed === undefined || viewer.isHidden(agentId, feed.path) ? viewer.find(agentId) : feed
    if (known !== undefined) {
      // Before there is a feed of it, which would stay where nobody subscribes.
      viewer.check({ id: agentId, path: known.path, metadata: known.metadata })
      return this.#openFeed(known, agentId)
    }
    // One that does not run is in its log, and followed should it begin to run.
    const { path, metadata } = await this.agents.created(agentId, viewer)
    let lastSeq = 0
    for await (const { seq } of this.store.read(agentId)) lastSeq = seq
    return this.#openFeed({ path, metadata, lastSeq }, agentId)
  }

  /** Returns the existing feed or a new one, with the agent itself if it runs by now. */
  #openFeed({ path, metadata, lastSeq }: Pick<Feed, 'path' | 'metadata' | 'lastSeq'>, agentId: string): Feed {
    const agent = this.runtime.agent(agentId)
    const feed =
      this.#feeds.get(agentId) ?? new Feed({ agentId, path, metadata, lastSeq: agent?.lastSeq ?? lastSeq }, agent)
    this.#feeds.set(agentId, feed)
    this.#followed.begin()
    return feed
  }

  /** Returns the source of an agent's records. An incognito agent's records are in no store. Only a viewer that can find the agent can read them. */
  logOf(agentId: string, find: Viewer['find']): Pick<Store, 'read' | 'snapshots'> {
    const agent = find(agentId)
    return agent?.incognito === true ? { read: (_, fromSeq) => agent.readLog(fromSeq) } : this.store
  }

  /** Closes the feed after a client has unsubscribed, if it has no readers left. */
  releaseFeed(agentId: string): void {
    const feed = this.#feeds.get(agentId)
    if (feed === undefined || feed.hasListeners) return
    feed.close()
    this.#feeds.delete(agentId)
  }

  disconnected(connection: Connection): void {
    this.connections.delete(connection)
    this.room.release(connection)
    if (this.connections.size === 0) this.#onEmpty?.()
  }

  /** Calls `call` once the last client has left. */
  onEmpty(call: () => void): void {
    this.#onEmpty = call
  }

  /** True once no more clients are accepted. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Accepts no more clients. Connected clients may continue until `close`. */
  closeDoors(): void {
    this.#isClosed = true
  }

  close(): void {
    this.closeDoors()
    this.#stopFollowing()
    this.roster.close()
    this.#followed.close()
    this.followed.close()
    this.refusals.close()
    this.incognito.close()
    for (const feed of this.#feeds.values()) feed.close()
    this.#feeds.clear()
  }
}
