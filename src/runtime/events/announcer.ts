import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { AgentPorts, LiveBody, TurnPlace } from '../../actors/agentPorts.ts'
import { blankSettings } from '../../redaction/blankSecrets.ts'
import type { Redactor } from '../../redaction/redactor.ts'
import type { Clock } from '../../protocol/clock.ts'
import { toErrorInfo } from '../../protocol/errors.ts'
import { eventOf, isDelta, type AgentEvent, type EventOf } from '../../protocol/events.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import type { TracedAgent, TracedEffect } from '../../protocol/tracer.ts'
import type { Instrumentation } from '../../telemetry/instrumentation.ts'
import { DeltaFilter } from './deltaFilter.ts'
import { listLater } from './listLater.ts'
import { Observers, type AgentListener } from './observers.ts'
import { RunHandle, type RunOutcome } from '../../runs/run.ts'

/** Messages from which on those of a `turn.request` are listed when somebody looks: lists for every turn would add up. */
const longRequest = 256

const isOfReply = (body: LiveBody): boolean => body.type === 'reply.start' || isDelta(body)

/** The agent whose events they are. */
export interface EventOwner {
  readonly agentId: string
  readonly path: readonly string[]
  readonly definition: AgentDefinition
  readonly clock: Clock
  /** `seq` of its last record. */
  readonly lastSeq: number
  /** The run and turn that something beside the log belongs to. */
  readonly at: TurnPlace
  /** Something was heard of it. */
  heard(): void
}

/** Who hears of every agent, and what none of them may hear. */
interface Listening {
  readonly instrumentation?: Instrumentation | undefined
  readonly redactor?: Redactor | undefined
}

/**
 * Tells of one agent: its listeners, the run under way, the tracer and the logger; and of a sub-agent its ancestors' listeners
 * that want to hear of descendants. Approvals reach every listener above, as somebody there must decide. An event is one
 * object for all.
 */
export class Announcer {
  readonly #owner: EventOwner
  readonly #parent: Announcer | undefined
  readonly #shared: Listening
  readonly #observers = new Observers(this)
  /** Listeners that want to hear of descendants too. */
  #family: Observers | undefined
  #deltas: DeltaFilter | undefined
  #traced: TracedAgent | undefined
  /** The run under way. */
  run: RunOutcome | undefined

  constructor(owner: EventOwner, parent: Announcer | undefined, shared: Listening) {
    this.#owner = owner
    this.#parent = parent
    this.#shared = shared
  }

  subscribe(listener: AgentListener, { descendants }: { readonly descendants: boolean }): () => void {
    if (!descendants) return this.#observers.add(listener)
    this.#family ??= new Observers(this)
    return this.#family.add(listener)
  }

  /** Whether anybody listens here. */
  get isAttended(): boolean {
    return !this.#observers.isEmpty || this.#family?.isEmpty === false
  }

  /** Whether anybody hears live events of the agent. */
  get isObserved(): boolean {
    return (
      !this.#observers.isEmpty ||
      this.#reader !== undefined ||
      this.isHeard ||
      this.#shared.instrumentation?.wantsRequests === true
    )
  }

