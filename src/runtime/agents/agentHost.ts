import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { TurnPlace, PartialReply } from '../../actors/agentPorts.ts'
import type { PricedModel } from '../../actors/turn/turnOptions.ts'
import type { AgentContext, AgentMachineEvent } from '../../machines/agentTypes.ts'
import { backgroundCalls } from '../../machines/background.ts'
import { foldContext } from '../../machines/rebuildContext.ts'
import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { Metadata } from '../../protocol/metadata.ts'
import type { LeaseOptions, Store } from '../../protocol/ports/store.ts'
import type { TimerIndex } from '../../protocol/ports/timers.ts'
import type { RecordDraft, LogRecord, RecordOf } from '../../protocol/records.ts'
import { reportEnd } from '../children/reports.ts'
import type { RunDeps } from '../children/runDeps.ts'
import { StallTimer, DueTimer } from '../events/agentTimers.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import { Announcer } from '../events/announcer.ts'
import { Runs } from '../events/runs.ts'
import { Family } from './family.ts'
import type { HostOptions, HostShared, LogOptions } from './hostOptions.ts'
import { isKeepable } from './keptAgent.ts'
import { AgentLog, logAtRest } from './log.ts'
import { Machine, type AgentActor } from './machine.ts'
import { isGoverned } from './permissions.ts'
import { Ports } from './ports.ts'
import { machineInput } from './restoreInput.ts'
import { Unloaded } from './unloaded.ts'
import { View } from './view.ts'
import type { GroupMember } from '../../conversation/brakes/lessons/lessons.ts'

const nobody: readonly never[] = Object.freeze([])
const nothing = { created: undefined, past: nobody, records: nobody, base: undefined } as const

/**
 * An agent of a runtime, loaded or not. `machine` runs its chart, `family` knows its place in the tree, `log` writes its records, `view` is folded
 * from them, `announcer` emits events, and effects reach the outside through `ports`. Log, view and ports are created anew at each load.
 */
export class AgentHost implements TreeAgent {
  readonly agentId: string
  readonly path: readonly string[]
  readonly parent: TreeAgent | undefined
  readonly ownDefinition: AgentDefinition
  readonly shared: HostShared
  /** Store of the agent's log. */
  readonly store: Store
  readonly incognito: true | undefined
  readonly leasing: LeaseOptions | undefined
  readonly metadata: Metadata | undefined
  readonly isUnattended: boolean
  /** The application's actor that is the parent of the agent's actor, until the agent is unloaded. */
  under: HostOptions['under']
  /** Dependencies that the application gives the agent; `undefined` while it gives none. */
  given: RunDeps | undefined
  /** Models that code gave the agent to use, by id. */
  lent: Map<string, PricedModel> | undefined
  readonly machine: Machine
  readonly family: Family
  readonly announcer: Announcer
  readonly runs: Runs
  readonly stallTimer: StallTimer
  readonly dueTimer: DueTimer
  log!: AgentLog
  view!: View
  /** Set while the agent is loaded. */
  ports!: Ports

  constructor(options: HostOptions, shared: HostShared) {
    const { agentId, definition, parent, history } = options
    this.agentId = agentId
    this.ownDefinition = definition
    this.shared = shared
    this.parent = parent
    this.path = parent === undefined ? nobody : [...parent.path, parent.agentId]
    this.given = options.deps
    this.under = options.under
    this.store = options.incognito ?? shared.store
    this.leasing = options.leasing ?? parent?.leasing
    this.incognito = options.incognito === undefined ? undefined : true
    // Whoever holds an incognito agent decides its calls.
    this.isUnattended = options.isUnattended ?? (this.incognito === true && parent?.incognito === undefined)
    const { metadata } = history?.created ?? options
    this.machine = new Machine(this)
    this.family = new Family(this, shared.childHosts)
    this.announcer = new Announcer(this, parent?.announcer, shared)
    this.runs = new Runs(this)
    this.stallTimer = new StallTimer(this)
    this.dueTimer = new DueTimer(this)
    const view = new View(this, history ?? nothing)
    // The secrets of its sources are known by now.
    this.metadata = shared.sources.redactor?.value(metadata) ?? metadata
    this.load(options, view)
  }

