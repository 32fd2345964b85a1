import { RuntimeError, errorInfo, type ErrorCode } from '../../protocol/errors.ts'
import type { AgentEvent } from '../../protocol/events.ts'
import type { LogRecord } from '../../protocol/records.ts'
import { priceOf } from '../../actors/turn/pricing.ts'
import type { ModelUse } from '../../protocol/bridge/turns.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { TurnFrame } from '../../actors/turn/turnFrames.ts'
import type { LiveBody, TurnPlace } from '../../actors/agentPorts.ts'

export type AgentListener = (event: AgentEvent) => unknown

/** Checks a listener. @throws RuntimeError `INVALID_OPTION` if it is not a function */
export function checkListener(method: string, listener: unknown): void {
  if (typeof listener === 'function') return
  throw new RuntimeError('INVALID_OPTION', `${method} takes a function, not ${typeof listener}.`)
}

/** An additional receiver of an event, decided when it happens. */
interface Sink {
  push(event: AgentEvent): void
}

const none: readonly never[] = Object.freeze([])

/**
 * Passes events on to listeners in the order they happened. An event caused by a listener is delivered once all have
 * received its cause. A listener that throws or rejects is reported once and affects nothing else.
 */
export class Observers {
  readonly #owner: { listenerFailed(thrown: unknown, event: AgentEvent): void }
  #listeners: readonly AgentListener[] = none
  #outbox: { event: AgentEvent; sink: Sink | undefined }[] | undefined
  #isFlushing = false
  #failed: WeakSet<AgentListener> | undefined

  constructor(owner: { listenerFailed(thrown: unknown, event: AgentEvent): void }) {
    this.#owner = owner
  }

  get isEmpty(): boolean {
    return this.#listeners.length === 0
  }

  add(listener: AgentListener): () => void {
    const entry: AgentListener = (event) => listener(event)
    this.#listeners = [...this.#listeners, entry]
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== entry)
    }
  }

  /** Holds an event until `flush`, because the machine is in the middle of a step and its state is not updated yet. */
  hold(event: AgentEvent, sink: Sink | undefined): void {
    this.#outbox ??= []
    this.#outbox.push({ event, sink })
  }

  /** Delivers an event now, unless others are waiting before it. */
  tell(event: AgentEvent, sink: Sink | undefined): void {
    if (this.#outbox !== undefined || this.#isFlushing) return this.hold(event, sink)
    sink?.push(event)
    if (this.#listeners.length === 0) return
    this.#isFlushing = true
    this.#tellAll(event)
    this.#isFlushing = false
    this.flush()
  }

  flush(): void {
    if (this.#isFlushing || this.#outbox === undefined) return
    this.#isFlushing = true
    for (let i = 0; i < this.#outbox.length; i++) {
      const { event, sink } = this.#outbox[i]!
      sink?.push(event)
      if (this.#listeners.length > 0) this.#tellAll(event)
    }
    this.#outbox = undefined
    this.#isFlushing = false
  }

  #tellAll(event: AgentEvent): void {
    const listeners = this.#listeners
    for (const listener of listeners) {
      if (this.#listeners === listeners || this.#listeners.includes(listener)) this.#tellOne(listener, event)
    }
  }

  #tellOne(listener: AgentListener, event: AgentEvent): void {
    try {
      const returned = listener(event)
      if (returned instanceof Promise) returned.catch((thrown: unknown) => this.#report(listener, thrown, event))
    } catch (thrown) {
      this.#report(listener, thrown, event)
    }
  }

  #report(listener: AgentListener, thrown: unknown, event: AgentEvent): void {
    this.#failed ??= new WeakSet()
    if (this.#failed.has(listener)) return
    this.#failed.add(listener)
    this.#owner.listenerFailed(thrown, event)
  }
}

/** The agent that the notices are about. */
interface NoticeOwner {
  readonly agentId: string
  readonly view: { readonly definition: AgentDefinition; readonly requests: { readonly frame: TurnFrame } }
  readonly machine: { readonly at: TurnPlace }
}

/** Notices that are reported only once, however often they apply: per process, or per run for warnings of the model. */
export class Notices {
  readonly #owner: NoticeOwner
  readonly #announcer: { emit(body: LiveBody): void }
  #said: readonly ErrorCode[] = none
  #warnedIn: string | undefined
  #warnings: readonly string[] = none

  constructor(owner: NoticeOwner, announcer: { emit(body: LiveBody): void }) {
    this.#owner = owner
    this.#announcer = announcer
  }

  /** True if no notice was reported that must not be reported again in a later run. */
  get isSilent(): boolean {
    return this.#said.length === 0
  }

  /** Checks a record for reasons why limits and prices do not count in full. */
  record(record: LogRecord): void {
    const { view } = this.#owner
    if (record.type === 'run.start') {
      if (record.limits.costUsd === undefined || view.definition.pricing !== null) return
      const { id } = view.requests.frame.model
      this.#tell('PRICE_UNKNOWN', `limits.costUsd is set, but ${id} has no price, so cost counts as 0.`)
    } else if (record.type === 'reply.end' || record.type === 'reply.reset') {
      this.#checkPrice(record)
      const usage = record.type === 'reply.end' ? record.message.usage : record.usage
      // Of a reply that did not come whole nobody could have reported it.
      const isPart =
        record.type === 'reply.end' ? record.message.stopReason === 'aborted' : record.error.code.startsWith('MODEL_')
      if (usage?.estimated !== true || isPart) return
      const { id } = view.requests.frame.model
      this.#tell('USAGE_UNKNOWN', `${id} does not report the tokens it used, so an estimate counts.`)
    }
  }

  /** Reports a reply of a model without a price. With several models, some may have none. */
  #checkPrice(record: LogRecord): void {
    const { definition, requests } = this.#owner.view
    const { frame } = requests
    if (definition.pricing === null || record.type !== 'reply.end') return
    if (definition.prices === null && frame === definition) return
    if (priceOf(frame, record.message.model) !== null) return
    this.#tell('PRICE_UNKNOWN', `${record.message.model} answered, and has no price, so its cost counts as 0.`)
  }

  /** Reports that the agent should use a model that this process does not have. */
  modelMissing({ id, name }: ModelUse): void {
    const { model } = this.#owner.view.definition
    const which = name === undefined ? id : `${JSON.stringify(name)} (${id})`
    this.#tell('MODEL_NOT_FOUND', `The agent was to use the model ${which}, which is not here; it uses ${model.id}.`)
  }

  /** Reports that the end of the log was a torn line, which was cut off. */
  logRepaired(bytes: number): void {
    const { agentId } = this.#owner
    this.#tell(
      'LOG_REPAIRED',
      `The log of agent "${agentId}" ended in ${bytes} bytes of a torn line, which were cut off.`,
    )
  }

  /** Reports a warning of the model, once per run. */
  warn(at: { readonly runId: string; readonly turnIndex: number }, message: string): void {
    if (this.#warnedIn !== at.runId) this.#warnings = none
    this.#warnedIn = at.runId
    if (this.#warnings.includes(message)) return
    this.#warnings = [...this.#warnings, message]
    this.#announcer.emit({ type: 'model.warning', ...at, model: this.#owner.view.requests.frame.model.id, message })
  }

  #tell(code: ErrorCode, what: string): void {
    if (this.#said.includes(code)) return
    this.#said = [...this.#said, code]
    const error = errorInfo(code, what)
    // The machine is in the middle of a step.
    queueMicrotask(() => this.#announcer.emit({ type: 'error', ...this.#owner.machine.at, error }))
  }
}
