import { createActor, type Actor } from 'xstate'
import type { AgentDefinition } from '../actors/agentDefinition.ts'
import type { AgentPorts, LiveBody, PartialReply } from '../actors/agentPorts.ts'
import { RequestAssembler, type AssembledRequest, type RequestFrame } from '../conversation/assembleRequest.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { rebuildConversation } from '../conversation/rebuildConversation.ts'
import { loopIdOf } from '../machines/draft.ts'
import type { agentMachine } from '../machines/agentMachine.ts'
import type { AgentContext, AgentMachineEvent } from '../machines/agentTypes.ts'
import type { Clock } from '../protocol/clock.ts'
import { errorInfo, toErrorInfo, type ErrorInfo } from '../protocol/errors.ts'
import { eventOf } from '../protocol/events.ts'
import type { Limits, LogRecord, RecordDraft, RecordOf } from '../protocol/records.ts'
import type { Store, StoreLease } from '../protocol/store.ts'
import { LogWriter } from './log/logWriter.ts'
import { Observers, type AgentListener } from './observers.ts'
import { restoreInput } from './restoreInput.ts'
import { RunHandle } from './run.ts'

const nobody: readonly never[] = Object.freeze([])

/** Of an agent with no ancestors. */
const rootPath: readonly string[] = Object.freeze([])

export interface HostOptions {
  readonly agentId: string
  readonly definition: AgentDefinition
  readonly machine: typeof agentMachine
  readonly store: Store
  readonly lease: StoreLease
  readonly clock: Clock
  readonly random: () => number
  /** The agent's log, to go on from it. */
  readonly records?: readonly LogRecord[]
}

/** Everything of one agent that is not in its chart: conversation, log, listeners, runs. The effects reach the world through it. */
export class AgentHost implements AgentPorts {
  readonly agentId: string
  readonly path: readonly string[] = rootPath
  readonly definition: AgentDefinition
  readonly conversation: Conversation
  readonly clock: Clock
  readonly random: () => number
  partial: PartialReply | null = null
  announced = ''
  readonly #log: LogWriter
  readonly #lease: StoreLease
  readonly #actor: Actor<typeof agentMachine>
  readonly #observers = new Observers(this)
  #runs: Map<string, RunHandle> | undefined
  #assembler: RequestAssembler | undefined
  #currentRun: RunHandle | undefined
  #state = 'idle'
  #isPriceWarned = false
  #unseen = 0
  /** Told when no more events can come. */
  #onEnd: readonly (() => void)[] = nobody
  #stopping: Promise<void> | undefined