  /** Creates the parts that the agent has while it is loaded. */
  load(options: LogOptions, view = new View(this, options.history ?? nothing)): void {
    const { agentId, path, ownDefinition, deps, metadata, announcer, store } = this
    const { history = nothing, lease } = options
    const { created, past, records, base } = history
    const log = new AgentLog(this, lease, view.conversation.lastSeq)
    this.view = view
    this.log = log
    this.ports = new Ports(this, history)
    const { conversation, definition, handoffs, requests } = view
    const callbackFailed = (what: string, thrown: unknown): void => announcer.callbackFailed(what, thrown)
    const agent = {
      agentId,
      path,
      ownDefinition,
      deps,
      metadata,
      conversation,
      definition,
      handoffs,
      isGoverned: isGoverned(this),
      callbackFailed,
    }
    const context = base?.context ?? foldContext(records, past)
    this.ports.cleanUp(backgroundCalls(context.context))
    this.machine.input = machineInput(
      { ...agent, frame: requests.frame, asking: requests },
      { ...options, history, folded: context.context },
    )
    if (store.checkpoints === undefined || !isKeepable(ownDefinition)) return
    const { seq: at = 0, bytes = 0, shared } = base ?? {}
    const from = { context, created, at, bytes, shared, last: records.at(-1) }
    log.keepCheckpoints({ agentId, store, machine: this.machine, view, log }, from)
  }

  /** Keeps a model that `agent.use` names by its id. */
  lend(model: PricedModel): void {
    this.lent ??= new Map()
    this.lent.set(model.model.id, model)
  }

  /** Index of wake-up times in the agent's store. Set only for a stored root, with which its sub-agents are woken. */
  get timers(): TimerIndex | undefined {
    return this.parent === undefined && this.incognito === undefined ? this.store.timers : undefined
  }

  /** True if runs may begin without dependencies of their own. */
  get isEquipped(): boolean {
    return this.view.definition.deps === null || this.given?.own !== undefined
  }

  warn(message: string): void {
    this.shared.sources.warn(`agent "${this.agentId}": ${message}`)
  }

  /** Dependencies of the current run. */
  get deps(): unknown {
    return this.given?.current
  }

  /** Starts a root agent, with the commands waiting for it. The agent must already be registered by id. */
  start(commands: readonly AgentMachineEvent[] = nobody): void {
    this.machine.start(commands, () => this.wake())
  }

  /** Starts the waiting work of a restored agent. */
  wake(): void {
    const { restored } = this.machine.input
    if (restored === undefined) return
    this.machine.tell({ type: 'wake', staysPaused: restored.staysPaused === true })
    this.ports.ownState?.migrate()
    if (restored.context.reporters?.length) this.family.children.detached.collect()
  }

  /** Notes the actor that runs the agent. */
  attach(actor: AgentActor): void {
    this.machine.attach(actor)
  }

  attached(): void {
    const { missing } = this.view.requests
    if (this.log.repairedBytes > 0) this.announcer.notices.logRepaired(this.log.repairedBytes)
    if (missing !== undefined) this.announcer.notices.modelMissing(missing)
  }

  /** Handles the machine's `record` command, once per step: folds, stores and announces the records. Idempotent by `seq`. */
  record(drafts: readonly RecordDraft[]): void {
    const { view } = this
    const { lastSeq } = view
    const news = drafts[0]!.seq > lastSeq ? drafts : drafts.filter(({ seq }) => seq > lastSeq)
    if (news.length === 0) return
    this.ports.answered(news)
    this.machine.isStepping = true
    this.ports.ownState?.complete(news)
    const records = this.log.sealed(news)
    let taken = records
    try {
      view.take(records)
    } catch (thrown) {
      taken = records.filter(({ seq }) => seq <= view.lastSeq)
      throw thrown
    } finally {
      view.requests.apply(taken)
      this.log.write(taken)
      tellRecords(this, taken)
    }
  }

  report(): void {
    if (this.machine.input.parent?.reports !== undefined) reportEnd(this, this.shared.childHosts)
  }

  stepped(context: AgentContext): void {
    this.family.changed()
    this.announcer.flush()
    this.family.known?.detached.look()
    this.shared.unloader?.look(this)
    this.log.lookAtCheckpoint()
    this.dueTimer.stepped(context)
  }

  moved({ runId, turnIndex }: TurnPlace, state: string, previous: string): void {
    this.announcer.emit({ type: 'state.changed', runId, turnIndex, state, previous })
  }

