import { computed, effect, signal, untracked, type ReadonlySignal, type Signal } from '@preact/signals'
import type { Clock } from '../../../../../../src/protocol/ports/clock.ts'
import type { AgentSummary, SessionEntry } from '../../../../../wire/src/frames.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import type { ServedChart } from '../../../../../charts/src/servedChart.ts'
import { AgentChart } from './agentChart.ts'
import { KeptReader, type FilePorts } from '../calls/keptResults.ts'
import { Deciding, targetOf } from '../calls/settledCalls.ts'
import { Connection, type ConnectionOptions } from '../agent/connection.ts'
import { controlsOf, viewFacts, whyNotDrive, whyNotFork, type Controls, type DriveFacts } from '../agent/controls.ts'
import { nextError } from '../agent/eventErrors.ts'
import { nodeAt, recordOf } from '../events/eventNode.ts'
import type { FollowedAgent, FollowOptions } from '../agent/followedAgent.ts'
import { laterFollow, loadFollow } from '../agent/laterFollowed.ts'
import { FrameBatch, type NextFrame } from '../agent/frameBatch.ts'
import { placeOf } from '../sessions/agentNames.ts'
import type { Bulk } from '../sessions/bulk.ts'
import { Directory } from '../sessions/directory.ts'
import { ShellChoices, type ChoiceStores } from './shellChoices.ts'
import { Notices, type NoticePorts } from './notices.ts'
import { emptyRoute, formatRoute, readRoute, type Route } from './route.ts'
import { WaitingBook } from '../calls/waitingBook.ts'

/** The address of the page. */
export interface Address {
  /** Returns the part of the address from the `#` on. */
  read(): string
  /** Replaces the present address, or adds one to the history. */
  write(hash: string, how: 'push' | 'replace'): void
  /** Calls `listener` whenever a person changes the address; returns an unsubscribe function. */
  listen(listener: () => void): () => void
}

/** Keeps the token while the tab of the page is open. */
export interface Memory {
  get(): string | undefined
  set(token: string | undefined): void
}

/** The functions of a browser, or of a test, that the page depends on. */
export interface InspectorPorts {
  readonly address: Address
  readonly memory: Memory
  readonly nextFrame: NextFrame
  readonly clock: Clock
  /** Address of the bridge's WebSocket. */
  readonly url: string
  /** Reads the chart of an agent, with a query such as `layout=full`; `null` when the server gives none. */
  readonly readChart: (agentId: string, token: string | undefined, query?: string) => Promise<ServedChart | null>
  /** Reads the newest events of an agent's log; `null` when the server gives none. */
  readonly readNewest?: (agentId: string, token: string | undefined) => Promise<readonly AgentEvent[] | null>
  readonly files: FilePorts
  readonly notices?: NoticePorts
  readonly webSocket?: ConnectionOptions['webSocket']
  /** Stores of the page's own settings. Default: none, so settings last as long as the page. */
  readonly stores?: ChoiceStores
}

/** The page's connection and everything that depends on it. Another token makes a new one. */
export interface Attached {
  readonly connection: Connection
  readonly directory: Directory
  /** Approvals and questions of agents that are not shown. */
  readonly waiting: WaitingBook
}

/** The model of the whole page: its content, and the choices of the person. Close it. */
export class Inspector {
  readonly route = signal<Route>(emptyRoute)
  /** The parts of the address that made no sense. */
  readonly problems = signal<readonly string[]>([])
  readonly attached: ReadonlySignal<Attached>
  /** The agent that is shown. */
  readonly agent = signal<FollowedAgent | null>(null)
  readonly charts: AgentChart
  readonly node = signal<NodeId | null>(null)
  readonly turn = signal<number | null>(null)
  /** The event whose details are shown. */
  readonly event = signal<AgentEvent | null>(null)
  /** True while the time slider is open; `null` if its default for the agent applies. */
  readonly isTimeOpen = signal<boolean | null>(null)
  /** True while the search field is open. An address with a query opens it too. */
  readonly isSearching = signal(false)
  readonly batch: FrameBatch
  readonly clock: Clock
  /** The last prompt that started an agent from this page. */
  lastPrompt = ''
  readonly notices: Notices
  readonly deciding: Deciding
  /** Actions on many agents that are under way, or were refused in part. */
  readonly bulks = signal<readonly Bulk[]>([])
  /** Reads the data that results keep beside the log. */
  readonly kept: KeptReader
  /** The person's settings of the page. */
  readonly choices: ShellChoices
  readonly #ports: InspectorPorts
  readonly #attached: Signal<Attached>
  readonly #undo: (() => void)[] = []
  #token: string | undefined
  #hasChosen = false