  /** The run under way, when somebody may read it: it hears everything. */
  get #reader(): RunHandle | undefined {
    return this.run instanceof RunHandle ? this.run : undefined
  }

  /** Whether here or above somebody hears of descendants. */
  get isHeard(): boolean {
    return this.#family?.isEmpty === false || this.#parent?.isHeard === true
  }

  /** A record was made; told once the machine's step is done. */
  record(record: LogRecord): void {
    if (record.type === 'reply.end' || record.type === 'reply.reset') this.#endDeltas(record)
    if (this.#reader === undefined) this.run?.note(record)
    const { instrumentation } = this.#shared
    const isHeld = this.isObserved || (record.type.startsWith('approval.') && this.#parent !== undefined)
    if (instrumentation === undefined && !isHeld) return
    const event = eventOf(record, this.#owner)
    instrumentation?.event(event, this.#agent)
    if (isHeld) this.#hold(event)
  }

  /** Something happened that is not recorded. */
  emit(body: LiveBody): void {
    this.#owner.heard()
    const { instrumentation, redactor } = this.#shared
    const { isObserved } = this
    const isHeard = isObserved || instrumentation !== undefined
    // Somebody may listen from the middle of a reply on: secrets are followed from its beginning.
    if (!isHeard && (redactor === undefined || !isOfReply(body))) return
    const clean = redactor === undefined ? body : this.#redact(body, redactor)
    if (clean === undefined || !isHeard) return
    const event = this.#eventOf(clean)
    instrumentation?.event(event, this.#agent)
    if (isObserved) this.#tell(event)
  }

  /** A piece of a growing reply arrived. Tracers and loggers do not hear of it. */
  delta(...[type, { runId, turnIndex }, text, offset]: Parameters<AgentPorts['delta']>): void {
    if (this.#shared.redactor !== undefined) return this.emit({ type, runId, turnIndex, text, offset })
    this.#owner.heard()
    if (!this.isObserved) return
    const { agentId, path, lastSeq: seq, clock } = this.#owner
    this.#tell({ type, runId, turnIndex, text, offset, agentId, path, seq, time: clock.now() })
  }

  /** A request goes out. Its messages are made of records, and those are clean. */
  request(...[{ runId, turnIndex }, request, assembled]: Parameters<AgentPorts['requested']>): void {
    this.#owner.heard()
    const { instrumentation } = this.#shared
    const { isObserved } = this
    if (!isObserved && instrumentation === undefined) return
    const model = this.#owner.definition.model.id
    const { settings } = this.clean({ settings: blankSettings(request.settings) })
    const { agentId, path, lastSeq: seq, clock } = this.#owner
    const at = { type: 'turn.request', runId, turnIndex, model, agentId, path, seq, time: clock.now() } as const
    const { messages, ...frame } = { ...request, settings }
    const event: EventOf<'turn.request'> =
      messages.length < longRequest
        ? { ...at, request: { ...frame, messages }, provenance: assembled.provenance }
        : listLater(at, frame, assembled.told)
    instrumentation?.event(event, this.#agent)
    if (isObserved) this.#tell(event)
  }

  #tell(event: AgentEvent): void {
    this.#observers.tell(event, this.#reader)
    this.#tellFamily(event)
  }

  #tellFamily(event: AgentEvent): void {
    this.#family?.tell(event, undefined)
    if (this.#parent !== undefined) this.#parent.#tellFamily(event)
  }

  /** The machine's step is done: what was held is told. */
  flush(): void {
    this.#family?.flush()
    this.#observers.flush()
    this.#parent?.flush()
  }

  within<T>(effect: TracedEffect, run: () => T): T {
    const { instrumentation } = this.#shared
    return instrumentation === undefined ? run() : instrumentation.within(effect, this.#agent, run)
  }

  /** A command that may start a run was given. */
  requested(requestId: string): void {
    this.#shared.instrumentation?.requested(requestId, this.#agent)
  }

  /** No more comes. */
  ended(): void {
    this.#shared.instrumentation?.ended(this.#agent)
  }

  /** Tells of a listener that threw, once. */
  listenerFailed(thrown: unknown): void {
    this.emit({ type: 'error', ...this.#owner.at, error: toErrorInfo(thrown, 'SUBSCRIBER_FAILED') })
  }

  #hold(event: AgentEvent): void {
    this.#observers.hold(event, this.#reader)
    this.#family?.hold(event, undefined)
    if (this.#parent !== undefined) this.#parent.#holdOfChild(event, event.type.startsWith('approval.'))
  }

  #holdOfChild(event: AgentEvent, isApproval: boolean): void {
    this.#family?.hold(event, undefined)
    if (isApproval) this.#observers.hold(event, this.#reader)
    if (this.#parent !== undefined) this.#parent.#holdOfChild(event, isApproval)
  }

  #eventOf(body: LiveBody, seq = this.#owner.lastSeq): AgentEvent {
    const { agentId, path, clock } = this.#owner
    return { ...body, agentId, path, seq, time: clock.now() }
  }

  /** A JSON value without the secrets that the application named. */
  clean<T>(value: T): T {
    return this.#shared.redactor?.value(value) ?? value
  }

  #redact(body: LiveBody, redactor: Redactor): LiveBody | undefined {
    if (body.type === 'reply.start') this.#deltas = new DeltaFilter(redactor)
    return this.#deltas === undefined ? redactor.value(body) : this.#deltas.filter(body)
  }

  /** What was held back of a reply's deltas comes before its end, unless the reply was cut off. */
  #endDeltas(record: RecordOf<'reply.end' | 'reply.reset'>): void {
    const rest =
      record.type === 'reply.end' && record.message.stopReason !== 'aborted' ? this.#deltas?.end() : undefined
    this.#deltas = undefined
    for (const body of rest ?? []) if (this.isObserved) this.#hold(this.#eventOf(body, record.seq - 1))
  }

  /** How tracers know the agent. */
  get #agent(): TracedAgent {
    const { agentId, path, definition } = this.#owner
    return (this.#traced ??= { agentId, path, name: definition.name, model: definition.model.id })
  }
}
