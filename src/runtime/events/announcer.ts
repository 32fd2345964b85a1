import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { AgentPorts, LiveBody, TurnPlace } from '../../actors/agentPorts.ts'
import { blankSettings } from '../../log/redaction/blankSecrets.ts'
import type { RedactedText, Redactor } from '../../protocol/ports/redactor.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import { isLikelyBug } from '../../protocol/callbackBugs.ts'
import { toErrorInfo } from '../../protocol/errors.ts'
import { concernsPeople, isDelta, type AgentEvent, type DeltaEvent } from '../../protocol/events.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import type { SourceInfo } from '../../protocol/toolsChange.ts'
import type { TracedAgent, TracedEffect, Tracer } from '../../protocol/ports/tracer.ts'
import { listLater } from './listLater.ts'
import { Notices, Observers, type AgentListener } from './observers.ts'
import { RunHandle, type RunOutcome } from '../../protocol/runs/run.ts'

/** Types of records that may lead to notices. */
const noticed: ReadonlySet<LogRecord['type']> = new Set<LogRecord['type']>(['run.start', 'reply.end', 'reply.reset'])

const isOfReply = (body: LiveBody): boolean => body.type === 'reply.start' || isDelta(body)

interface EventOwner {
  readonly agentId: string
  readonly path: readonly string[]
  /** Set if nothing of the agent is stored. */
  readonly incognito: true | undefined
  /** True if no agent above can decide the calls of this agent and of those below it. */
  readonly isUnattended: boolean
  readonly isLoaded: boolean
  readonly view: {
    readonly definition: AgentDefinition
    readonly lastSeq: number
    readonly requests: { readonly frame: AgentPorts['frame'] }
  }
  /** `at`: the run and turn that a live event belongs to. */
  readonly machine: { readonly at: TurnPlace }
  /** Receiver of the agent's signs of activity. */
  readonly stallTimer: { reset(): void }
}

/** Observers of all agents, and the redactor for their events. */
interface Listening {
  readonly clock: Clock
  readonly instrumentation?: Required<Tracer> | undefined
  /** Holder of the redactor, and receiver of source troubles that no listener hears of. */
  readonly sources: { readonly redactor: Redactor | undefined; unheard(info: SourceInfo): void }
  readonly callbackFailed: (place: string, thrown: unknown, fields: object) => void
}

/**
 * Announces the events of one agent to its listeners, the current run, the tracer and the logger and, for a
 * sub-agent, to listeners of its ancestors that want events of descendants. Approvals reach every listener above,
 * because someone there must decide. All receive the same event object.
 */
export class Announcer {
  readonly #owner: EventOwner
  readonly #parent: Announcer | undefined
  readonly #shared: Listening
  #observers: Observers | undefined
  /** Listeners that also want events of descendants. */
  #family: Observers | undefined
  #deltas: DeltaFilter | undefined
  #traced: TracedAgent | undefined
  /** The current run. */
  run: RunOutcome | undefined
  /** Set once there was a notice. Most agents at rest have none. */
  #notices: Notices | undefined

  constructor(owner: EventOwner, parent: Announcer | undefined, shared: Listening) {
    this.#owner = owner
    this.#parent = parent
    this.#shared = shared
  }

  subscribe(listener: AgentListener, { descendants }: { readonly descendants: boolean }): () => void {
    if (!descendants) return this.#own.add(listener)
    this.#family ??= new Observers(this)
    return this.#family.add(listener)
  }

  get #own(): Observers {
    return (this.#observers ??= new Observers(this))
  }

  /** True if anyone listens to this agent. */
  get isAttended(): boolean {
    return this.#observers?.isEmpty === false || this.#family?.isEmpty === false
  }

  /** True if anyone receives the agent's live events. */
  get isObserved(): boolean {
    return (
      this.#observers?.isEmpty === false ||
      this.#reader !== undefined ||
      this.isHeard ||
      this.#shared.instrumentation?.wantsRequests === true
    )
  }