  constructor(ports: InspectorPorts) {
    this.#ports = ports
    this.clock = ports.clock
    this.choices = new ShellChoices(ports.stores)
    this.notices = new Notices(ports.notices)
    this.deciding = new Deciding(ports.clock)
    this.kept = new KeptReader(ports.files, () => this.#token)
    this.batch = new FrameBatch(ports.nextFrame)
    const { route, token, problems } = readRoute(ports.address.read())
    if (token !== null) ports.memory.set(token)
    this.#token = ports.memory.get()
    this.#hasChosen = route.agent !== null || route.host !== null || route.show.length > 0
    this.problems.value = problems
    this.#attached = signal(this.#attach())
    this.attached = this.#attached
    this.charts = new AgentChart({
      agent: this.agent,
      isDue: computed(() => this.#isChartDue()),
      read: (id, query) => ports.readChart(id, this.#token, query),
    })
    this.#show(route)
    if (token !== null) ports.address.write(formatRoute(route), 'replace')
    this.#undo.push(
      ports.address.listen(() => this.#follow()),
      effect(() => this.#onDirectory()),
      effect(() => this.#onConnection()),
      () => this.charts.close(),
      effect(() => this.#onTurn()),
      effect(() => this.#onPending()),
      () => this.deciding.close(),
    )
  }

  get token(): string | undefined {
    return this.#token
  }

  /** Changes the route. A change to another agent keeps only the view of the route. */
  go(change: Partial<Route>, how: 'push' | 'replace' = 'push'): void {
    const before = this.route.value
    const isOther = change.agent !== undefined && change.agent !== before.agent
    const base = isOther ? { ...emptyRoute, view: before.view, as: before.as, look: before.look } : before
    // A view takes the place of a comparison.
    const next = { ...base, ...(change.view === undefined ? {} : { with: null }), ...change }
    this.#hasChosen = true
    this.problems.value = []
    this.#ports.address.write(formatRoute(next), how)
    this.#show(next)
  }

  /** Shows an event and its node, in whatever view is open. */
  showEvent(event: AgentEvent): void {
    const records = this.agent.value?.state.value.records ?? []
    const { view } = this.route.value
    this.event.value = event
    this.go(
      {
        node: nodeAt(event, records) ?? this.node.value,
        ...(view === 'requests' && 'turnIndex' in event ? { turn: event.turnIndex } : {}),
      },
      'replace',
    )
  }

  /** Shows the next or the previous failure. Returns false if there is none. */
  showError(step: 1 | -1): boolean {
    const agent = this.agent.value
    if (agent === null) return false
    const node = this.node.value
    const record = node === null ? undefined : recordOf(node, agent.state.value.records)
    const error = nextError(agent.errors, step, {
      shown: this.event.value,
      ...(record === undefined ? {} : { seq: record.seq }),
    })
    if (error !== undefined) this.showEvent(error)
    return error !== undefined
  }

  /** Reconnects with another token, or without one. */
  useToken(token: string | undefined): void {
    this.#token = token
    this.kept.forget()
    this.#ports.memory.set(token)
    this.#detach()
    this.#attached.value = this.#attach()
    const route = this.route.value
    this.route.value = emptyRoute
    this.#show(route)
  }

  /** The controls of the agent that is shown. Read them where signals are followed. */
  readonly controls: ReadonlySignal<Controls> = computed(() => {
    const view = this.agent.value?.state.value
    return controlsOf({
      ...this.#driveFacts(),
      view: view === undefined ? noView : viewFacts(view),
    })
  })

  /** Reason why no agent at all can be driven; `null` if some can. */
  readonly whyNotDrive: ReadonlySignal<string | null> = computed(() => whyNotDrive(this.#driveFacts()))

  /** Reason why the agent that is shown cannot be forked; `null` if it can. */
  readonly whyNotFork: ReadonlySignal<string | null> = computed(() =>
    whyNotFork(this.#driveFacts(), this.agent.value?.state.value.status ?? 'loading'),
  )

  /** Reason why no waiting item can be decided, at the agent that is shown or, on the overview, at any agent; `null` if it can. */
  readonly whyNotDecide: ReadonlySignal<string | null> = computed(() =>
    this.agent.value === null ? whyNotDrive(this.#driveFacts(), 'answer.own') : this.controls.value.decide,
  )

  /** Reason why no call can be approved; `null` if one can. */
  readonly whyNotApprove: ReadonlySignal<string | null> = computed(() =>
    this.agent.value === null ? whyNotDrive(this.#driveFacts(), 'approve') : this.controls.value.approve,
  )

  /** True once the content that the address names has been read. Other reading has to wait until then. */
  readonly isReadable: ReadonlySignal<boolean> = computed(() =>
    this.agent.value === null
      ? this.route.value.agent === null && this.attached.value.directory.isKnown.value
      : this.agent.value.state.value.status !== 'loading',
  )

  /** Returns true if the agent's chart may be read: its log comes first, unless the chart is in view. */
  #isChartDue(): boolean {
    const isNext = this.isReadable.value || this.route.value.view === 'chart'
    return isNext && this.attached.value.connection.may.value('see.all')
  }

  #driveFacts(): DriveFacts {
    const { connection, directory } = this.attached.value
    return {
      may: connection.may.value,
      connection: connection.status.value,
      hasToken: this.#token !== undefined,
      isRecording: connection.definitions.value.length === 0 && directory.agents.value.size === 0,
    }
  }

  /**
   * Runs an action that the server may refuse, and shows the refusal, unless `isShown` returns true for it. Resolves with true if it succeeded.
   */
  async attempt(action: () => Promise<unknown>, isShown: (thrown: unknown) => boolean = () => false): Promise<boolean> {
    const about = this.route.value.agent
    try {
      await action()
      return true
    } catch (thrown) {
      if (isShown(thrown)) return false
      const { code = 'INTERNAL', message } = thrown as { code?: string; message: string }
      // Two people looked at the same call: what the other one did is seen anyway.
      const isLate = code === 'CALL_NOT_PENDING'
      const error = { code, message: isLate ? 'Someone else has already decided this.' : message }
      this.attached.value.connection.report(error, about)
      return false
    }
  }

  /** Closes the model of the page. Idempotent. */
  close(): void {
    for (const undo of this.#undo.splice(0)) undo()
    this.#detach()
  }

  #attach(): Attached {
    const { url, clock, webSocket } = this.#ports
    const socket = webSocket === undefined ? {} : { webSocket }
    const connection = new Connection({ url, clock, token: this.#token, ...socket })
    const { client } = connection
    return {
      connection,
      directory: new Directory(client, { batch: this.batch, clock }),
      waiting: new WaitingBook(client),
    }
  }

  #detach(): void {
    this.agent.value?.close()
    this.agent.value = null
    const { connection, directory, waiting } = this.#attached.value
    directory.close()
    waiting.close()
    connection.close()
  }

  /** Follows the address after the person went back or typed one. */
  #follow(): void {
    const { route, token, problems } = readRoute(this.#ports.address.read())
    this.#hasChosen = true
    this.problems.value = problems
    if (token !== null) {
      this.#ports.address.write(formatRoute(route), 'replace')
      this.useToken(token)
    }
    this.#show(route)
  }

  #show(route: Route): void {
    const before = this.route.value
    this.route.value = route
    this.node.value = route.node
    this.turn.value = route.turn
    if (route.agent !== before.agent || (route.agent !== null && this.agent.value === null)) this.#open(route)
    else if (route.at !== before.at) this.agent.value?.goTo(route.at)
  }

  #open({ agent: agentId, at }: Route, begun?: FollowOptions['newest']): void {
    const left = this.agent.value
    if (left !== null && left.agentId !== agentId) this.#attached.value.connection.dismissOf(left.agentId)
    left?.close()
    this.charts.chart.value = null
    this.event.value = null
    this.isTimeOpen.value = null
    const follow = laterFollow()
    if (agentId === null || follow === undefined) this.agent.value = null
    if (agentId === null) return
    const newest = begun ?? (at === null ? this.#readNewest(agentId) : undefined)
    if (follow === undefined) return void this.#openLater(agentId, newest)
    const { client } = this.#attached.value.connection
    this.agent.value = follow(client, agentId, { batch: this.batch, at, newest })
  }

  /** Reads the end of a log once the client is let in, while the code that shows the log is loaded. Never rejects. */
  #readNewest(agentId: string): FollowOptions['newest'] {
    const { ready } = this.#attached.value.connection.client
    return ready.then(() => this.#ports.readNewest?.(agentId, this.#token)).catch(() => null)
  }

  /** Opens an agent once its code is there, unless another place is shown by then. */
  async #openLater(agentId: string, newest: FollowOptions['newest']): Promise<void> {
    const isLoaded = await this.attempt(() => loadFollow())
    const route = this.route.peek()
    if (isLoaded && this.#undo.length > 0 && route.agent === agentId && this.agent.peek() === null)
      this.#open(route, newest)
  }

  #onPending(): void {
    const pending = this.agent.value?.state.value.pending ?? []
    const keys = pending.map(({ key }) => key)
    const target = targetOf(pending, this.deciding.opened.value)?.key
    untracked(() => this.deciding.show(keys, target))
  }

  #onDirectory(): void {
    const { directory } = this.attached.value
    const agents = directory.agents.value
    const isKnown = directory.isKnown.value
    const sessions = directory.sessions.value
    const agent = this.agent.value
    untracked(() => {
      if (isKnown && agent !== null) agent.takeSummary(agents.get(agent.agentId))
      if (isKnown && !this.#hasChosen) this.#chooseAlone(agents, sessions)
    })
  }

  /** Opens the only agent instead of an overview of one; where no agent runs and none could be started, the session written last. */
  #chooseAlone(agents: ReadonlyMap<string, AgentSummary>, sessions: readonly SessionEntry[] | null): void {
    const roots = [...agents.values()].filter(({ path }) => !path.some((id) => agents.has(id)))
    const { definitions, status } = this.attached.value.connection
    const isRecording = agents.size === 0 && status.value === 'open' && definitions.value.length === 0
    const alone = roots.length === 1 ? roots[0] : isRecording ? sessions?.[0] : undefined
    if (alone !== undefined) this.go(placeOf(alone), 'replace')
  }

  /** Updates the address after a view moved to another turn. */
  #onTurn(): void {
    const turn = this.turn.value
    untracked(() => {
      const route = this.route.value
      if (route.agent !== null && route.turn !== turn) this.go({ turn }, 'replace')
    })
  }

  /** Refreshes the state after a reconnect: events that are not in the log may have been missed. */
  #onConnection(): void {
    const { connection, directory } = this.attached.value
    if (connection.status.value !== 'open') return
    untracked(() => {
      const agent = this.agent.value
      void agent?.refresh()
      this.charts.readMissing()
      void directory.readSessions()
    })
  }
}

const noView = {
  status: 'loading',
  chartState: '',
  isRunning: false,
  policies: null,
  pause: null,
  isStopped: false,
} as const
