import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { callbackBugs } from '../../../../src/protocol/callbackBugs.ts'
import { errorInfo, messageOf, RuntimeError, toErrorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { ServerFrame } from '../../../wire/src/frames.ts'
import { rightsOf, type Right, type Role } from '../../../wire/src/rights.ts'
import type { HostView } from '../../../wire/src/hostView.ts'
import {
  agentsShape,
  readAnswer,
  remoteError,
  searchShape,
  sessionsShape,
  spawnedShape,
  type RemoteAgents,
  type RemoteSearch,
  type RemoteSessions,
  type RemoteWaiting,
  type RemoteWorker,
  waitingShape,
  workersShape,
} from './answers.ts'
import { AwayAgents } from './awayAgents.ts'
import type { CheckedOptions } from './connectOptions.ts'
import { Link, type ClientStatus, type LinkOwner, type WelcomeFrame } from './reconnectingLink.ts'
import { Outgoing, type Asked, type Asking } from './outgoing.ts'
import { RemoteAgent, type AgentOwner } from './remoteAgent.ts'
import type { AnswerOf, OutputOptions, RemoteAgentOf } from './remoteAgentOf.ts'
import { RemoteFeed } from './remoteFeed.ts'
import { hostsShape, RemoteHost } from './remoteHost.ts'
import { RemoteRoster, type RosterChange } from './remoteRoster.ts'
import { spendFrame, spendShape, type RemoteSpend, type RemoteSpendOptions } from './spend.ts'
import type { RemotePage, RemoteSessionPage, RemoteSpawnOptions } from './remoteQueries.ts'
import { watchWaiting } from './watchWaiting.ts'
import { randomHex, sessionIdFor, sessionMark } from './sessionId.ts'

/** A client of a server: successive connections under one session, until it is closed. Made by `connect`. */
export class Client {
  /** Resolves once the server has sent `welcome`. Rejects if the client is closed before that. */
  readonly ready: Promise<void>
  readonly #options: CheckedOptions
  readonly #link: Link
  readonly #outgoing: Outgoing
  readonly #owner: AgentOwner
  readonly #agents = new Map<string, { readonly agent: RemoteAgent; readonly feed: RemoteFeed }>()
  readonly #roster: RemoteRoster
  readonly #away = new AwayAgents((why) => this.#awayChanged(why))
  readonly #statusListeners = new Set<(status: ClientStatus) => unknown>()
  readonly #definitionListeners = new Set<(definitions: readonly string[]) => unknown>()
  readonly #errorListeners = new Set<(error: ErrorInfo) => unknown>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #close = (): void => this.close()
  #welcome: WelcomeFrame | undefined
  #number = 0
  #connections = 0
  #closed: RuntimeError | undefined
  /** The last reported status. */
  #told: ClientStatus = 'connecting'

  /** Called by `connect`. */
  constructor(options: CheckedOptions) {
    this.#options = options
    this.ready = this.#ready.promise
    this.ready.catch(() => {})
    // A token that changes cannot be what proves that the session is ours, and a cookie is never seen here.
    const sessionKey = typeof options.token === 'string' ? undefined : randomHex(32)
    const sessionId = sessionIdFor(sessionKey ?? (options.token as string))
    this.#link = new Link(options, { sessionId, sessionKey }, this.#linkOwner())
    this.#outgoing = new Outgoing(options.clock, (text) => this.#link.sendText(text), this.#away)
    this.#owner = this.#agentOwner(sessionMark(sessionId), options.clock)
    this.#roster = new RemoteRoster(this.#owner.askOnce, ({ code, message }) => this.#owner.report({ code, message }))
    options.signal?.addEventListener('abort', this.#close, { once: true })
    if (options.signal?.aborted === true) this.close()
    else this.#link.open()
  }

  /** Status of the connection. `reconnecting` also applies while the connected gateway cannot find an agent that this client uses. */
  get status(): ClientStatus {
    const { status } = this.#link
    return status === 'open' && !this.#away.isEmpty ? 'reconnecting' : status
  }

  /** Time of the next attempt to connect, in epoch milliseconds; `undefined` while connected, connecting, or closed for good. */
  get retryAt(): number | undefined {
    return this.#link.retryAt
  }

  /** The role of the token; `undefined` before the first connection, and if individual rights were granted. */
  get role(): Role | undefined {
    return this.#welcome?.role
  }

  /** Returns true if the token has a right; `false` before the first connection. */
  may(right: Right): boolean {
    const { may, role } = this.#welcome ?? {}
    return may?.includes(right) ?? (role !== undefined && rightsOf({ role }).has(right))
  }

  /** Cost of a tree of agents, in US dollars, above which pages warn; `undefined` before `welcome`, and without such a threshold. */
  get alertUsd(): number | undefined {
    return this.#welcome?.alertUsd
  }

  /** Names of the definitions that can be spawned; empty before the first connection, and until a gateway has reached a worker. */
  get definitions(): readonly string[] {
    return this.#welcome?.definitions ?? []
  }

  /** Descriptions of the definitions that have one, by name; empty without the right `spawn`. */
  get descriptions(): Readonly<Record<string, string>> {
    return this.#welcome?.descriptions ?? {}
  }

  /** Calls `listener` with every new status. Returns a function that removes the listener. */
  onStatus(listener: (status: ClientStatus) => unknown): () => void {
    this.#statusListeners.add(listener)
    return () => this.#statusListeners.delete(listener)
  }

  /** Calls `listener` when `definitions` become known after the connection. Returns a function that removes the listener. */
  onDefinitions(listener: (definitions: readonly string[]) => unknown): () => void {
    this.#definitionListeners.add(listener)
    return () => this.#definitionListeners.delete(listener)
  }

  /** Calls `listener` with errors that belong to no call: an unknown frame, a listener that threw, a refused subscription. */
  onError(listener: (error: ErrorInfo) => unknown): () => void {
    this.#errorListeners.add(listener)
    return () => this.#errorListeners.delete(listener)
  }

  /**
   * Starts an agent of a definition that the server knows. `incognito`: none of its data is stored, no other client sees it, and it
   * ends when this client has been away for the server's `limits.sessionMs`. `metadata` is recorded with the agent for good, beside
   * the server's own. Rejects with `AGENT_EXISTS`, `INVALID_OPTION`, `INVALID_ID`, `BRIDGE_FORBIDDEN`.
   */
  async spawn<D extends AgentDefinition>(
    definition: string,
    options: RemoteSpawnOptions = {},
  ): Promise<RemoteAgentOf<D>> {
    // With an id from here it can be asked for again.
    const agentId = options.id ?? `${definition}-${randomHex(8)}`
    const connection = this.#connections
    try {
      const incognito = options.incognito === true ? { incognito: true } : {}
      const metadata = options.metadata === undefined ? {} : { metadata: options.metadata }
      const answer = await this.#ask({ type: 'agent.spawn', definition, agentId, ...incognito, ...metadata })
      const { seq } = readAnswer(spawnedShape, answer)
      const { agent, feed } = this.#entryOf(agentId)
      feed.spawned(seq)
      return agent as never
    } catch (thrown) {
      const isOurs = options.id === undefined && this.#connections > Math.max(1, connection)
      // The server had done it, and restarted before it could answer.
      if (isOurs && thrown instanceof RuntimeError && thrown.code === 'AGENT_EXISTS') return this.agent<D>(agentId)
      throw thrown
    }
  }

  /**
   * Returns the agent with this id, always the same object. If it does not exist, the first request fails. `D` types its results and events.
   *
   * @example
   * ```ts no-run
   * import type { Client } from 'escapement/client'
   *
   * async function fix(client: Client) {
   *   const { result } = client.agent<typeof coder>('c1').prompt('Fix the test.')
   *   console.log((await result).stopReason)
   * }
   * ```
   */
  agent<Output>(id: string, options: OutputOptions<Output>): RemoteAgent<Output>
  agent<D extends AgentDefinition>(id: string, options?: Partial<OutputOptions<AnswerOf<D>>>): RemoteAgentOf<D>
  agent(id: string, { output }: Partial<OutputOptions<unknown>> = {}): RemoteAgent<never, never> {
    const { agent } = this.#entryOf(id)
    if (output !== undefined) agent.checkOutput(output)
    return agent as RemoteAgent<never, never>
  }

  /** Returns agents without a parent, oldest first, after a given one and with certain metadata; 100 by default. Rejects with `INVALID_OPTION`. */
  async agents(page: RemotePage = {}): Promise<RemoteAgents> {
    return readAnswer(agentsShape, await this.#ask({ type: 'agent.list', ...page }))
  }

  /**
   * Calls `listener` with the running agents, including sub-agents, and then a few times a second with changed
   * ones. Continues after a reconnect. Returns a function that removes the listener.
   */
  watch(listener: (change: RosterChange) => unknown): () => void {
    return this.#roster.add((change) => this.#notify(new Set([listener]), change))
  }

  /** Returns sessions of the server's store, running or not, the most recently written first; options as for `agents`. */
  async sessions(page: RemoteSessionPage = {}): Promise<RemoteSessions> {
    return readAnswer(sessionsShape, await this.#ask({ type: 'session.list', ...page }))
  }

  /** Searches the sessions that the client may see for records that contain all of the words, the best first; 20 by default, at most 100. */
  async search(text: string, options: Pick<RemotePage, 'limit' | 'metadata'> = {}): Promise<RemoteSearch> {
    return readAnswer(searchShape, await this.#ask({ type: 'session.search', text, ...options }))
  }

  /** Returns the model spending of the sessions that the client may see, in groups, the most expensive first. Rejects with `INVALID_OPTION`. */
  async spend(options: RemoteSpendOptions = {}): Promise<RemoteSpend> {
    return readAnswer(spendShape, await this.#ask(spendFrame(options)))
  }

  /**
   * Returns everything that waits for people at the agents that the client may see, running or not, the longest wait first; at most 100 agents by
   * default. It wakes no agent. A decision by `client.agent(agentId).decide(key, …)` does. Rejects with `INVALID_OPTION`.
   */
  async waiting(options: Pick<RemotePage, 'limit' | 'metadata'> = {}): Promise<RemoteWaiting> {
    return readAnswer(waitingShape, await this.#ask({ type: 'waiting.list', ...options }))
  }

  /**
   * Calls `listener` with everything that waits for people: immediately, after each change at running agents,
   * and after each reconnect. Returns a function that removes the listener. Failures are reported to `onError`.
   */
  watchWaiting(
    listener: (waiting: RemoteWaiting) => unknown,
    options: Pick<RemotePage, 'limit' | 'metadata'> = {},
  ): () => void {
    return watchWaiting(this, options, {
      tell: (waiting) => this.#notify(new Set([listener]), waiting),
      failed: (thrown) => this.#owner.report(toErrorInfo(thrown, 'INTERNAL')),
    })
  }

  /**
   * Returns the processes that a gateway reaches, by name; none if the server is not a gateway. An agent in a list has
   * the name of its process in `worker`. Rejects with `BRIDGE_FORBIDDEN` for clients without all rights.
   */
  async workers(): Promise<readonly RemoteWorker[]> {
    return readAnswer(workersShape, await this.#ask({ type: 'worker.list' })).workers
  }

  /** Returns a durable machine of the server, to send events to. If it does not exist, the first request to it fails. */
  host(id: string): RemoteHost {
    return new RemoteHost(id, (frame) => this.#ask(frame))
  }

  /** Returns the open machines that the client may see, then the last 20 that ended on the server. Rejects with `BRIDGE_FORBIDDEN`. */
  async hosts(): Promise<readonly HostView[]> {
    return readAnswer(hostsShape, await this.#ask({ type: 'host.list' })).hosts
  }

  /** Closes the connection for good. Agents and their runs continue. Unanswered requests fail with an error. Idempotent. */
  close(): void {
    this.#link.close()
  }

  #entryOf(id: string): { readonly agent: RemoteAgent; readonly feed: RemoteFeed } {
    const known = this.#agents.get(id)
    if (known !== undefined) return known
    const feed = new RemoteFeed(id, this.#owner)
    const entry = { feed, agent: new RemoteAgent(id, this.#owner, feed) }
    this.#agents.set(id, entry)
    return entry
  }

  #linkOwner(): LinkOwner {
    return {
      opened: (welcome) => {
        this.#away.clear()
        this.#welcome = welcome
        this.#connections += 1
        this.#outgoing.opened(welcome.limits, () => {
          for (const { feed } of this.#agents.values()) feed.reopen()
          this.#roster.reopen()
        })
        this.#ready.resolve()
      },
      received: (frame) => this.#receive(frame),
      lost: () => this.#outgoing.lost(),
      closed: (error) => {
        this.#closed = error
        this.#options.signal?.removeEventListener('abort', this.#close)
        this.#outgoing.close(error)
        for (const { feed } of this.#agents.values()) feed.close(error)
        this.#ready.reject(error)
      },
      changed: () => this.#tellStatus(),
      report: (error) => this.#notify(this.#errorListeners, error),
    }
  }

  #agentOwner(mark: string, clock: Clock): AgentOwner {
    const { knownSeq } = this.#options
    return {
      ...(knownSeq === undefined ? {} : { knownSeq }),
      sessionMark: mark,
      clock,
      nextNumber: () => ++this.#number,
      send: (asking, isKept) => this.#send(asking, isKept),
      release: (number) => this.#outgoing.release(number),
      onceThere: (agentId, call) => {
        const end = this.watch(({ agents }) => {
          if (!agents.some((agent) => agent.agentId === agentId)) return
          // It may be known at once, before there is anything to end.
          queueMicrotask(() => {
            if (isOver) return
            leave()
            call()
          })
        })
        let isOver = false
        const leave = (): void => {
          isOver = true
          end()
        }
        return leave
      },
      ask: (frame) => this.#ask(frame),
      askOnce: (frame, refused) => {
        if (this.#closed !== undefined) refused(this.#closed)
        // The next connection sends its own.
        else if (this.#link.status === 'open')
          this.#send({ number: ++this.#number, frame, isOfConnection: true, answered: () => {}, refused }, false)
      },
      report: (error) => this.#notify(this.#errorListeners, error),
    }
  }

  #awayChanged(why: ErrorInfo | undefined): void {
    if (why !== undefined) this.#notify(this.#errorListeners, why)
    this.#tellStatus()
  }

  #tellStatus(): void {
    const { status } = this
    if (status === this.#told) return
    this.#told = status
    this.#notify(this.#statusListeners, status)
  }

  #ask(frame: Asked): Promise<unknown> {
    return new Promise((answered, refused) => this.#send({ number: ++this.#number, frame, answered, refused }, false))
  }

  #send(asking: Asking, isKept: boolean): void {
    if (this.#closed === undefined) this.#outgoing.ask(asking, isKept)
    else asking.refused(this.#closed)
  }

  #receive(frame: ServerFrame): void {
    switch (frame.type) {
      case 'ok':
        return this.#outgoing.answered(frame.id, frame.result)
      case 'error':
        if (frame.id === undefined) return this.#complained(frame)
        return this.#outgoing.refused(frame.id, remoteError(frame))
      case 'event':
        this.#away.back(frame.agentId)
        return this.#agents.get(frame.agentId)?.feed.take(frame)
      case 'delta':
        return this.#agents.get(frame.agentId)?.feed.takeDelta(frame)
      case 'caughtUp':
        this.#away.back(frame.agentId)
        return this.#agents.get(frame.agentId)?.agent.caughtUp(frame.seq)
      case 'agents':
        return this.#roster.take(frame)
      case 'definitions':
        this.#welcome = { ...this.#welcome!, ...frame, type: 'welcome' }
        return this.#notify(this.#definitionListeners, frame.definitions)
      case 'lagging':
      case 'welcome':
      case 'closing':
      case 'pong':
    }
  }

  /** Handles an error that answers no request. If it names an agent, the agent's followers continue once it can be reached. */
  #complained({ code, message, agentId }: Extract<ServerFrame, { type: 'error' }>): void {
    if (agentId !== undefined && this.#agents.has(agentId)) this.#away.left(agentId, { code, message })
    else this.#notify(this.#errorListeners, { code, message })
  }

  #notify<T>(listeners: ReadonlySet<(value: T) => unknown>, value: T): void {
    const failed = (thrown: unknown): void => {
      callbackBugs.tell('A listener of a client', thrown)
      const isError = (listeners as ReadonlySet<unknown>) === this.#errorListeners
      if (!isError) this.#notify(this.#errorListeners, errorInfo('SUBSCRIBER_FAILED', `${messageOf(thrown)}.`))
    }
    for (const listener of listeners) {
      try {
        const returned = listener(value)
        if (returned instanceof Promise) returned.catch(failed)
      } catch (thrown) {
        failed(thrown)
      }
    }
  }
}