  crashed(thrown: unknown): ErrorInfo {
    this.announcer.flush()
    this.announcer.fail(thrown)
    return this.announcer.clean(toErrorInfo(thrown, 'INTERNAL'))
  }

  ended(crash: ErrorInfo | null): void {
    if (this.machine.unloaded === undefined) this.dueTimer.end()
    this.announcer.ended()
    this.runs.endAll(crash)
    this.family.known?.leftAll()
  }

  /** Ends the agent here because another writer has the log, where the agent continues. */
  lost(why: ErrorInfo): void {
    this.shared.childHosts.lost(this, why)
  }

  /** True if the agent is in memory, rather than only in its log. */
  get isLoaded(): boolean {
    return this.machine.unloaded === undefined
  }

  /** Runs `work` once the agent is loaded, at once if it is. Rejects if its log cannot be opened or read. */
  async loaded<T>(work: (agent: this) => Promise<T>): Promise<T> {
    if (!this.isLoaded) await this.machine.unloaded!.load()
    return work(this)
  }

  /** Unloads the agent after everything is written. Any further command loads it again. `release`: releases its log. */
  unload(release: () => Promise<void>): void {
    const unloaded = new Unloaded(this)
    this.machine.unload(unloaded)
    // A run that sleeps goes on, with those who wait for it.
    if (!this.machine.isAsleep) this.ended(null)
    this.family.forget()
    this.under = undefined
    const rest = new View(this, this.view)
    unloaded.releasing(release())
    this.log = logAtRest
    this.view = rest
    this.ports = undefined!
    this.dueTimer.forget()
    this.family.changed()
  }

  reload(begin: () => void): Promise<void> {
    return this.shared.reload(this.agentId, begin)
  }

  /** Ends the runs that wait for the agent, because it could not be loaded. */
  notLoaded(thrown: unknown): void {
    const isClosing = thrown instanceof RuntimeError && thrown.code === 'RUNTIME_CLOSED'
    this.runs.endAll(isClosing ? null : toErrorInfo(thrown, 'STORE_OPEN_FAILED'))
    if (!isClosing) this.announcer.fail(thrown)
  }

  /** Waits for the log and releases it to the next writer. */
  release(): Promise<void> {
    this.view.sourced?.leave()
    const { log } = this
    const left = this.isLoaded ? this.shared.resources.leave(this.agentId) : undefined
    return Promise.all([left, this.dueTimer.settled()]).then(() => log.release())
  }
}

/** Receivers of an agent's records. */
interface Told {
  readonly stallTimer: StallTimer
  readonly announcer: Announcer
  readonly runs: Runs
  /** Dependencies of the agent's runs. */
  readonly given: { note(record: LogRecord): void } | undefined
  readonly ports: { readonly group: GroupMember | undefined; partial: PartialReply | null }
  /** Reports the end of the run to the caller that waits for it. */
  report(): void
  readonly family: { readonly known: { left(childId: string): void; placeFreed(): void } | undefined }
}

const learn = ({ ports }: Told, record: LogRecord): void => ports.group?.note(record)

const forgetPart = ({ ports }: Told): void => {
  ports.partial = null
}

const listeners: { readonly [T in LogRecord['type']]?: (host: Told, record: RecordOf<T>) => void } = {
  'run.end'(host, record) {
    host.given?.note(record)
    host.runs.end(record)
    host.report()
  },
  'reply.end': forgetPart,
  'reply.reset': forgetPart,
  'tool.start': learn,
  'tool.end'(host, record) {
    learn(host, record)
    host.family.known?.placeFreed()
  },
  'revert.applied': learn,
  'queue.changed'({ runs }, { why, removed }) {
    if (why === 'dropped') runs.dropAll(removed)
  },
  'child.ended': ({ family }, { childId }) => family.known?.left(childId),
}

/** Announces the records of one step, each first to observers and then to the listeners for its type. */
export function tellRecords(host: Told, records: readonly LogRecord[]): void {
  host.stallTimer.reset()
  for (const record of records) {
    // Who observes its first record may ask for the run.
    if (record.type === 'run.start') {
      host.given?.note(record)
      host.runs.begin(record)
    }
    host.announcer.record(record)
    ;(listeners[record.type] as ((host: Told, record: LogRecord) => void) | undefined)?.(host, record)
  }
}
