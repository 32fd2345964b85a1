import type { RemoteConversation, RemoteNode, RemoteSnapshot } from '../../../bridge/src/client/answers.ts'
import type { Client } from '../../../bridge/src/client/client.ts'
import type { RemoteAgent } from '../../../bridge/src/client/remoteAgent.ts'
import type {
  CompactOptions,
  DecideOptions,
  Decision,
  PruneOptions,
  RevertCommandOptions,
  SayOptions,
} from '../../../../src/protocol/bridge/commands.ts'
import type { PermissionMode } from '../../../../src/protocol/parts/permissions/permissionModes.ts'
import type { AgentEvent, EventOf } from '../../../../src/protocol/events.ts'
import { textOf, type UserSource } from '../../../../src/protocol/messages.ts'
import { foldAppState, noAppState, toldAppState } from '../../../bridge/src/client/fold/foldAppState.ts'
import { foldPending, nothingAsked, pendingOf } from '../../../bridge/src/client/fold/foldPending.ts'
import { foldState, type LiveState } from '../../../bridge/src/client/fold/foldState.ts'
import type { ChatPending } from '../../../bridge/src/client/fold/chat.ts'
import type { Content } from '../../../../src/protocol/text/saidContent.ts'
import type { PauseReason } from '../../../../src/protocol/records.ts'
import type { UseChange } from '../../../../src/protocol/bridge/turns.ts'
import type { Run } from '../../../../src/protocol/runs/run.ts'
import type { ChatAbout, ChatAgent, ChatConversation } from './chatAgent.ts'
import type { ChatPart } from './slashCommands.ts'

/** An agent on a server, in the form that a chat needs. Its current state is tracked from its events. */
export class AttachedAgent implements ChatAgent {
  readonly id: string
  readonly remote: RemoteAgent
  readonly #client: Pick<Client, 'may'>
  readonly #seq: number
  /** Number of the agent's policies, if the server reports it. */
  #policies: number | undefined
  readonly #listeners = new Set<(event: AgentEvent) => void>()
  /** Request ids of runs started by this client. */
  readonly #own = new Set<string>()
  /** Steering and follow-up messages from this client that the agent has not taken up yet. If the agent rests, such a message begins a run. */
  readonly #said: { readonly source: UserSource; readonly text: string }[] = []
  /** True from the start of a run to the start of its first turn, unless the run is resumed. */
  #isBeginning = false
  /** Callbacks, by request id, for runs that the server is not yet known to have. */
  readonly #undelivered = new Map<string, () => void>()
  /** Commands that have not been answered. */
  readonly #sent = new Set<Promise<unknown>>()
  #run: { readonly id: string; readonly isOwn: boolean } | undefined
  #isOwnRun = false
  #window: number | undefined
  #live: LiveState = { state: '', pause: null }
  #hasFailed = false
  #failure: string | undefined
  #waiting = nothingAsked
  #appState = noAppState

  private constructor(client: Client, remote: RemoteAgent, snapshot: RemoteSnapshot) {
    this.id = remote.id
    this.remote = remote
    this.#client = client
    this.#seq = snapshot.seq
    this.#take(snapshot)
  }

  /** Finds the agent. Rejects with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`. */
  static async find(client: Client, id: string): Promise<AttachedAgent> {
    const remote = client.agent(id)
    return new AttachedAgent(client, remote, await remote.snapshot())
  }

  get state(): string {
    // So that a message sent right after a prompt joins its run.
    const { state } = this.#live
    return state === 'idle' && this.#undelivered.size > 0 ? 'replying' : state
  }

  get pause(): PauseReason | null {
    return this.#live.pause
  }

  /** Reason why its last run failed, if nothing has begun since. */
  get failure(): string | undefined {
    return this.hasFailed ? this.#failure : undefined
  }

  get hasFailed(): boolean {
    return this.#hasFailed && this.state === 'idle'
  }

  /** Size of the model's context window in tokens, if the server knows it. */
  get window(): number | undefined {
    return this.#window
  }

