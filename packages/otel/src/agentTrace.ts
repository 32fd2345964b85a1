import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import type { ErrorInfo } from '../../../src/protocol/errors.ts'
import { addUsage, type Usage } from '../../../src/protocol/messages.ts'
import type { TracedAgent, TracedEffect } from '../../../src/protocol/ports/tracer.ts'
import { plainError } from '../../words/src/withoutContent.ts'
import { agentAttributes, modelAttributes, usageAttributes } from './genAi.ts'

/** Key of a span. Only one span of each key is open at a time. */
export type SpanKey = 'run' | 'turn' | 'model' | 'compaction' | 'drain' | `tool/${string}`

interface OpenSpan {
  readonly span: Span
  /** Context in which the span is active. */
  readonly context: Context
}

/** Options that all agents of a tracer share. */
export interface TraceOptions {
  readonly tracer: Tracer
  readonly content: boolean
  /** Attributes of every span. */
  readonly attributes: Attributes
  /** Returns the context in which the request was made, once. */
  takeParent(agentId: string, requestId: string): Context | undefined
}

/** Attributes of a span that ended because the span around it did. */
const cutOff: Attributes = { 'escapement.cut_off': true }

/** The open spans of one agent, with data from earlier events for later spans. */
export class AgentTrace {
  readonly agent: TracedAgent
  readonly content: boolean
  /** Settings with which the run was started. */
  settings: Attributes = {}
  /** Settings that differ in this turn. */
  turnSettings: Attributes = {}
  /** The content of the turn's request. */
  request: Attributes = {}
  readonly #options: TraceOptions
  readonly #open = new Map<SpanKey, OpenSpan>()
  /** Ids of reverts and prunes that wait for an answer. */
  readonly #waiting = new Set<string>()
  #drainUsage: Usage | undefined
  #askedAt = 0

  constructor(agent: TracedAgent, options: TraceOptions) {
    this.agent = agent
    this.content = options.content
    this.#options = options
  }

  /** True if no span is open, so that nothing needs to be kept. */
  get isIdle(): boolean {
    return this.#open.size === 0
  }

  takeParent(requestId: string): Context | undefined {
    return this.#options.takeParent(this.agent.agentId, requestId)
  }

  has(key: SpanKey): boolean {
    return this.#open.has(key)
  }

  /** Begins a span within the call `within`, the turn, the run, or `parent`, whichever is open. An open span with the same key is cut off. */
  begin(
    key: SpanKey,
    name: string,
    attributes: Attributes,
    parent: Context = ROOT_CONTEXT,
    within: SpanKey = 'turn',
  ): void {
    this.end(key, cutOff)
    const kind = key === 'model' ? SpanKind.CLIENT : SpanKind.INTERNAL
    const around = (this.#open.get(within) ?? this.#open.get('turn') ?? this.#open.get('run'))?.context ?? parent
    const all = { ...this.#options.attributes, ...agentAttributes(this.agent), ...attributes }
    const span = this.#options.tracer.startSpan(name, { kind, attributes: all }, around)
    this.#open.set(key, { span, context: trace.setSpan(around, span) })
  }

  set(key: SpanKey, attributes: Attributes): void {
    this.#open.get(key)?.span.setAttributes(attributes)
  }

  /** Adds an event to a span. Without `key`, to the turn or else the run. */
  mark(name: string, attributes: Attributes, key?: SpanKey): void {
    const open = key === undefined ? (this.#open.get('turn') ?? this.#open.get('run')) : this.#open.get(key)
    open?.span.addEvent(name, defined(attributes))
  }

  fail(key: SpanKey, error: ErrorInfo): void {
    const span = this.#open.get(key)?.span
    span?.setAttribute('error.type', error.code)
    span?.setStatus({ code: SpanStatusCode.ERROR, message: this.content ? error.message : plainError(error) })
  }

  /** Ends a span, if it is open. */
  end(key: SpanKey, attributes: Attributes = {}): void {
    const open = this.#open.get(key)
    if (open === undefined) return
    this.#open.delete(key)
    open.span.setAttributes(attributes)
    open.span.end()
  }

  /** Ends the spans within a call's span, which is about to end. */
  endWithin(callId: string): void {
    for (const key of [...this.#open.keys()].toReversed()) if (key.startsWith(`tool/${callId}/`)) this.end(key, cutOff)
  }

  /** Ends the turn, after every span still open in it. */
  endTurn(): void {
    for (const key of [...this.#open.keys()].toReversed()) {
      if (key !== 'run' && key !== 'turn' && key !== 'drain') this.end(key, cutOff)
    }
    this.end('turn')
  }

  /** Ends all open spans, innermost first. */
  endAll(): void {
    for (const key of [...this.#open.keys()].toReversed()) this.end(key, cutOff)
    this.#waiting.clear()
  }

  /** Notes a requested revert or prune. One drain spans from the first request to the last answer. */
  awaitDrain(id: string, name: string, attributes: Attributes): void {
    const parent = this.takeParent(id)
    if (!this.has('drain')) {
      this.#drainUsage = undefined
      this.begin('drain', 'drain', {}, parent)
    }
    this.#waiting.add(id)
    this.mark(name, attributes, 'drain')
  }

  /** Takes the answer to a revert or prune, with the usage of the model that wrote its summary. */
  answerDrain(id: string, name: string, attributes: Attributes, usage?: Usage): void {
    if (!this.#waiting.delete(id)) return
    this.mark(name, attributes, 'drain')
    const spent = this.#drainUsage
    if (usage !== undefined) this.#drainUsage = spent === undefined ? usage : addUsage(spent, usage)
    if (this.#waiting.size > 0) return
    this.end('drain', this.#drainUsage === undefined ? {} : usageAttributes(this.#drainUsage))
  }

  /** Returns the context of an effect. `undefined` if none of its spans is open. A model call begins its span here. */
  enter(effect: TracedEffect): Context | undefined {
    switch (effect.type) {
      case 'tool':
        if (effect.source !== undefined) this.set(`tool/${effect.callId}`, { 'escapement.tool.source': effect.source })
        return this.#open.get(`tool/${effect.callId}`)?.context
      case 'drain':
      case 'compaction':
        return this.#open.get(effect.type)?.context
      case 'hook':
        return this.#open.get('turn')?.context
      case 'model':
        return this.has('turn') ? this.ask(effect.attempt, effect.model) : undefined
    }
  }

  /** Begins the span of a model call. */
  ask(attempt: number, model = this.agent.model): Context | undefined {
    const about = modelAttributes(model)
    this.begin('model', `chat ${String(about['gen_ai.request.model'])}`, {
      'gen_ai.operation.name': 'chat',
      ...about,
      'gen_ai.request.stream': true,
      ...this.settings,
      ...this.turnSettings,
      'escapement.attempt': attempt,
      ...this.request,
    })
    // A duration that only the span shows: no behaviour hangs on it, so it needs no Clock.
    this.#askedAt = performance.now()
    return this.#open.get('model')?.context
  }

  /** Seconds since the model was asked. */
  get waitedSeconds(): number {
    return (performance.now() - this.#askedAt) / 1_000
  }
}

/** Drops attributes that are `undefined`, which an event would keep, unlike a span. */
const defined = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
