import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import { rightsOf, type Right } from '../../../wire/src/rights.ts'
import type { SearchHit } from '../../../../src/protocol/ports/logSearch.ts'
import { hasMetadata, type Metadata } from '../../../../src/protocol/metadata.ts'
import type { LogQuery } from '../../../../src/protocol/ports/logPages.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { ChartSubject } from '../../../charts/src/chart.ts'
import type { SessionSummary } from '../../../sessions/src/listSessions.ts'
import { isStillGranted, newOutOfReach, outOfReach, reaches } from './roles.ts'
import type { Grant, Reach, Reached } from './roles.ts'
import type { Viewer } from './agentDirectory.ts'
import { checkStillAdmitted, type Admitted } from './admitted.ts'
import type { Bridge } from './bridge.ts'
import { rightToDecide } from './commandRights.ts'
import type { AgentBirth, Dispatch } from './dispatch.ts'
import type { DrivenAgent } from './drivenAgent.ts'
import { charted, openHosts } from './hosts.ts'
import type { AskedSessions, WantedSessions } from './sessionIndex.ts'
import type { BridgeLimits } from './limits.ts'
import { Sealed } from './sealed.ts'
import { viewOf, viewOfAgent, visibleRecord, type View } from './visible.ts'

/** The agents of a server that one client may see and drive. */
export class AgentAccess implements Viewer {
  readonly rights: ReadonlySet<Right>
  /** Returns true if the client may see and drive an agent. */
  readonly reach: Reach
  /** Ids of running agents in other processes, for lists. */
  runElsewhere: ReadonlySet<string> = new Set()
  readonly #grant: Grant
  readonly #bridge: Bridge
  readonly #client: Admitted

  /** Called by the server. */
  constructor(bridge: Bridge, grant: Grant, client: Admitted = {}) {
    this.#grant = grant
    this.#bridge = bridge
    this.#client = client
    this.rights = rightsOf(grant)
    this.reach = (agent) => reaches(grant, agent)
  }