  /** The agent's state, if the client may see it. */
  get appState(): unknown {
    return this.#appState.known?.value
  }

  /** True if this client started the current run. */
  get isOwnRun(): boolean {
    return this.#isOwnRun
  }

  pending(): readonly ChatPending[] {
    return this.#waiting.pending
  }

  /** Follows the agent's events from the point where it was found. */
  follow(): void {
    this.remote.subscribe((event) => this.#onEvent(event), { fromSeq: this.#seq + 1 })
  }

  /** Refreshes its state, for example after a reconnect. */
  async refresh(): Promise<void> {
    this.#take(await this.remote.snapshot())
  }

  subscribe(listener: (event: AgentEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  prompt(content: Content, options?: SayOptions): Run {
    return this.#asked(this.remote.prompt(content, options))
  }

  resume(): Run {
    return this.#asked(this.remote.resume())
  }

  steer(text: string): Promise<void> {
    this.#said.push({ source: 'steering', text })
    return this.#keep(this.remote.steer(text))
  }

  followUp(text: string): Promise<void> {
    this.#said.push({ source: 'followUp', text })
    return this.#keep(this.remote.followUp(text))
  }

  abort(): Promise<void> {
    return this.#keep(this.remote.abort())
  }

  revert(step: string, options: RevertCommandOptions): Promise<void> {
    return this.#keep(this.remote.revert(step, options))
  }

  prune(options: PruneOptions): Promise<void> {
    return this.#keep(this.remote.prune(options))
  }

  fold(): Promise<void> {
    return this.#keep(this.remote.fold())
  }

  use(use: UseChange | null): Promise<void> {
    return this.#keep(this.remote.use(use))
  }

  brake(policy: string): Promise<void> {
    return this.#keep(this.remote.brake(policy))
  }

  graft(steps: readonly string[]): Promise<void> {
    return this.#keep(this.remote.graft(steps))
  }

  compact(options: CompactOptions): Promise<void> {
    return this.#keep(this.remote.compact(options))
  }

  pin(step: string): Promise<void> {
    return this.#keep(this.remote.pin(step))
  }

  unpin(step: string): Promise<void> {
    return this.#keep(this.remote.unpin(step))
  }

  decide(call: string, decision: Decision, how?: string | DecideOptions): Promise<void> {
    return this.#keep(this.remote.decide(call, decision, how))
  }

  setMode(mode: PermissionMode): Promise<void> {
    return this.#keep(this.remote.setMode(mode))
  }

  /** Returns the facts and log commands that a chat needs. `address`: the server's address, for the command that continues a fork. */
  aboutAt(address: string): ChatAbout {
    return {
      has: (part) => this.#has(part),
      conversation: async () => splitAtHead(await this.remote.conversation('log')),
      spent: async () => {
        const { spent, treeSpent = spent } = await this.remote.snapshot()
        return treeSpent
      },
      fork: async (step) => {
        const { agentId } = await this.remote.fork(step)
        return `continue with: escapement attach ${address} ${agentId}`
      },
    }
  }

  /** True if the server may not have received everything that was sent. */
  get hasUndelivered(): boolean {
    return this.#sent.size > 0
  }

  /** Resolves once the server has received everything that was sent. */
  async delivered(): Promise<void> {
    await Promise.allSettled(this.#sent)
  }

  /** Returns true if a part may be offered. Only the server knows the agent's models and folding, and an older server also its policies. */
  #has(part: ChatPart): boolean {
    if (part === 'sessions') return false
    if (part === 'policies') return this.#client.may('control') && this.#policies !== 0
    return this.#client.may(part === 'models' ? 'use' : part === 'fold' ? 'control' : part)
  }

  #asked(run: Run): Run {
    this.#own.add(run.requestId)
    const known = new Promise<void>((resolve) => this.#undelivered.set(run.requestId, resolve))
    // A refusal appears only in the run's result.
    void run.result.then(() => this.#known(run.requestId))
    void this.#keep(known)
    return run
  }

  #keep<T>(sent: Promise<T>): Promise<T> {
    this.#sent.add(sent)
    const forget = (): void => void this.#sent.delete(sent)
    sent.then(forget, forget)
    return sent
  }

  #take(snapshot: RemoteSnapshot): void {
    const { state, pause, contextTokens } = snapshot
    this.#window = contextTokens?.window ?? this.#window
    this.#policies = snapshot.policies?.length
    this.#appState = toldAppState(this.#appState, snapshot.appState)
    this.#hasFailed = snapshot.last?.stopReason === 'error'
    this.#failure = snapshot.last?.error?.message
    const pending = pendingOf(snapshot)
    this.#waiting = { ...this.#waiting, pending }
    // A message loads an agent that is not running and starts a run, unless calls await a decision.
    this.#live = { pause, state: state !== 'closed' ? state : pending.length > 0 ? 'paused' : 'idle' }
  }

  #onEvent(event: AgentEvent): void {
    this.#learn(event)
    for (const listener of this.#listeners) listener(event)
    if (event.type === 'run.end' && event.agentId === this.id) this.#isOwnRun = false
  }

  /** State events are sent live only, so after a reconnect the state is derived from the log's records. */
  #learn(event: AgentEvent): void {
    this.#waiting = foldPending(this.#waiting, event, { agentId: this.id })
    if (event.agentId !== this.id) return
    this.#live = foldState(this.#live, event)
    this.#appState = foldAppState(this.#appState, event)
    if (event.type === 'queue.changed') this.#known(event.added?.id)
    else if (event.type === 'run.start') {
      this.#known(event.requestId)
      const isResumed = event.resumedFrom !== undefined && event.resumedFrom === this.#run?.id && this.#run.isOwn
      this.#isOwnRun = this.#own.has(event.requestId) || isResumed
      this.#run = { id: event.runId, isOwn: this.#isOwnRun }
      this.#isBeginning = event.cause !== 'resume'
    } else if (event.type === 'message.added') this.#hear(event)
    else if (event.type === 'turn.start') this.#isBeginning = false
    else if (event.type === 'run.end') this.#hasFailed = event.stopReason === 'error'
    if (event.type === 'run.end') this.#failure = event.error?.message
  }

  #hear({ runId, message: { source, content } }: EventOf<'message.added'>): void {
    const at = this.#said.findIndex((said) => said.source === source && said.text === textOf(content))
    if (at === -1) return
    this.#said.splice(at, 1)
    if (!this.#isBeginning) return
    this.#isOwnRun = true
    this.#run = { id: runId, isOwn: true }
  }

  #known(requestId = ''): void {
    this.#undelivered.get(requestId)?.()
    this.#undelivered.delete(requestId)
  }
}

