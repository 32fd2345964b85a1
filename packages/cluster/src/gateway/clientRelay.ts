import { createHash } from 'node:crypto'
import { nanoid } from 'nanoid'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { errorInfo, RuntimeError, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { WorkerEntry } from '../../../wire/src/frames.ts'
import { rightsOf } from '../../../wire/src/rights.ts'
import { pause } from '../../../../src/protocol/ports/pause.ts'
import type { Command, FrontClient, Relay } from '../../../bridge/src/server/front.ts'
import { isUnlimited, reaches } from '../../../bridge/src/server/roles.ts'
import { requestIdOf } from '../../../bridge/src/server/sessionId.ts'
import type { AgentFinder } from './agentFinder.ts'
import { FleetLists } from './fleetLists.ts'
import { ownCommands } from './ownCommands.ts'
import { Route } from './route.ts'
import { Upstream } from './upstream.ts'
import type { WorkerFrame } from './workerFrames.ts'

/** Objects and functions that a gateway's clients share. */
interface Shared {
  readonly finder: AgentFinder
  readonly clock: Clock
  tokensOf(permit: FrontClient['permit'], session: FrontClient['session'], reached: 'checked'): (url: string) => string
  checkReach(agentId: string, command: Command, client: FrontClient): Promise<void> | undefined
  outward(thrown: unknown): ErrorInfo
  /** Resolves with the entries of the workers at these addresses, in the same order. */
  entriesOf(urls: readonly string[]): Promise<readonly WorkerEntry[]>
  lostWorker(url: string, why: string): void
  left(relay: ClientRelay): void
}

/** Error codes of refusals that say that the agent has moved. */
const moved: ReadonlySet<string | undefined> = new Set([
  'AGENT_ELSEWHERE',
  'AGENT_DETACHED',
  'STORE_LEASE_LOST',
  'STORE_LOCKED',
  'RUNTIME_CLOSED',
])
/** Those codes of `moved` that concern a single worker. The client need not see them, wherever the agent is now. */
const passing: ReadonlySet<string | undefined> = new Set(['AGENT_DETACHED', 'STORE_LEASE_LOST', 'RUNTIME_CLOSED'])
/** Error codes that say that the store cannot be read at the moment. */
const unread: ReadonlySet<string | undefined> = new Set(['STORE_READ_FAILED', 'STORE_OPEN_FAILED'])

/** Number of times that a command is sent to the agent's presumed worker before its refusal is accepted. */
const mostRefusals = 8
/** Pause between two attempts, in milliseconds: the first, and the longest. */
const againMs = { first: 25, most: 2_000 } as const

/**
 * Relays one client's commands to the workers that have the agents, over one connection to each worker, and the workers' frames
 * to the client. When an agent moves, unanswered commands are sent again, and reading continues after the last record.
 */
export class ClientRelay implements Relay {
  definitions: readonly string[] = []
  descriptions: Readonly<Record<string, string>> | undefined
  readonly #gateway: Shared
  readonly #client: FrontClient
  readonly #tokenFor: (url: string) => string
  readonly #routes = new Map<string, Route>()
  readonly #upstreams = new Map<string, Upstream>()
  readonly #asked = new Map<string, Route>()
  readonly #lists: FleetLists
  readonly #closed = new AbortController()
  /** Prefix of ids of the relay's own requests; no client knows it. */
  readonly #prefix = nanoid(12)
  #count = 0
  #isPaused = false
  /** Set while the reach of commands is looked up. */
  #checking: Promise<void> | undefined

  constructor(gateway: Shared, client: FrontClient) {
    this.#gateway = gateway
    this.#client = client
    this.#tokenFor = gateway.tokensOf(client.permit, client.session, 'checked')
    this.#lists = new FleetLists({
      workers: () => gateway.finder.workers(client.session.id),
      clock: gateway.clock,
      ask: (url, frame) => this.#ask(url, frame),
      send: (frame) => this.#send(frame),
      isNamed: isUnlimited(client.permit.grant),
      isWithin: ({ agentId, path, metadata }) => reaches(client.permit.grant, { id: agentId, path, metadata }),
    })
  }

  get waiting(): number {
    return this.#asked.size
  }

  /** Learns from a worker which definitions its clients may spawn. If no worker can be reached, the client is told later. */
  async begin(): Promise<void> {
    if (!(await this.#learn())) void this.#learnLater()
  }

  async #learnLater(): Promise<void> {
    const { signal } = this.#closed
    do await pause(againMs.most, this.#gateway.clock, signal)
    while (!signal.aborted && !(await this.#learn()))
    if (signal.aborted) return
    const { definitions, descriptions } = this
    this.#send({ type: 'definitions', definitions, ...(descriptions === undefined ? {} : { descriptions }) })
  }

  /** Resolves with `false` if no worker lets the client in. */
  async #learn(): Promise<boolean> {
    const { grant } = this.#client.permit
    for (const url of (await this.#gateway.finder.workers(this.#client.session.id).catch(() => [])).slice(0, 3)) {
      try {
        const { definitions = [], descriptions } = await this.#upstream(url).welcome
        // Which ones concern a client whose agents a function chooses no worker knows.
        const isKnown = typeof grant.agents !== 'function' || rightsOf(grant).has('spawn')
        this.definitions = isKnown ? definitions : []
        this.descriptions = descriptions
        return true
      } catch {
        // The next one may be there.
      }
    }
    return false
  }

  running(): Promise<ReadonlySet<string>> {
    return this.#lists.running()
  }

  async workers(): Promise<readonly WorkerEntry[]> {
    if (!isUnlimited(this.#client.permit.grant))
      throw new RuntimeError('BRIDGE_FORBIDDEN', 'worker.list: this token may not see all agents.')
    const urls = await this.#gateway.finder.workers(this.#client.session.id)
    return this.#gateway.entriesOf(urls.toSorted())
  }

  takes(command: Command): boolean {
    if (ownCommands.has(command.type)) return false
    if (command.type === 'agent.list' || command.type === 'agent.watch' || command.type === 'agent.unwatch')
      this.#lists.take(command)
    else this.#take(command)
    return true
  }

  close(): void {
    this.#closed.abort(new Error('the client has left'))
    this.#gateway.left(this)
    this.#lists.close()
    for (const route of this.#routes.values()) route.stopFollowing?.()
    for (const upstream of this.#upstreams.values()) upstream.close()
    this.#upstreams.clear()
  }

  #take(command: Command): void {
    const agentId = this.#agentOf(command)
    const route = this.#routes.get(agentId) ?? new Route(agentId)
    this.#routes.set(agentId, route)
    this.#asked.set(command.id, route)
    const check = this.#gateway.checkReach(agentId, command, this.#client)
    // Commands stay in order.
    if (check === undefined && this.#checking === undefined) return this.#route(command, route)
    const before = this.#checking ?? Promise.resolve()
    // One that is out of reach is refused in its turn: those behind it wait for those before it.
    check?.catch(() => {})
    const checked = before
      .then(() => check)
      .then(
        () => this.#route(command, route),
        (thrown: unknown) => {
          this.#asked.delete(command.id)
          this.#refuse(command.id, this.#gateway.outward(thrown))
        },
      )
    this.#checking = checked
    void checked.then(() => {
      if (this.#checking === checked) this.#checking = undefined
    })
  }

  #route(command: Command, route: Route): void {
    // The client may have left while its reach was looked up.
    if (this.#closed.signal.aborted) return
    route.ask(command)
    if (route.url === undefined) void this.#look(route)
    else {
      this.#upstream(route.url).send(command)
      this.#follow(route)
    }
  }

  /** Returns the agent or machine that a command is for. An agent without an id gets the one that a worker will give it. */
  #agentOf(command: Command): string {
    if ('agentId' in command && command.agentId !== undefined) return command.agentId
    if ('hostId' in command) return command.hostId
    const { definition = '', id } = command as { readonly definition?: string; readonly id: string }
    const hash = createHash('sha256').update(requestIdOf(this.#client.session.id, id)).digest('hex')
    return `${definition}-${hash.slice(0, 16)}`
  }

  /** Finds the worker of an agent, and sends it the frames that the last worker did not answer. */
  async #look(route: Route): Promise<void> {
    if (route.isLooking) return
    route.isLooking = true
    const { signal } = this.#closed
    let failure: ErrorInfo | undefined
    try {
      if (route.failures > 0)
        await pause(Math.min(againMs.first * 2 ** route.failures, againMs.most), this.#gateway.clock, signal)
      const { url, isPlaced } = await this.#gateway.finder.find(route, signal)
      signal.throwIfAborted()
      route.url = url
      const upstream = this.#upstream(url)
      for (const frame of route.again(isPlaced, () => this.#ownId())) upstream.send(frame)
    } catch (thrown) {
      failure = this.#gateway.outward(thrown)
    }
    route.isLooking = false
    if (signal.aborted) return
    if (failure === undefined) this.#follow(route)
    else this.#giveUp(route, failure)
  }

  /** Follows the location of an agent that the client reads, since its last worker may not know that it has moved. */
  #follow(route: Route): void {
    if (route.isSubscribed)
      route.stopFollowing ??= this.#gateway.finder.follow(route.agentId, (url) => this.#isNowAt(route, url))
  }

  /** Takes an agent's address from the directory. */
  #isNowAt(route: Route, url: string): void {
    if (!route.isSubscribed) {
      route.stopFollowing?.()
      route.stopFollowing = undefined
    } else if (route.url !== undefined && route.url !== url && !route.isLooking) {
      const { agentId } = route
      this.#upstreams.get(route.url)?.send({ type: 'agent.unsubscribe', agentId, id: this.#ownId() })
      this.#lost(route)
    }
  }

  /** Called when the agent's worker no longer has it. */
  #lost(route: Route): void {
    route.url = undefined
    if (route.isIdle) this.#routes.delete(route.agentId)
    else void this.#look(route)
  }

  /** Refuses unanswered commands. A client that reads the agent is told once, and continues to read when the agent is back. */
  #giveUp(route: Route, error: ErrorInfo): void {
    for (const id of route.giveUp()) {
      this.#asked.delete(id)
      this.#refuse(id, error)
    }
    if (route.isIdle) {
      this.#routes.delete(route.agentId)
      route.stopFollowing?.()
      return
    }
    this.#tellAway(route, error)
    void this.#look(route)
  }

  #tellAway(route: Route, error: ErrorInfo): void {
    if (!route.isAway) this.#send({ type: 'error', agentId: route.agentId, ...error })
    route.isAway = true
  }

  #upstream(url: string): Upstream {
    const known = this.#upstreams.get(url)
    if (known !== undefined) return known
    const upstream = new Upstream(url, this.#tokenFor(url), {
      clock: this.#gateway.clock,
      frame: (frame, from) => this.#receive(frame, from),
      closed: (from, why) => this.#upstreamClosed(from, why),
    })
    this.#upstreams.set(url, upstream)
    if (this.#isPaused) upstream.pause()
    upstream.welcome.then(
      () => this.#gateway.finder.down.reached(url),
      () => {},
    )
    return upstream
  }

  #upstreamClosed(upstream: Upstream, why: string | undefined): void {
    const { url } = upstream
    if (this.#upstreams.get(url) !== upstream) return
    this.#upstreams.delete(url)
    if (why !== undefined) this.#gateway.lostWorker(url, why)
    this.#lists.lost(url)
    for (const route of this.#routes.values()) {
      if (route.url !== url) continue
      route.failed(this.#gateway.clock.now())
      this.#lost(route)
    }
  }

  #receive(frame: WorkerFrame, from: Upstream): void {
    if (this.#closed.signal.aborted) return
    const { type, id, agentId } = frame
    if (type === 'ok' || type === 'error') return id === undefined ? this.#send(frame) : this.#answered(frame, id, from)
    if (type === 'agents') return this.#lists.heard(from.url, frame)
    const route = agentId === undefined ? undefined : this.#routes.get(agentId)
    // What a worker says of an agent that has gone elsewhere is no longer so.
    if (route?.url !== from.url || !route.isSubscribed) return
    if (type === 'event' && frame.live !== true) this.#record(frame, route)
    else if (type === 'event' || type === 'delta' || type === 'caughtUp' || type === 'lagging') this.#send(frame)
  }

  #record(frame: WorkerFrame, route: Route): void {
    const isNext = route.takes(frame.seq ?? 0)
    if (isNext === true) {
      route.wentWell()
      this.#send(frame)
    } else if (isNext === undefined) {
      // Some are missing, which a worker does not do: they are asked for.
      route.failed(this.#gateway.clock.now())
      this.#lost(route)
    }
  }

  #answered(frame: WorkerFrame, id: string, from: Upstream): void {
    if (this.#lists.answered(frame)) return
    const route = this.#asked.get(id)
    if (id.startsWith(this.#prefix)) return frame.type === 'error' ? this.#readingRefused(id, frame, from) : undefined
    // How a run ended that the log says nothing of comes as a second answer.
    if (route === undefined) return hasEnded(frame) ? this.#send(frame) : undefined
    if (route.url !== from.url) return
    if (frame.type === 'error' && moved.has(frame.code)) {
      route.failed(this.#gateway.clock.now(), true)
      if (route.refusals <= mostRefusals) return this.#lost(route)
      if (passing.has(frame.code)) {
        route.url = undefined
        return this.#giveUp(route, unkept(route))
      }
    }
    route.answered(frame)
    this.#asked.delete(id)
    if (frame.type === 'ok') {
      route.wentWell()
      this.#send(frame)
    } else this.#refuse(id, { code: frame.code ?? 'INTERNAL', message: frame.message ?? '' })
    if (route.isIdle && route.stopFollowing !== undefined) {
      route.stopFollowing()
      route.stopFollowing = undefined
    }
  }

  /** Called when a worker refused to continue a subscription at another worker's position. */
  #readingRefused(id: string, { code = '', message = '' }: WorkerFrame, from: Upstream): void {
    const route = [...this.#routes.values()].find(({ reading, isSubscribed }) => reading === id && isSubscribed)
    if (route?.url !== from.url) return
    // The client is to come back, and to be told when it asks again.
    if (!moved.has(code) && !unread.has(code)) return this.#client.fail({ code, message })
    // The directory may go on naming this worker, and it have the agent by the next time.
    route.failed(this.#gateway.clock.now(), true)
    if (route.refusals > mostRefusals) this.#tellAway(route, unkept(route))
    this.#lost(route)
  }

  /** Sends a worker a question that does not concern a single agent. */
  #ask(url: string, frame: object): string {
    const id = this.#ownId()
    this.#upstream(url).send({ ...frame, id })
    return id
  }

  #ownId(): string {
    return `${this.#prefix}${++this.#count}`
  }

  #refuse(id: string, { code, message }: ErrorInfo): void {
    this.#send({ type: 'error', id, code, message })
  }

  #send(frame: object): void {
    const { outbox } = this.#client
    outbox.send(JSON.stringify(frame))
    if (!outbox.isFull || this.#isPaused) return
    // The workers wait with it, and notice that it reads slowly.
    this.#isPaused = true
    for (const upstream of this.#upstreams.values()) upstream.pause()
    outbox.flush()
    const resume = (): void => {
      this.#isPaused = false
      for (const upstream of this.#upstreams.values()) upstream.resume()
    }
    if (outbox.isFull) outbox.onDrain(resume)
    else resume()
  }
}

const unkept = ({ agentId }: Route): ErrorInfo =>
  errorInfo('AGENT_UNREACHABLE', `Agent "${agentId}" cannot be reached: no worker keeps it.`)

const hasEnded = ({ type, result }: WorkerFrame): boolean =>
  type === 'ok' && typeof result === 'object' && result !== null && 'ended' in result
