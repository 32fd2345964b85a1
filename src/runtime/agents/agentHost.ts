import type { ActorRefFrom, SnapshotFrom } from 'xstate'
import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { AgentPorts, LiveBody, PartialReply, TurnPlace } from '../../actors/agentPorts.ts'
import { RequestAssembler, type AssembledRequest } from '../../conversation/assembleRequest.ts'
import type { Conversation } from '../../conversation/conversation.ts'
import { rebuildConversation } from '../../conversation/rebuildConversation.ts'
import type { agentMachine } from '../../machines/agentMachine.ts'
import type { AgentContext, AgentInput, AgentMachineEvent } from '../../machines/agentTypes.ts'
import { runIdOf } from '../../machines/draft.ts'
import { addSpent } from '../../machines/spending.ts'
import type { Clock } from '../../protocol/clock.ts'
import { toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { LogRecord, RecordDraft, Spent } from '../../protocol/records.ts'
import type { Store, StoreLease } from '../../protocol/store.ts'
import type { TracedEffect } from '../../protocol/tracer.ts'
import type { GrowingReply } from './agent.ts'
import { Announcer } from '../events/announcer.ts'
import { Children } from '../children/children.ts'
import { freezeInside } from './freezeInside.ts'
import { LogWriter } from './logWriter.ts'
import { RequestCaptures } from './requestCaptures.ts'
import { RequestIndex } from './requestIndex.ts'
import { Notices } from '../events/notices.ts'
import { requestFrame } from './requestFrame.ts'
import { restoreInput } from './restoreInput.ts'
import type { HostOptions, HostShared } from './hostOptions.ts'
import { RunBook } from '../events/runBook.ts'
import { stateName } from './stateName.ts'
import { Inspections, type InspectionListener } from './inspections.ts'
import { noneSpent, spentAfter } from '../../sessions/spent.ts'
import { VitalSigns } from '../children/vitalSigns.ts'

const nobody: readonly never[] = Object.freeze([])
const nothing = { past: nobody, records: nobody } as const

/** Everything of one agent that is not in its chart: conversation, log, listeners, runs. The effects reach the world through it. */
export class AgentHost implements AgentPorts {
  readonly agentId: string
  readonly path: readonly string[]
  readonly definition: AgentDefinition
  readonly conversation: Conversation
  readonly parent: AgentHost | undefined
  /** What the machine begins with. */
  readonly input: AgentInput
  readonly announcer: Announcer
  readonly runs = new RunBook(this)
  readonly requests = new RequestIndex()
  readonly signs = new VitalSigns(this)
  partial: PartialReply | null = null
  announced = ''
  readonly redactor: AgentPorts['redactor']
  readonly #shared: HostShared
  readonly #log: LogWriter
  readonly #lease: StoreLease
  #actor: ActorRefFrom<typeof agentMachine> | undefined
  #children: Children | undefined
  #assembler: RequestAssembler | undefined
  #state = 'idle'
  readonly #notices = new Notices(this)
  #unseen = 0
  /** Why its machine failed. */
  #crash: ErrorInfo | null = null
  /** Set with `captureTurnRequests`. */
  readonly #captures: RequestCaptures | undefined
  #inspections: Inspections | undefined
  /** Told when no more events can come. */
  #onEnd: readonly ((crash: ErrorInfo | null) => void)[] = nobody
  #stopping: Promise<void> | undefined
  #spent: Spent

  constructor(options: HostOptions, shared: HostShared) {
    const { agentId, definition, parent, link, task, staysPaused } = options
    this.agentId = agentId
    this.definition = definition
    this.parent = parent
    this.path = parent === undefined ? nobody : [...parent.path, parent.agentId]
    const history = options.history ?? nothing
    const { past, records } = history
    this.conversation = rebuildConversation(records, { counter: definition.counter, past })
    this.#shared = shared
    this.redactor = shared.redactor
    this.#lease = options.lease
    this.#log = new LogWriter(shared.store, this, this.conversation.lastSeq)
    this.announcer = new Announcer(this, shared)
    this.#spent = records.reduce(spentAfter, noneSpent)
    for (const record of records) this.requests.apply(record)
    const { name, snapshot: model, policy, captureTurnRequests } = definition
    if (captureTurnRequests) this.#captures = new RequestCaptures([...past, ...records])
    this.input = {
      agentId,
      path: this.path,
      definition: name,
      model,
      policy,
      ...(link === undefined ? {} : { parent: link }),
      ...(task === undefined ? {} : { task }),
      ...(records.length === 0 ? {} : { restored: restoreInput(history, this.conversation, definition, staysPaused) }),
    }
  }

  /** Begins the life of a root agent, with commands that wait for it; the host must be findable by id before. */
  start(commands: readonly AgentMachineEvent[] = nobody): void {
    const { agentId, input } = this
    const { createActor, machine } = this.#shared
    const actor = createActor(machine, { id: agentId, systemId: agentId, input })
    this.attach(actor as ActorRefFrom<typeof agentMachine>)
    // They lie in its mailbox before it starts: what listeners ask for meanwhile comes after them.
    this.wake()
    for (const command of commands) this.send(command)
    actor.start()
  }

  /** Ends the actor without a word in the log, so that the agent can go on from there. Only for a quiet agent. */
  unload(): void {
    this.#actor!.stop()
  }

  /** Somebody listens, or waits for the end. */
  get isAttended(): boolean {
    return this.announcer.isAttended || this.#onEnd.length > 0 || this.#inspections?.isEmpty === false
  }

  inspect(listener: InspectionListener): () => void {
    if (this.#inspections === undefined) {
      this.#inspections = new Inspections()
      if (this.#actor !== undefined) this.#inspections.begin(this.#actor)
    }
    return this.#inspections.add(listener)
  }

  /** Begins what waits in a restored agent. */
  wake(): void {
    if (this.input.restored !== undefined) this.#actor!.send({ type: 'wake' })
  }

  /** The machine's `attach`: the actor that runs the chart, a sub-agent's made by its supervisor. Idempotent. */
  attach(actor: ActorRefFrom<typeof agentMachine>): void {
    if (this.#actor === actor) return
    this.#actor = actor
    // The host itself is the observer: closures for ten thousand agents add up.
    actor.subscribe(this)
    this.#inspections?.begin(actor)
    if (this.repairedBytes > 0) this.#notices.logRepaired(this.repairedBytes)
  }

  /** Bytes of a torn last line that opening the log cut off. */
  get repairedBytes(): number {
    return this.#lease.repairedBytes
  }

  warn(at: TurnPlace, message: string): void {
    this.#notices.warn(at, message)
  }

  get clock(): Clock {
    return this.#shared.clock
  }

  get random(): () => number {
    return this.#shared.random
  }

  get store(): Store {
    return this.#shared.store
  }

  /** Missing while it has none and its model cannot call any. */
  get children(): Children | undefined {
    return this.#children ?? (this.definition.agents.size === 0 ? undefined : this.family)
  }

  /** Its sub-agents, alive or to be. */
  get family(): Children {
    return (this.#children ??= new Children(this, this.#shared.nursery))
  }

  /** Sub-agents that are alive, oldest first. */
  get liveChildren(): readonly AgentHost[] {
    return this.#children?.hosts ?? nobody
  }

  /** How deep the tree may grow: its root says. */
  get maxDepth(): number {
    return this.parent?.maxDepth ?? this.definition.maxDepth
  }

  get #snapshot(): SnapshotFrom<typeof agentMachine> {
    return this.#actor!.getSnapshot()
  }

  /** `seq` of the last record. */
  get lastSeq(): number {
    return this.conversation.lastSeq
  }

  get state(): string {
    return stateName(this.#snapshot.value)
  }

  get context(): AgentContext {
    return this.#snapshot.context
  }

  /** What it used over its life, its sub-agents included. */
  get spent(): Spent {
    const run = this.#actor?.getSnapshot().context?.run
    // Turns of sub-agents are counted as their calls end.
    return run == null ? this.#spent : addSpent(this.#spent, run)
  }

  /** Stopped, or asked to. */
  get isStopped(): boolean {
    return this.#stopping !== undefined || this.#snapshot.status !== 'active'
  }

  get isEndedOnPurpose(): boolean {
    return this.#stopping !== undefined
  }

  /** Resolves when no more comes of it; with the reason when its machine failed. */
  get ended(): Promise<ErrorInfo | null> {
    return new Promise((resolve) => {
      if (this.#actor !== undefined && this.#snapshot.status !== 'active') resolve(this.#crash)
      else this.onEnd(resolve)
    })
  }

  /** Settles what runs and ends the machine, for good or to be resumed from the log. Idempotent; the first call decides. */
  end(how: 'stop' | 'close'): Promise<void> {
    this.#stopping ??= this.#end(how)
    return this.#stopping
  }

  async #end(how: 'stop' | 'close'): Promise<void> {
    if (this.#snapshot.status !== 'active') return
    const { ended } = this
    this.#actor!.send({ type: how })
    await ended
  }

  /** Commands sent that the context does not show yet: from inside a listener the machine is in the middle of a step. */
  get unseen(): number {
    return this.#unseen
  }

  send(event: AgentMachineEvent): void {
    this.#unseen += 1
    this.#actor!.send(event)
  }

  /** Calls `close` when no more events can come; returns a function that forgets it. */
  onEnd(close: (crash: ErrorInfo | null) => void): () => void {
    this.#onEnd = [...this.#onEnd, close]
    return () => {
      this.#onEnd = this.#onEnd.filter((other) => other !== close)
    }
  }

  get isObserved(): boolean {
    return this.announcer.isObserved
  }

  assemble(turnIndex: number): AssembledRequest {
    this.#assembler ??= new RequestAssembler(this.conversation, requestFrame(this.definition, this.redactor))
    return this.#assembler.assemble(turnIndex)
  }

  durable(): Promise<void> | undefined {
    return this.#log.durable()
  }

  /** What has arrived of the reply under way. What a redactor would change is not shown. */
  get growingReply(): GrowingReply | undefined {
    const { partial } = this
    if (partial === null || this.redactor !== undefined) return undefined
    return { ...this.at, text: partial.text, thinking: partial.thinking }
  }

  /** Its log can never be written on as it is: it can only be ended. */
  get isStuck(): boolean {
    return this.#log.isStuck
  }

  /** Waits for the log, and first writes again what a failure left over. Rejects when it fails again. */
  written(): Promise<void> {
    return this.#log.written()
  }

  capture(...[key, attempt, request, provenance]: Parameters<AgentPorts['capture']>): void {
    try {
      const capture = { attempt, ...this.#captures!.next(this.definition.model.id, request, provenance) }
      this.#actor!.send({ type: 'request.captured', key, capture })
    } catch (thrown) {
      this.fail(thrown)
    }
  }

  within<T>(effect: TracedEffect, run: () => T): T {
    return this.announcer.within(effect, run)
  }

  replyStarted(key: string): void {
    this.#actor!.send({ type: 'reply.started', key })
  }

  /** The machine's `record` command: folds the record in, queues it for the store, tells observers. Idempotent by `seq`. */
  record(draft: RecordDraft): void {
    if (draft.seq <= this.conversation.lastSeq) return
    const clean = (this.redactor?.value(draft) ?? draft) as { -readonly [K in keyof LogRecord]: LogRecord[K] }
    clean.time = this.clock.now()
    // Observers and models share these objects with the log.
    const record = freezeInside(clean) as LogRecord
    this.conversation.apply(record)
    this.requests.apply(record)
    this.#log.append(record)
    this.signs.beat()
    if (record.type === 'run.start') this.runs.begin(record)
    else if (record.type === 'reply.end' || record.type === 'reply.reset') this.partial = null
    this.announcer.record(record)
    this.#notices.record(record)
    this.#spent = spentAfter(this.#spent, record)
    if (record.type === 'run.end') this.runs.end(record)
    else if (record.type === 'child.ended') this.#children?.left(record.childId)
  }

  emit(body: LiveBody): void {
    this.announcer.emit(body)
  }

  requested(...request: Parameters<AgentPorts['requested']>): void {
    this.announcer.request(...request)
  }

  delta(...piece: Parameters<AgentPorts['delta']>): void {
    this.announcer.delta(...piece)
  }

  /** Reports something that went wrong beside the run. */
  fail(thrown: unknown): void {
    this.emit({ type: 'error', ...this.at, error: toErrorInfo(thrown, 'INTERNAL') })
  }

  /** Waits for the log and lets the next writer in. */
  async release(): Promise<void> {
    try {
      await this.#log.finish()
    } finally {
      await this.#lease.release()
    }
  }

  /** Observes the machine: it has stopped. */
  complete(): void {
    this.next()
    this.#endAll(null)
  }

  /** Observes the machine: a transition threw. It is dead, and its children, which it left running, are stopped here. */
  error(thrown: unknown): void {
    const { children } = this.#snapshot
    for (const child of Object.values(children)) child?.send({ type: 'xstate.stop' })
    this.announcer.flush()
    this.fail(thrown)
    this.#endAll(this.announcer.clean(toErrorInfo(thrown, 'INTERNAL')))
  }

  #endAll(crash: ErrorInfo | null): void {
    this.#crash = crash
    this.announcer.ended()
    this.runs.endAll(crash)
    this.#children?.leftAll()
    for (const close of this.#onEnd) close(crash)
    this.#onEnd = nobody
  }

  /** The run and turn that something beside the log belongs to. */
  get at(): { runId: string; turnIndex: number } {
    const { run, runs, pausedRun, turns } = this.context
    return { runId: run?.runId ?? pausedRun ?? runIdOf(this.agentId, runs), turnIndex: Math.max(0, turns - 1) }
  }

  /** The log could not be written. */
  storeFailed(error: ErrorInfo): void {
    this.emit({ type: 'error', ...this.at, error })
    this.#actor!.send({ type: 'store.failed', error })
  }

  /** Observes the machine: it has taken a step. */
  next(): void {
    // Each event that is taken comes by here once; others may still lie in the mailbox.
    this.#unseen = Math.max(0, this.#unseen - 1)
    this.announcer.flush()
    this.#shared.unloading?.look(this)
    const previous = this.#state
    const state = this.state
    if (state === previous) return
    this.#state = state
    this.emit({ ...this.at, type: 'state.changed', state, previous })
  }
}