  check(agent: Reached): void {
    if (!this.reach(agent)) throw outOfReach(this.#grant, agent.id)
  }

  /**
   * Checks that the client is still admitted. Called right before anything is done for it, because its permit
   * may have been withdrawn, or the server have begun to close, since its rights were checked.
   * @throws RuntimeError `BRIDGE_UNAUTHORISED`, `SERVER_CLOSED`
   */
  checkAdmitted(): void {
    checkStillAdmitted(this.#client, this.#bridge)
  }

  /** Metadata that agents must have to be within reach. */
  get metadata(): Metadata | undefined {
    return this.#grant.metadata
  }

  /** Returns true if the other client is the same or an indistinguishable one with the same rights. */
  isLike(other: AgentAccess): boolean {
    return this.#client.who === other.#client.who && isStillGranted(this.#grant, other.#grant)
  }

  /** Returns the codec for sealed values that this client receives and sends back. */
  get sealed(): Sealed {
    return new Sealed(this.#bridge.key, this.#client.who, this.clock)
  }

  get clock(): Clock {
    return this.#bridge.clock
  }

  get limits(): BridgeLimits {
    return this.#bridge.limits
  }

  /** Names of the definitions that can be spawned. */
  get definitions(): readonly string[] {
    return [...this.#bridge.definitions.keys()]
  }

  /** Descriptions of the definitions that can be spawned, by name; `undefined` for a client without the right `spawn`. */
  get descriptions(): Readonly<Record<string, string>> | undefined {
    if (!this.may('spawn')) return undefined
    const said = [...this.#bridge.definitions.values()].filter(({ description }) => description !== '')
    return Object.fromEntries(said.map(({ name, description }) => [name, description]))
  }

  /**
   * Names of the definitions that the client needs: those that it may spawn or, for a token that is limited to
   * certain agents, those that run within reach.
   */
  get knownDefinitions(): readonly string[] {
    if (this.may('spawn') || this.#grant.agents === undefined) return this.definitions
    const known = new Set<string>()
    const add = (agent: Agent): void => {
      known.add(agent.definition)
      for (const child of agent.children()) add(child)
    }
    for (const agent of this.topmost()) add(agent)
    return this.definitions.filter((name) => known.has(name))
  }

  /** Returns a page of ids of sessions within reach, the most recently written first; `undefined` if `after` is not one of them. */
  sessionIds(
    asked: AskedSessions,
    place: { readonly after?: string; readonly limit: number },
  ): Promise<readonly string[] | undefined> {
    return this.#bridge.sessions.ids(this.wanted(asked), place)
  }

  /** Yields the ids of matching sessions that follow `after`. */
  allSessionIds(asked: AskedSessions, after?: string): AsyncGenerator<string, void, undefined> {
    return this.#bridge.sessions.idsAfter(this.wanted(asked), after)
  }

  /** Resolves to the number of matching sessions within reach. */
  sessionCount(asked: AskedSessions): Promise<number> {
    return this.#bridge.sessions.count(this.wanted(asked))
  }

  /** Returns records that match a text, best first, of any agents if a function chooses the client's. Rejects as the store does. */
  hits(text: string, limit: number, asked: Pick<AskedSessions, 'metadata'> = {}): Promise<readonly SearchHit[]> {
    return this.#bridge.search.hits(text, this.wanted(asked), limit)
  }

  /** Returns the query for the requested sessions, limited to those within reach. */
  wanted({ metadata, forkedFrom, running, isRoot }: AskedSessions): WantedSessions {
    const { agents, metadata: own } = this.#grant
    const both = { ...metadata, ...own }
    return {
      query: {
        metadata: both,
        // Nothing has two values of one key.
        ...(hasMetadata(both, metadata ?? {}) ? {} : { ids: [] }),
        ...(Array.isArray(agents) ? { within: agents } : {}),
        ...(forkedFrom === undefined ? {} : { forkedFrom }),
        ...(isRoot === true ? { parent: null } : {}),
      },
      // What a function says of an agent without metadata it need not say of the agent that it is.
      choose:
        typeof agents === 'function'
          ? ({ id, origin }) => this.reach({ id, path: origin?.path ?? [], metadata: origin?.metadata })
          : undefined,
      running: running === undefined ? undefined : { isWanted: running, ids: this.#runningIds() },
    }
  }

  /** Returns the query for the agents whose waiting entries are listed: at least all agents within reach. */
  waitingQuery(metadata: Metadata | undefined): LogQuery {
    const isRoot = this.#grant.agents === undefined
    return this.wanted({ isRoot, ...(metadata === undefined ? {} : { metadata }) }).query
  }

  /** Returns the ids of all running agents, including sub-agents, except hidden ones. */
  #runningIds(): ReadonlySet<string> {
    const ids = new Set<string>(this.runElsewhere)
    const add = (agent: Agent): void => {
      if (this.find(agent.id) !== undefined) ids.add(agent.id)
      for (const child of agent.children()) add(child)
    }
    for (const agent of this.#bridge.runtime.agents()) add(agent)
    for (const id of openHosts(this.#bridge.runtime)) ids.add(id)
    return ids
  }

  /** Returns a session within reach, reading its log if that has changed; `undefined` if there is none. `forks` and `children` are empty. */
  session(agentId: string): Promise<SessionSummary | undefined> {
    return this.#bridge.sessions.summary(agentId, this.reach)
  }

  /** Returns the id of a session's source, if the source is within reach too. */
  async sourceOf({ forkedFrom }: Pick<SessionSummary, 'forkedFrom'>): Promise<string | undefined> {
    if (forkedFrom === undefined) return undefined
    const { agentId } = forkedFrom
    return await this.#bridge.agents.checkReach(agentId, this).then(
      () => agentId,
      () => undefined,
    )
  }

  /** Yields the records of an agent's log, in order. Rejects with `BRIDGE_FORBIDDEN`, and as the store does. */
  async *records(agentId: string, fromSeq = 1): AsyncGenerator<LogRecord, void, undefined> {
    this.must('see.messages', 'read')
    await this.#bridge.agents.checkReach(agentId, this)
    const view = await this.viewOf(agentId)
    for await (const record of this.#bridge.logOf(agentId, this.find).read(agentId, fromSeq)) {
      const visible = visibleRecord(record, view)
      if (visible !== undefined) yield visible
    }
  }

  /** Returns how much of an agent within reach the client may see. Rejects as the store does. */
  async viewOf(agentId: string): Promise<View> {
    const { view } = this
    if (view === 'all' || this.find(agentId)?.path.length === 0) return view
    for await (const record of this.#bridge.logOf(agentId, this.find).read(agentId, 1, 1))
      return record.type === 'agent.created' ? viewOfAgent(view, record) : view
    return view
  }

  /** Returns bytes stored beside an agent's log; `undefined` if they are gone. Rejects with `BRIDGE_FORBIDDEN`, and as the store does. */
  async keptBeside(agentId: string, id: string): Promise<Uint8Array | undefined> {
    this.must('see.all', 'read')
    await this.#bridge.agents.checkReach(agentId, this)
    return await this.#bridge.logOf(agentId, this.find).snapshots?.get(agentId, id)
  }

  /** Resolves to true if an agent's log has a request with this id, however old. */
  wasAsked(agent: Pick<DrivenAgent, 'wasAsked'>, requestId: string): Promise<boolean> {
    return agent.wasAsked(requestId)
  }

  /** Returns a failure without paths of the server, as the client may see it. */
  outward(thrown: unknown): ErrorInfo {
    return this.#bridge.outward(thrown)
  }

  newId(): string {
    return this.#bridge.newId()
  }

  /** Returns the running root agents within reach that have this metadata. */
  agents(metadata: Metadata = {}): Agent[] {
    return this.#bridge.runtime.agents({ metadata }).filter(this.reach)
  }

  /** Returns the running agents within reach, including sub-agents, but without descendants of another one of them. */
  topmost(): Agent[] {
    const within = (agent: Agent): Agent[] => (this.reach(agent) ? [agent] : agent.children().flatMap(within))
    return this.#bridge.runtime.agents().flatMap(within)
  }

  /** Calls `listener` with every agent within reach that starts to run, sub-agents too, unless incognito. Returns a function that removes it. */
  onAgent(listener: (agent: Agent) => void): () => void {
    return this.#bridge.runtime.onAgent((agent) => {
      if (!agent.incognito && this.reach(agent)) listener(agent)
    })
  }

  /** Returns a running agent, within reach or not, unless it is incognito and belongs to another client. */
  readonly find = (agentId: string): Agent | undefined => {
    const agent = this.#bridge.runtime.agent(agentId)
    return agent === undefined || this.isHidden(agentId, agent.path) ? undefined : agent
  }

  /** Returns true if an agent, running or ended, is incognito and belongs to another client. */
  readonly isHidden = (id: string, path: readonly string[]): boolean =>
    this.#bridge.incognito.isHidden({ id, path, agent: this.#bridge.runtime.agent(id) }, this.#client.sessionId)

  /** Returns a JSON value without the secrets that the application named. */
  redact<T>(value: T): T {
    return this.#bridge.redactor?.value(value) ?? value
  }

  /** Returns how much the client may see of the agents within its reach. */
  get view(): View {
    return viewOf(this.rights)
  }

  may(right: Right): boolean {
    return this.rights.has(right)
  }

  /** Checks that the client has a right, or one of several. `what` names the request. @throws RuntimeError `BRIDGE_FORBIDDEN` */
  must(needs: Right | readonly Right[], what: string): void {
    const any = [needs].flat()
    if (any.some((right) => this.may(right))) return
    const { role } = this.#grant
    const has = role === undefined ? `has ${[...this.rights].join(', ') || 'none'}` : `has the role "${role}"`
    throw new RuntimeError('BRIDGE_FORBIDDEN', `"${what}" needs the right "${any.join('" or "')}"; this token ${has}.`)
  }

  /**
   * Checks the right to decide. Approvals need the right `approve`; questions and calls for clients need `answer.own`. A denial fits all of them, so
   * it needs `approve` unless it is known here to answer a question.
   * @throws RuntimeError `BRIDGE_FORBIDDEN`
   */
  mustDecide(
    { callId, decision }: { readonly callId: string; readonly decision: string },
    agent?: Pick<DrivenAgent, 'pending'>,
  ): void {
    this.must(rightToDecide(callId, decision, agent?.pending() ?? []), `agent.decide: ${decision}`)
  }

  /**
   * Returns the initial values of an agent that this client spawns, including the metadata of the client's grant.
   *
   * @throws RuntimeError `BRIDGE_FORBIDDEN`, `INVALID_OPTION`
   */
  birth(definition: string, given: { readonly id?: string; readonly metadata?: Metadata } = {}): AgentBirth {
    this.must('spawn', 'a new agent')
    const { id = `${definition}-${this.newId()}` } = given
    const metadata = { ...given.metadata, ...this.#grant.metadata }
    if (!hasMetadata(metadata, given.metadata ?? {})) {
      const keys = Object.keys(this.#grant.metadata ?? {}).join(', ')
      throw new RuntimeError('BRIDGE_FORBIDDEN', `The server sets metadata of your agents itself: ${keys}.`)
    }
    if (!this.reach({ id, path: [], metadata })) throw newOutOfReach()
    this.#bridge.agents.definition(definition)
    return { id, definition, ...(Object.keys(metadata).length === 0 ? {} : { metadata }) }
  }

  /** Starts an agent. Rejects as `birth` does, and with `INVALID_ID`, `AGENT_EXISTS`. */
  async spawn(
    name: string,
    given: { readonly id?: string; readonly incognito?: boolean; readonly metadata?: Metadata } = {},
  ): Promise<Agent> {
    const { definition, ...birth } = this.birth(name, given)
    const { incognito = false } = given
    const agent = await this.#bridge.agents.spawn(definition, { ...birth, incognito }, this)
    if (incognito) this.#bridge.incognito.add(agent, this.#client.sessionId!)
    return agent
  }

  /** Starts an agent for another protocol, through the engine if there is one. Rejects as `spawn` does. */
  async begin(name: string, given: { readonly id?: string; readonly metadata?: Metadata } = {}): Promise<DrivenAgent> {
    this.must('see.messages', 'read')
    const { dispatch } = this.#bridge
    const agent = dispatch === undefined ? await this.spawn(name, given) : await this.#place(dispatch, name, given)
    this.checkAdmitted()
    return this.#given(agent)
  }

  async #place(dispatch: Dispatch, ...[name, given]: Parameters<AgentAccess['begin']>): Promise<DrivenAgent> {
    const birth = this.birth(name, given)
    this.checkAdmitted()
    await dispatch.begin(birth, this.newId())
    return await this.#bridge.followed.open(birth.id)
  }

  /** Returns true if an agent works in this process, or may work elsewhere under an engine. An agent at rest has no work. */
  works(agentId: string): boolean {
    return this.#bridge.dispatch !== undefined || this.find(agentId) !== undefined
  }

  /** Resolves to the subject of an agent's chart, without waking the agent. Rejects with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`. */
  async charted(agentId: string): Promise<ChartSubject> {
    this.must('see.all', 'chart')
    return await charted(this.#bridge, this, agentId)
  }

  /** Returns an agent that runs, or resumes it from its log. Rejects with `AGENT_NOT_FOUND`, `AGENT_STOPPED`, and as the checks do. */
  agent(agentId: string): Promise<Agent> {
    return this.#bridge.agents.agent(agentId, this)
  }

  /**
   * Returns an agent for another protocol, driven through the engine if there is one. An agent at rest is woken
   * and continues its work, if the client may talk with it or control it. Rejects as `agent` does.
   */
  async driven(agentId: string): Promise<DrivenAgent> {
    this.must('see.messages', 'read')
    const { dispatch } = this.#bridge
    if (!this.may('talk') && !this.may('control')) return await this.reading(agentId)
    const isPlaced = dispatch !== undefined && this.find(agentId)?.incognito !== true
    const agent = isPlaced ? await this.#followed(agentId) : this.#given(await this.agent(agentId))
    await agent.wake()
    this.checkAdmitted()
    return agent
  }

  /**
   * Checks a decision about an entry of an agent that waits. A refused decision does not wake the agent.
   * Rejects with `BRIDGE_FORBIDDEN`, `AGENT_NOT_FOUND`, and as the store does.
   */
  async mayDecide(agentId: string, decision: { readonly callId: string; readonly decision: string }): Promise<void> {
    // Nothing that waits makes it need more or less.
    if (this.may('approve') && this.may('answer.own')) return
    const running = this.find(agentId)
    if (running !== undefined) this.check(running)
    else await this.#bridge.agents.created(agentId, this)
    const isHere = running?.isLoaded === true && (this.#bridge.dispatch === undefined || running.incognito)
    this.mustDecide(decision, isHere ? running : await this.#bridge.followed.open(agentId))
  }

  /** Returns an agent for another protocol to read, without waking an agent at rest. Rejects with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`. */
  async reading(agentId: string): Promise<DrivenAgent> {
    this.must('see.messages', 'read')
    const running = this.find(agentId)
    if (running?.isLoaded !== true || (this.#bridge.dispatch !== undefined && !running.incognito))
      return await this.#followed(agentId)
    this.check(running)
    return this.#given(running)
  }

  async #followed(agentId: string): Promise<DrivenAgent> {
    await this.#bridge.agents.created(agentId, this)
    return this.#given(await this.#bridge.followed.open(agentId))
  }

  /** Returns the same object for the same agent, as long as the agent exists. */
  #given(agent: DrivenAgent): DrivenAgent {
    return this.#bridge.given.of(agent, this)
  }
}