  /** The current run, if code may read its events. It gets all of them. */
  get #reader(): RunHandle | undefined {
    return this.run instanceof RunHandle ? this.run : undefined
  }

  /** True if anyone here or above wants events of descendants. */
  get isHeard(): boolean {
    return this.#family?.isEmpty === false || this.#parent?.isHeard === true
  }

  /** Announces a record once the machine's step is done. */
  record(record: LogRecord): void {
    if (record.type === 'reply.end' || record.type === 'reply.reset') this.#endDeltas(record)
    if (noticed.has(record.type)) this.notices.record(record)
    if (this.#reader === undefined) this.run?.note(record)
    const { instrumentation } = this.#shared
    const isHeld = this.isObserved || (this.#parent !== undefined && concernsPeople(record))
    if (instrumentation === undefined && !isHeld) return
    const { agentId, path, incognito } = this.#owner
    const event: AgentEvent =
      incognito === undefined ? { ...record, agentId, path } : { ...record, agentId, path, incognito }
    instrumentation?.event(event, this.#agent)
    if (isHeld) this.#hold(event)
  }

  /** Announces an event that is not recorded. */
  emit(body: LiveBody): void {
    this.#owner.stallTimer.reset()
    const { instrumentation, sources } = this.#shared
    const { redactor } = sources
    const { isObserved } = this
    const isHeard = isObserved || instrumentation !== undefined
    if (body.type === 'source.status' && !this.isAttended && !this.isHeard) sources.unheard(body)
    // Listeners may join in the middle of a reply, so secrets are tracked from its beginning.
    if (!isHeard && (redactor === undefined || !isOfReply(body))) return
    const clean = redactor === undefined ? body : this.#redact(body, redactor)
    if (clean === undefined || !isHeard) return
    const event: AgentEvent = this.#stamped(clean)
    instrumentation?.event(event, this.#agent)
    if (isObserved) this.#tell(event)
  }

  /** The announced part of the current reply, without secrets. */
  get announced(): { readonly text: string; readonly thinking: string } {
    return this.#deltas?.announced ?? { text: '', thinking: '' }
  }

  /** Announces a piece of a growing reply, but not to tracers and loggers. */
  delta(...[type, { runId, turnIndex }, text, offset]: Parameters<AgentPorts['delta']>): void {
    if (this.#shared.sources.redactor !== undefined) return this.emit({ type, runId, turnIndex, text, offset })
    this.#owner.stallTimer.reset()
    if (!this.isObserved) return
    const { agentId, path, incognito, view } = this.#owner
    const seq = view.lastSeq
    const time = this.#shared.clock.now()
    const event = { type, runId, turnIndex, text, offset, agentId, path, seq, time } as const
    this.#tell(incognito === undefined ? event : { ...event, incognito })
  }

  /** Announces a request. Its messages come from records, which are already redacted. */
  request(...[{ runId, turnIndex }, request, assembled]: Parameters<AgentPorts['requested']>): void {
    this.#owner.stallTimer.reset()
    const { instrumentation } = this.#shared
    const { isObserved } = this
    if (!isObserved && instrumentation === undefined) return
    const model = this.#owner.view.requests.frame.model.id
    const blank = blankSettings(request.settings)
    const settings = this.#shared.sources.redactor?.value({ settings: blank }).settings ?? blank
    const { system, tools, messages } = request
    const at = this.#stamped({ type: 'turn.request', runId, turnIndex, model } as const)
    // Without a part that the provider refused, they are others than those of the conversation.
    const told =
      messages === assembled.request.messages ? assembled.told : { ...assembled.told, messages: () => messages }
    const event = listLater(at, { system, tools, settings }, told)
    instrumentation?.event(event, this.#agent)
    if (isObserved) this.#tell(event)
  }

  #tell(event: AgentEvent): void {
    this.#own.tell(event, this.#reader)
    if (this.#family !== undefined || this.#parent !== undefined) this.#tellFamily(event)
  }

  #tellFamily(event: AgentEvent): void {
    this.#family?.tell(event, undefined)
    if (this.#parent !== undefined) this.#parent.#tellFamily(event)
  }

  get notices(): Notices {
    return (this.#notices ??= new Notices(this.#owner, this))
  }

  /** Announces the events that were held back, once the machine's step is done. */
  flush(): void {
    this.#family?.flush()
    this.#observers?.flush()
    this.#parent?.flush()
  }

  within<T>(effect: TracedEffect, run: () => T): T {
    const { instrumentation } = this.#shared
    return instrumentation === undefined ? run() : instrumentation.within(effect, this.#agent, run)
  }

  /** Tells the tracer of a command that may start a run. */
  requested(requestId: string): void {
    this.#shared.instrumentation?.requested(requestId, this.#agent)
  }

  ended(): void {
    this.#shared.instrumentation?.ended(this.#agent)
    this.#traced = undefined
    if (this.#notices?.isSilent === true) this.#notices = undefined
  }

  /** Drops the listeners, which hear nothing more. The tracer and the logger still do. */
  over(): void {
    this.#observers = undefined
    this.#family = undefined
  }

  /** Reports an error that does not end the run. */
  fail(thrown: unknown): void {
    if (thrown instanceof Error && isLikelyBug(thrown)) this.callbackFailed('Code', thrown)
    this.emit({ type: 'error', ...this.#owner.machine.at, error: toErrorInfo(thrown, 'INTERNAL') })
  }

  /** Tells the application of an error that one of its functions threw; `what` names the function. */
  callbackFailed(what: string, thrown: unknown): void {
    const { agentId, view } = this.#owner
    this.#shared.callbackFailed(`${what} of agent "${view.definition.name}"`, thrown, { agentId })
  }

  /** Reports a listener that threw, once, in the run and turn of its event, which may have ended since. */
  listenerFailed(thrown: unknown, event: AgentEvent): void {
    this.callbackFailed('A listener', thrown)
    // The failure of a listener belongs to a run and turn.
    if (!this.#owner.isLoaded) return
    const isOwn = event.agentId === this.#owner.agentId && 'runId' in event && event.runId !== ''
    const { runId, turnIndex } = isOwn ? event : this.#owner.machine.at
    this.emit({ type: 'error', runId, turnIndex, error: toErrorInfo(thrown, 'SUBSCRIBER_FAILED') })
  }

  #hold(event: AgentEvent): void {
    this.#own.hold(event, this.#reader)
    this.#family?.hold(event, undefined)
    if (this.#parent !== undefined) this.#parent.#holdOfChild(event, this.#isForAll(event))
  }

  /** Returns true if all ancestors must get an event, because someone there must decide. */
  #isForAll(event: AgentEvent): boolean {
    return concernsPeople(event) && !this.#owner.isUnattended
  }

  #holdOfChild(event: AgentEvent, isApproval: boolean): void {
    this.#family?.hold(event, undefined)
    if (isApproval) this.#own.hold(event, this.#reader)
    if (this.#parent !== undefined) this.#parent.#holdOfChild(event, isApproval && !this.#owner.isUnattended)
  }

  /** Returns a body with the fields that every event has. */
  #stamped<Body extends object>(body: Body, seq = this.#owner.view.lastSeq) {
    const { agentId, path, incognito } = this.#owner
    const event = { ...body, agentId, path, seq, time: this.#shared.clock.now() }
    return incognito === undefined ? event : { ...event, incognito }
  }

  /** Returns a JSON value without the secrets that the application named. */
  clean<T>(value: T): T {
    return this.#shared.sources.redactor?.value(value) ?? value
  }

  #redact(body: LiveBody, redactor: Redactor): LiveBody | undefined {
    if (body.type === 'reply.start') this.#deltas = new DeltaFilter(redactor)
    return this.#deltas === undefined ? redactor.value(body) : this.#deltas.filter(body)
  }

  /** Announces deltas that were held back, before the end of the reply unless it was cut off. */
  #endDeltas(record: RecordOf<'reply.end' | 'reply.reset'>): void {
    const rest =
      record.type === 'reply.end' && record.message.stopReason !== 'aborted' ? this.#deltas?.end() : undefined
    this.#deltas = undefined
    for (const body of rest ?? []) if (this.isObserved) this.#hold(this.#stamped(body, record.seq - 1))
  }

  #newTraced(): TracedAgent {
    const { agentId, path, view, incognito } = this.#owner
    const { definition } = view
    const traced = { agentId, path, name: definition.name, model: definition.model.id }
    return incognito === undefined ? traced : { ...traced, incognito }
  }

  /** Returns the agent in the form for tracers. */
  get #agent(): TracedAgent {
    return (this.#traced ??= this.#newTraced())
  }
}

type Delta = Extract<LiveBody, { type: DeltaEvent['type'] }>

/** Removes secrets from the live events of one reply, including its deltas, even if a secret arrives in pieces. */
class DeltaFilter {
  readonly #redactor: Redactor
  readonly #streams = new Map<string, { readonly stream: RedactedText; last: Delta }>()
  readonly announced = { text: '', thinking: '' }

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Returns the event without secrets; `undefined` if its text is held back until more has arrived. */
  filter(body: LiveBody): LiveBody | undefined {
    if (!isDelta(body)) return this.#redactor.value(body)
    const name = body.type === 'toolCall.delta' ? `${body.type} ${body.callId}` : body.type
    const entry = this.#streams.get(name) ?? { stream: this.#redactor.stream(), last: body }
    // Other fields, such as a tool's name, arrive whole.
    entry.last = { ...this.#redactor.value({ ...body, text: '' }), text: body.text }
    this.#streams.set(name, entry)
    const piece = shown(entry.last, entry.stream.push(body.text))
    if (piece?.type === 'reply.delta') this.announced.text += piece.text
    else if (piece?.type === 'thinking.delta') this.announced.thinking += piece.text
    return piece
  }

  /** Returns the text that is still held back at the end of the reply. */
  end(): LiveBody[] {
    return [...this.#streams.values()].flatMap(({ stream, last }) => shown(last, stream.end()) ?? [])
  }
}

const shown = (body: Delta, piece: { text: string; offset: number } | undefined): Delta | undefined => {
  if (piece === undefined) return undefined
  return body.type === 'toolCall.delta' ? { ...body, text: piece.text } : { ...body, ...piece }
}