/** Returns the newest reply and its results while some are missing. They follow the trunk, whose head does not include them yet. */
function openStep(nodes: readonly RemoteNode[]): readonly RemoteNode[] {
  const at = nodes.findLastIndex(({ message }) => message.role === 'assistant')
  const results = nodes.slice(at + 1)
  const calls = nodes[at]?.message.content.filter(({ type }) => type === 'toolCall').length ?? 0
  const isOpen = results.length < calls && results.every(({ message }) => message.role === 'toolResult')
  return isOpen ? nodes.slice(at) : []
}

/** Splits all nodes into those on the way from the first to the newest, and the others. */
function splitAtHead({ head, nodes }: RemoteConversation): ChatConversation {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const trunk: RemoteNode[] = []
  // A parent is older than its child, so this ends whatever the server says.
  for (let at = head === null ? undefined : byId.get(head); at !== undefined;) {
    trunk.push(at)
    const parent: RemoteNode | undefined = at.parentId === null ? undefined : byId.get(at.parentId)
    at = parent !== undefined && parent.id < at.id ? parent : undefined
  }
  trunk.reverse()
  trunk.push(...openStep(nodes))
  const kept = new Set(trunk.map(({ id }) => id))
  const abandoned = nodes.filter(({ id }) => !kept.has(id))
  return { trunk: () => trunk, abandoned: () => abandoned }
}