  constructor(options: HostOptions) {
    this.agentId = options.agentId
    this.definition = options.definition
    const { records = [] } = options
    this.conversation = rebuildConversation(records, { counter: options.definition.counter })
    this.clock = options.clock
    this.random = options.random
    this.#lease = options.lease
    this.#log = new LogWriter(options.store, this, this.conversation.lastSeq)
    const { name, model, policy } = options.definition
    this.#actor = createActor(options.machine, {
      id: options.agentId,
      input: {
        agentId: options.agentId,
        path: this.path,
        definition: name,
        model: model.id,
        policy,
        ...(records.length === 0 ? {} : { restored: restoreInput(records, this.conversation, options.definition) }),
      },
    })
  }

  /** Begins the agent's life; the host must be findable by id before. */
  start(): void {
    // The host itself is the observer: closures for ten thousand agents add up.
    this.#actor.subscribe(this)
    this.#actor.start()
  }

  get state(): string {
    return stateName(this.#actor.getSnapshot().value)
  }

  get context(): AgentContext {
    return this.#actor.getSnapshot().context
  }

  /** Stopped, or asked to. */
  get isStopped(): boolean {
    return this.#stopping !== undefined || this.#actor.getSnapshot().status !== 'active'
  }

  /** Settles what runs and ends the machine, for good or to be resumed from the log. Idempotent; the first call decides. */
  end(how: 'stop' | 'close'): Promise<void> {
    this.#stopping ??= new Promise((resolve) => {
      if (this.#actor.getSnapshot().status !== 'active') return resolve()
      this.#actor.subscribe({ complete: resolve, error: () => resolve() })
      this.#actor.send({ type: how })
    })
    return this.#stopping
  }

  /** Commands sent that the context does not show yet: from inside a listener the machine is in the middle of a step. */
  get unseen(): number {
    return this.#unseen
  }

  send(event: AgentMachineEvent): void {
    this.#unseen += 1
    this.#actor.send(event)
  }

  /** The handle of the run that the request of this id will start. */
  expectRun(requestId: string): RunHandle {
    const run = new RunHandle(requestId)
    this.#runs ??= new Map()
    this.#runs.set(requestId, run)
    return run
  }

  subscribe(listener: AgentListener): () => void {
    return this.#observers.add(listener)
  }

  /** Calls `close` when no more events can come; returns a function that forgets it. */
  onEnd(close: () => void): () => void {
    this.#onEnd = [...this.#onEnd, close]
    return () => {
      this.#onEnd = this.#onEnd.filter((other) => other !== close)
    }
  }

  get isObserved(): boolean {
    return !this.#observers.isEmpty || this.#currentRun !== undefined
  }

  assemble(turnIndex: number): AssembledRequest {
    this.#assembler ??= new RequestAssembler(this.conversation, frameOf(this.definition))
    return this.#assembler.assemble(turnIndex)
  }

  durable(): Promise<void> | undefined {
    return this.#log.durable()
  }

  /** Goes on after a pause, once the log is written. Never rejects: a store that fails again ends the run as paused. */
  async resume(run: RunHandle, limits: Limits | undefined): Promise<void> {
    try {
      await this.#log.retry()
    } catch (thrown) {
      this.#runs?.delete(run.id)
      run.cancel('paused', toErrorInfo(thrown, 'STORE_APPEND_FAILED'))
      return
    }
    const isOwed = this.context.pausedRun !== null
    this.send({ type: 'resume', id: run.id, at: this.clock.now(), ...(limits === undefined ? {} : { limits }) })
    if (isOwed) return
    this.#runs?.delete(run.id)
    run.cancel('stop')
  }

  replyStarted(key: string): void {
    this.#actor.send({ type: 'reply.started', key })
  }

  /** The machine's `record` command: folds the record in, queues it for the store, tells observers. Idempotent by `seq`. */
  record(draft: RecordDraft): void {
    if (draft.seq <= this.conversation.lastSeq) return
    // Observers and models share these objects with the log.
    const record = freezeInside({ ...draft, time: this.clock.now() })
    this.conversation.apply(record)
    this.#log.append(record)
    if (record.type === 'run.start') this.#openRun(record)
    else if (record.type === 'reply.end' || record.type === 'reply.reset') this.partial = null
    if (this.isObserved) this.#observers.hold(eventOf(record, this), this.#currentRun)
    if (record.type === 'run.end') this.#closeRun(record)
  }

  emit(body: LiveBody): void {
    if (!this.isObserved) return
    const { agentId, path } = this
    const event = { ...body, agentId, path, seq: this.conversation.lastSeq, time: this.clock.now() }
    this.#observers.tell(event, this.#currentRun)
  }

  /** Tells of a listener that threw, once. */
  listenerFailed(thrown: unknown): void {
    this.emit({ type: 'error', ...this.#at(), error: toErrorInfo(thrown, 'SUBSCRIBER_FAILED') })
  }

  /** Reports something that went wrong beside the run. */
  fail(thrown: unknown): void {
    this.emit({ type: 'error', ...this.#at(), error: toErrorInfo(thrown, 'INTERNAL') })
  }

  /** Waits for the log and lets the next writer in. */
  async release(): Promise<void> {
    try {
      await this.#log.retry()
    } finally {
      await this.#lease.release()
    }
  }

  /** Observes the machine: it has stopped. */
  complete(): void {
    this.next()
    this.#endRuns((run) => run.cancel('aborted'))
  }

  /** Observes the machine: a transition threw. It is dead, and its children, which it left running, are stopped here. */
  error(thrown: unknown): void {
    const { children } = this.#actor.getSnapshot()
    for (const child of Object.values(children)) child?.send({ type: 'xstate.stop' })
    this.#observers.flush()
    this.fail(thrown)
    const error = toErrorInfo(thrown, 'INTERNAL')
    this.#endRuns((run) => run.cancel('error', error))
  }

  /** Nothing more comes: whoever still waits is told. */
  #endRuns(end: (run: RunHandle) => void): void {
    if (this.#currentRun !== undefined) end(this.#currentRun)
    this.#currentRun = undefined
    for (const run of this.#runs?.values() ?? []) end(run)
    this.#runs = undefined
    for (const close of this.#onEnd) close()
  }

  #at(): { loopId: string; turnIndex: number } {
    const { run, runs, pausedRun, turns } = this.context
    return { loopId: run?.loopId ?? pausedRun ?? loopIdOf(this.agentId, runs), turnIndex: Math.max(0, turns - 1) }
  }

  #openRun({ requestId, limits }: RecordOf<'run.start'>): void {
    this.#currentRun = this.#runs?.get(requestId)
    this.#runs?.delete(requestId)
    if (limits.costUsd === undefined || this.definition.pricing !== null || this.#isPriceWarned) return
    this.#isPriceWarned = true
    const what = `limits.costUsd is set, but ${this.definition.model.id} has no price, so cost counts as 0.`
    const error = errorInfo('PRICE_UNKNOWN', what)
    queueMicrotask(() => this.emit({ type: 'error', ...this.#at(), error }))
  }

  #closeRun(end: RecordOf<'run.end'>): void {
    const run = this.#currentRun
    this.#currentRun = undefined
    if (run === undefined) return
    const finish = (failure?: ErrorInfo): void => run.finish(end, (text) => this.#parseOutput(text), failure)
    const pending = this.#log.durable()
    if (pending === undefined) finish()
    else
      pending.then(
        () => finish(),
        (thrown: unknown) => finish(toErrorInfo(thrown, 'STORE_APPEND_FAILED')),
      )
  }

  #parseOutput(text: string): { output?: unknown } {
    if (this.definition.output === null) return {}
    try {
      return { output: this.definition.output.parse(JSON.parse(text)) }
    } catch {
      return {}
    }
  }

  /** The log could not be written. */
  storeFailed(error: ErrorInfo): void {
    this.emit({ type: 'error', ...this.#at(), error })
    this.#actor.send({ type: 'store.failed', error })
  }

  /** Observes the machine: it has taken a step. */
  next(): void {
    this.#unseen = 0
    this.#observers.flush()
    const previous = this.#state
    const state = this.state
    if (state === previous) return
    this.#state = state
    this.emit({ type: 'state.changed', ...this.#at(), state, previous })
  }
}

const frameOf = ({ instructions: system, toolSpecs: tools, settings, braking }: AgentDefinition): RequestFrame => ({
  system,
  tools,
  settings,
  ...(braking === null ? {} : { braking: braking.tags }),
})

function freezeInside<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null && !Object.isFrozen(inner))
      Object.freeze(freezeInside(inner as object))
  }
  return value
}

/** `replying.streaming` for the nested value of a snapshot. */
function stateName(value: unknown): string {
  if (typeof value === 'string') return value
  return Object.entries(value as object)
    .map(([state, inner]: [string, unknown]) => `${state}.${stateName(inner)}`)
    .join(',')
}
