import { isLikelyBug } from '../../protocol/callbackBugs.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { Gate } from '../../actors/models/openStream.ts'
import { standInGate } from '../../actors/models/standInGate.ts'
import { isIgnored } from '../../actors/calls/lessonTools.ts'
import type { AgentPorts, IncognitoResult, LiveBody, PartialReply, TurnPlace } from '../../actors/agentPorts.ts'
import type { AssembledRequest } from '../../conversation/request/assembleRequest.ts'
import type { Conversation } from '../../conversation/tree/conversation.ts'
import { GroupMember } from '../../conversation/brakes/lessons/lessons.ts'
import type { SharedLessons } from '../../conversation/brakes/lessons/sharedLessons.ts'
import { keepNodes } from './keepNodes.ts'
import { handedTo } from '../../actors/define/handoffs.ts'
import { rebuildConversation } from '../../conversation/tree/rebuildConversation.ts'
import type { AgentInput } from '../../machines/agentTypes.ts'
import { foldContext } from '../../machines/rebuildContext.ts'
import { runIdOf } from '../../machines/draft.ts'
import { addSpent } from '../../machines/spending.ts'
import { toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { GrowingReply } from '../../protocol/events.ts'
import type { Answer } from '../../protocol/questions.ts'
import type { Metadata } from '../../protocol/metadata.ts'
import type { RecordDraft, Spent } from '../../protocol/records.ts'
import type { LeaseOptions, Store } from '../../protocol/ports/store.ts'
import type { TracedEffect } from '../../protocol/ports/tracer.ts'
import { Announcer } from '../events/announcer.ts'
import { reportEnd } from '../children/reports.ts'
import { runIncognito } from '../children/runIncognito.ts'
import { Answers } from './answers.ts'
import type { AgentBody, LoadedAgent } from './agentBody.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import { heldGate, ModelWaits } from './modelWaits.ts'
import { TurnRequests } from './turnRequests.ts'
import { RequestCaptures } from './requestCaptures.ts'
import { hostedTools, type HostedTools } from './hostedTools.ts'
import { HostFolds } from './hostFolds.ts'
import { Notices } from '../events/notices.ts'
import { machineInput } from './restoreInput.ts'
import type { HostOptions, HostShared } from './hostOptions.ts'
import { Runs } from '../events/runs.ts'
import { snapshotsOf } from './snapshotsOf.ts'
import { countedBy } from './keptAgent.ts'
import type { KeptHost } from './checkpointKeeper.ts'
import { LoggedHost } from './loggedHost.ts'
import { tellListeners, type Told } from './recordListeners.ts'
import { StallTimer } from '../children/stallTimer.ts'
import type { RunDeps } from '../children/runDeps.ts'

const nobody: readonly never[] = Object.freeze([])
const nothing = { created: undefined, past: nobody, records: nobody, base: undefined } as const

/** Everything about an agent that is not in its chart: conversation, log, listeners, runs. Its effects reach the world through it. */
export class AgentHost extends LoggedHost implements AgentPorts, AgentBody, LoadedAgent, Told {
  readonly agentId: string
  readonly path: readonly string[]
  readonly ownDefinition: AgentDefinition
  readonly #folds: HostFolds
  readonly sourced: HostedTools | undefined
  readonly lookAtSources: AgentPorts['lookAtSources']
  readonly conversation: Conversation
  readonly parent: TreeAgent | undefined
  /** The machine's input. */
  readonly input: AgentInput
  /** Store of its log. */
  readonly store: Store
  readonly incognito: true | undefined
  readonly leasing: LeaseOptions | undefined
  readonly metadata: Metadata | undefined
  readonly isUnattended: boolean
  readonly under: HostOptions['under']
  readonly announcer: Announcer
  readonly runs = new Runs(this)
  readonly asking: TurnRequests
  readonly stallTimer = new StallTimer(this)
  partial: PartialReply | null = null
  #answers: Answers | undefined
  /** Set once it has called a model, with limits. */
  #waits: ModelWaits | undefined
  group: GroupMember | undefined
  given: RunDeps | undefined
  announced = ''
  protected readonly shared: HostShared
  readonly notices = new Notices(this)
  /** Set with `captureTurnRequests`. */
  readonly #captures: RequestCaptures | undefined

  constructor(options: HostOptions, shared: HostShared) {
    super()
    const { agentId, definition, parent } = options
    this.agentId = agentId
    this.ownDefinition = definition
    this.given = options.deps
    this.parent = parent
    this.under = options.under
    this.shared = shared
    this.path = parent === undefined ? nobody : [...parent.path, parent.agentId]
    const history = options.history ?? nothing
    const { created, past, records, base } = history
    this.conversation = base?.conversation ?? rebuildConversation(records, { counter: definition.counter, past })
    this.#folds = base?.folds ?? new HostFolds()
    if (base === undefined) for (const part of [past, records]) for (const record of part) this.#folds.apply(record)
    // A log that names one which the definition does not lead to is refused before anything is opened.
    handedTo(definition, this.active)
    this.sourced = hostedTools(definition, shared.sources, () => this.#base, this.#folds.taken)
    this.lookAtSources = this.sourced?.look
    const { metadata } = created ?? options
    this.metadata = this.redactor?.value(metadata) ?? metadata
    this.store = options.incognito ?? shared.store
    this.leasing = options.leasing ?? parent?.leasing
    this.incognito = options.incognito === undefined ? undefined : true
    // Whoever holds an incognito agent decides its calls.
    this.isUnattended = options.isUnattended ?? (this.incognito === true && parent?.incognito === undefined)
    this.openLog(options.lease, this.conversation.lastSeq)
    this.announcer = new Announcer(this, parent?.announcer, shared)
    this.asking = new TurnRequests(this, history, { lent: options.lent, kept: base?.kept.asking })
    if (definition.captureTurnRequests) this.#captures = new RequestCaptures([...past, ...records])
    const context = base?.context ?? foldContext(records, past)
    this.input = machineInput(this, { ...options, history, folded: context.context })
    this.keepCheckpoints({ context, created, at: base?.seq ?? 0, bytes: base?.bytes ?? 0, last: records.at(-1) })
  }

  keep(): ReturnType<KeptHost['keep']> {
    const { conversation, ownDefinition, asking } = this
    const kept = {
      counted: countedBy(ownDefinition.counter),
      conversation: conversation.keep(),
      asking: asking.keep(),
      folds: this.#folds.keep(),
    }
    return { kept, nodes: keepNodes(conversation) }
  }

  protected get self(): TreeAgent {
    return this
  }

  get deps(): unknown {
    return this.given?.current
  }

  get definition(): AgentDefinition {
    return this.sourced?.definition ?? this.#base
  }

  get #base(): AgentDefinition {
    return handedTo(this.ownDefinition, this.active)
  }

  get active(): string {
    return this.handoffs.name ?? this.ownDefinition.name
  }

  get handoffs(): HostFolds['handoffs']['state'] {
    return this.#folds.handoffs.state
  }

  get outline(): AgentBody['outline'] {
    return this.#folds.outline.state
  }

  /** A fork has others once its own log begins: not to be held. */
  get requests(): LoadedAgent['requests'] {
    return this.#folds.requests.state.ids
  }

  get isLoaded(): true {
    return true
  }

  loaded<T>(work: (agent: LoadedAgent) => Promise<T>): Promise<T> {
    return work(this)
  }

  override attach(...[actor]: Parameters<LoggedHost['attach']>): void {
    super.attach(actor)
    if (this.repairedBytes > 0) this.notices.logRepaired(this.repairedBytes)
    if (this.asking.missing !== undefined) this.notices.modelMissing(this.asking.missing)
  }

  override get isAttended(): boolean {
    return this.announcer.isAttended || super.isAttended
  }

  warn(at: TurnPlace, message: string): void {
    this.notices.warn(at, message)
  }

  get snapshots(): AgentPorts['snapshots'] {
    return snapshotsOf(this.agentId, this.store.snapshots ?? this.shared.snapshots)
  }

  /** `seq` of the last record. */
  get lastSeq(): number {
    return this.conversation.lastSeq
  }

  /** Usage of the agent in its lifetime, including its sub-agents. */
  get spent(): Spent {
    const run = this.knownContext?.run
    // Turns of sub-agents are counted as their calls end.
    const { spent } = this.#folds.spent.state
    return run == null ? spent : addSpent(spent, run)
  }

  get isObserved(): boolean {
    return this.announcer.isObserved
  }

  get frame(): AgentPorts['frame'] {
    return this.asking.frame
  }

  get leftBehind(): AgentPorts['leftBehind'] {
    return this.asking.leftBehind
  }

  decided(...[live]: Parameters<AgentPorts['decided']>): void {
    this.asking.decided(live)
  }

  get sources(): AgentBody['sources'] {
    return this.sourced?.sources ?? nobody
  }

  get lent(): AgentBody['lent'] {
    return this.asking.lent
  }

  lend(...[model]: Parameters<AgentBody['lend']>): void {
    this.asking.lend(model)
  }

  assemble(turnIndex: number): AssembledRequest {
    return this.asking.assemble(turnIndex)
  }

  get waitsFor(): string | null {
    return this.#waits?.model ?? null
  }

  gate(tokens?: number): Gate | undefined {
    const { models, instead } = this.shared
    const gate = models === undefined ? undefined : (this.#waits ??= new ModelWaits(this, models)).gate(tokens)
    const held = this.store.holds === undefined ? gate : heldGate(gate, () => this.checkHeld())
    if (instead === undefined) return held
    const root = this.path[0] ?? this.agentId
    return standInGate(held, (model) => instead(model, root))
  }

  /** The part of the current reply that has arrived; with a redactor, the part that was announced. */
  get growingReply(): GrowingReply | undefined {
    const { partial } = this
    if (partial === null) return undefined
    const { text, thinking } = this.redactor === undefined ? partial : this.announcer.announced
    return { ...this.at, text, thinking }
  }

  capture(...[key, attempt, request, provenance]: Parameters<AgentPorts['capture']>): void {
    try {
      const capture = { attempt, ...this.#captures!.next(this.frame.model.id, request, provenance) }
      this.tell({ type: 'request.captured', key, capture })
    } catch (thrown) {
      this.fail(thrown)
    }
  }

  runIncognito(...[definition, prompt, options]: Parameters<AgentPorts['runIncognito']>): Promise<IncognitoResult> {
    return runIncognito({ parent: this, at: this.at, hosts: this.shared.childHosts }, definition, prompt, options)
  }

  within<T>(effect: TracedEffect, run: () => T): T {
    this.checkHeld()
    return this.announcer.within(effect, run)
  }

  /** Answers of people to the agent's calls. */
  get answers(): Answers {
    return (this.#answers ??= new Answers(this))
  }

  ask(...[key, question, wrongIn, signal]: Parameters<AgentPorts['ask']>): Promise<Answer> {
    const answer = this.answers.wait(question, wrongIn, signal)
    this.tell({ type: 'ask', key, question, at: this.clock.now() })
    return answer
  }

  replyStarted(key: string): void {
    this.tell({ type: 'reply.started', key })
  }

  replyReplaced(...[key, failure, next]: Parameters<AgentPorts['replyReplaced']>): void {
    this.tell({ type: 'reply.replaced', key, failure, next })
  }

  policyFired(...[key, start]: Parameters<AgentPorts['policyFired']>): void {
    this.tell({ type: 'policy.fired', key, start, at: this.clock.now() })
  }

  /** The machine's `record` command: folds the record in, queues it for the store, notifies observers. Idempotent by `seq`. */
  record(draft: RecordDraft): void {
    if (draft.seq <= this.conversation.lastSeq) return
    // A tool has its answer as it was given.
    this.#answers?.record(draft)
    const record = this.sealed(draft)
    // A record that does not follow changes nothing.
    this.conversation.apply(record)
    this.#folds.apply(record)
    this.asking.apply(record)
    this.write(record)
    this.heard()
    // Who observes its first record may ask for the run.
    if (record.type === 'run.start') this.runs.begin(record)
    this.announcer.record(record)
    tellListeners(this, record)
  }

  /** Called when its run has ended: reports to the caller that waits for it. */
  report(): void {
    if (this.input.parent?.reports !== undefined) reportEnd(this, this.shared.childHosts)
  }

  /** Joins a group: the failures of one agent are told to the others, where `braking.lessons` is on. */
  joinGroup(group: SharedLessons): void {
    if (this.definition.braking?.lessons == null) return
    const { name } = this.definition
    const ignores = (tool: string): boolean => isIgnored(this.definition, tool)
    this.group = new GroupMember(group, { name, source: this.conversation, ignores })
  }

  get lessonOfOthers(): AgentPorts['lessonOfOthers'] {
    const { group } = this
    return group === undefined ? undefined : (call) => group.find(call)
  }

  /** Notes a sign of life: the agent is not stalled. */
  heard(): void {
    this.stallTimer.reset()
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

  /** Reports an error that does not end the run. */
  fail(thrown: unknown): void {
    if (thrown instanceof Error && isLikelyBug(thrown)) this.callbackFailed('Code', thrown)
    this.emit({ type: 'error', ...this.at, error: toErrorInfo(thrown, 'INTERNAL') })
  }

  protected override stepped(): void {
    this.announcer.flush()
    this.knownFamily?.detached.look()
    this.shared.unloader?.look(this)
    this.lookAtCheckpoint()
  }

  protected override stateChanged(state: string, previous: string): void {
    this.emit({ ...this.at, type: 'state.changed', state, previous })
  }

  protected override failed(thrown: unknown): ErrorInfo {
    this.announcer.flush()
    this.fail(thrown)
    return this.announcer.clean(toErrorInfo(thrown, 'INTERNAL'))
  }

  protected override hasEnded(crash: ErrorInfo | null): void {
    this.announcer.ended()
    this.runs.endAll(crash)
    this.knownFamily?.leftAll()
  }

  /** The run and turn that a live event belongs to. */
  get at(): { runId: string; turnIndex: number } {
    const { run, runs, pausedRun, turns } = this.context
    return { runId: run?.runId ?? pausedRun ?? runIdOf(this.agentId, runs), turnIndex: Math.max(0, turns - 1) }
  }
}
