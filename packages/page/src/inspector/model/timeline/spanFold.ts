import { callLine } from '../../../../../charts/src/toolLine.ts'
import { movedCall, movesCall, stageAfter, type CallStage } from '../../../../../../src/log/callStage.ts'
import type { AgentEvent, EventOf } from '../../../../../../src/protocol/events.ts'
import { textOf } from '../../../../../../src/protocol/text/messageText.ts'
import { isFailure } from '../agent/eventGroups.ts'
import { oneLine } from '../words/shortText.ts'
import type { Span, SpanKind, SpanPartKind } from './span.ts'

/** Beginning of a log on the axis of another: `time` by its own clock is at `at` milliseconds. */
export interface SpanAnchor {
  readonly time: number
  readonly at: number
}

type Draft<T> = { -readonly [K in keyof T]: T[K] }
type DraftSpan = Omit<Draft<Span>, 'parts' | 'inside'> & {
  readonly parts: Draft<Span['parts'][number]>[]
  readonly inside: DraftSpan[]
}

/** Milliseconds by which a clock must go back to count as put back; less is inaccuracy. */
const leastJump = 1_000

/** Kind of the part of a call's span, by the stage of the call. */
const partOf: { readonly [S in CallStage]?: SpanPartKind } = {
  held: 'waiting',
  asked: 'waiting',
  requested: 'queued',
  sleeping: 'waiting',
  running: 'work',
}

/** Events that a call may begin with. */
type FirstEvent = EventOf<'approval.requested' | 'call.requested' | 'tool.start'>

const isFirst = (event: AgentEvent): event is FirstEvent =>
  event.type === 'approval.requested' || event.type === 'call.requested' || event.type === 'tool.start'

/**
 * Spans of one log: a fold of its events, of which it keeps none. The end of a span closes all spans inside it; a span that would be inside
 * a missing one is a root.
 */
export class SpanFold {
  readonly #roots: DraftSpan[] = []
  readonly #calls = new Map<string, DraftSpan>()
  readonly #agents = new Map<string, DraftSpan>()
  #run: DraftSpan | undefined
  #turn: DraftSpan | undefined
  #reply: DraftSpan | undefined
  #brake: DraftSpan | undefined
  #clock: SpanAnchor | undefined
  #version = 0
  #seq = 0

  /** `anchor`: place of a log that is shown inside another. */
  constructor(anchor?: SpanAnchor) {
    this.#clock = anchor
  }

  /** Spans inside no other, in the order they began. The same array holds the same spans, which change in place. */
  get roots(): readonly Span[] {
    return this.#roots
  }

  /** Number of changes so far. */
  get version(): number {
    return this.#version
  }

  /** `seq` of the last record. */
  get seq(): number {
    return this.#seq
  }

  /** Position of the last event on the axis, in milliseconds. */
  get end(): number {
    return this.#clock?.at ?? 0
  }

  /** Returns the position of a time of the log's clock after its last event. */
  at(time: number): number {
    const { time: last, at } = this.#clock ?? { time, at: 0 }
    return at + Math.max(0, time - last)
  }

  take(event: AgentEvent): void {
    const at = this.at(event.time)
    const isBack = this.#clock !== undefined && event.time < this.#clock.time - leastJump
    this.#clock = { time: event.time, at }
    this.#seq = event.seq
    if (isBack) for (const span of this.#open()) span.clockChanged = true
    this.#fold(event, at)
    this.#waits(at)
    this.#version += 1
  }

  #fold(event: AgentEvent, at: number): void {
    switch (event.type) {
      case 'run.start':
        this.#endRun(at, event)
        this.#run = this.#begin('run', event, at, event.cause)
        return
      case 'run.end':
        if (this.#run !== undefined) this.#run.costUsd = event.costUsd
        if (this.#run !== undefined) failed(this.#run, event, event.error?.message)
        return this.#endRun(at, event, true)
      case 'message.added':
        if (this.#run !== undefined && this.#run.words === '')
          this.#run.words = oneLine(textOf(event.message.content), 100)
        return
      case 'turn.start':
        this.#endTurn(at, event)
        this.#turn = this.#begin('turn', event, at, `turn ${event.turnIndex + 1}`)
        this.#reply = this.#begin('reply', event, at, 'reply')
        return
      case 'turn.end':
        if (this.#turn !== undefined) this.#turn.costUsd = event.costUsd
        return this.#endTurn(at, event, true)
      case 'child.spawned': {
        const span = this.#begin('agent', event, at, event.definition)
        if (event.incognito !== true) span.childId = event.childId
        span.words = event.childId
        this.#agents.set(event.childId, span)
        return
      }
      case 'child.ended': {
        const span = this.#agents.get(event.childId)
        this.#agents.delete(event.childId)
        if (span === undefined) return
        span.costUsd = event.spent.costUsd
        failed(span, event, event.error?.message)
        return end(span, at, event.seq)
      }
      case 'compaction.start':
      case 'policy.start':
        this.#brake = this.#begin('brake', event, at, event.type === 'policy.start' ? 'policy' : 'compaction')
        this.#brake.words = event.type === 'policy.start' ? event.policy : event.cause
        return
      case 'compaction.end':
      case 'policy.end':
        if (this.#brake !== undefined) end(this.#brake, at, event.seq)
        this.#brake = undefined
        return this.#asks(at)
      case 'agent.stopped':
        this.#endRun(at, event)
        for (const span of this.#agents.values()) cut(span, at, event.seq)
        return this.#agents.clear()
      default:
        return this.#foldReply(event, at)
    }
  }

  #foldReply(event: AgentEvent, at: number): void {
    switch (event.type) {
      case 'turn.request':
      case 'turn.captured':
        return this.#asks(at)
      case 'model.waiting':
        return this.#part(this.#reply, 'queued', at)
      case 'model.waited':
        return this.#part(this.#reply, 'first', at)
      case 'reply.start':
        if (this.#reply?.parts.length === 0) this.#reply.parts.push({ kind: 'first', from: this.#reply.from, to: at })
        return this.#part(this.#reply, 'streaming', at)
      case 'reply.end': {
        const reply = this.#reply ?? this.#begin('reply', event, at, 'reply')
        this.#reply = undefined
        reply.words = oneLine(textOf(event.message.content), 100)
        return this.#endReply(reply, at, event)
      }
      case 'reply.reset': {
        const reply = this.#reply ?? this.#begin('reply', event, at, 'reply')
        failed(reply, event, event.error.message)
        this.#endReply(reply, at, event)
        const next = this.#begin('reply', event, at, `reply, attempt ${event.attempt + 1}`)
        next.isCut = true
        this.#reply = next
        if (event.retryAt !== undefined) this.#part(next, 'queued', at)
        return
      }
      default:
        return this.#foldCall(event, at)
    }
  }

  #foldCall(event: AgentEvent, at: number): void {
    if (!movesCall(event)) return
    if (event.type === 'tool.end') return this.#endCall(event, at)
    const call = this.#calls.get(movedCall(event)) ?? (isFirst(event) ? this.#call(event, at) : undefined)
    if (call === undefined) return
    if (event.type === 'tool.start' && event.childId !== undefined) call.childId = event.childId
    const part = partOf[stageAfter(event)]
    if (part === undefined) endParts(call, at)
    else this.#part(call, part, at)
  }

  #endCall(event: EventOf<'tool.end'>, at: number): void {
    const call = this.#calls.get(event.callId) ?? this.#begin('call', event, at, event.name)
    this.#calls.delete(event.callId)
    call.costUsd = event.spent?.costUsd ?? 0
    failed(call, event, oneLine(textOf(event.message.content), 160))
    end(call, at, event.seq)
  }

  #begin(kind: SpanKind, { seq, time, ...event }: AgentEvent, at: number, name: string): DraftSpan {
    const callId = 'callId' in event ? ` ${event.callId}` : ''
    const span: DraftSpan = {
      key: `${seq} ${kind}${callId} ${name}`,
      kind,
      seq,
      endSeq: null,
      time,
      from: at,
      to: null,
      name,
      words: '',
      parts: [],
      inside: [],
      waitedMs: 0,
      costUsd: 0,
    }
    const parent =
      kind === 'agent' || kind === 'run' ? undefined : kind === 'turn' ? this.#run : (this.#turn ?? this.#run)
    ;(parent?.inside ?? this.#roots).push(span)
    return span
  }

  #call(event: FirstEvent, at: number): DraftSpan {
    const { callId, name, input } = event
    const known = this.#calls.get(callId)
    if (known !== undefined) return known
    const call = this.#begin('call', event, at, name)
    call.words = callLine(name, input).slice(name.length).trim()
    this.#calls.set(callId, call)
    return call
  }

  /** Starts the part of a reply in which the model is asked. The time before was not the model's. */
  #asks(at: number): void {
    const reply = this.#reply
    if (reply === undefined) return
    delete reply.isCut
    if (reply.parts.length === 0) {
      reply.from = at
      const siblings = this.#turn?.inside ?? []
      // After what came before the request.
      if (siblings.at(-1) !== reply && siblings.includes(reply))
        siblings.push(...siblings.splice(siblings.indexOf(reply), 1))
    } else if (reply.parts.at(-1)?.kind === 'queued' && reply.parts.length === 1) this.#part(reply, 'first', at)
  }

  #part(span: DraftSpan | undefined, kind: SpanPartKind, at: number): void {
    if (span === undefined || span.to !== null) return
    const last = span.parts.at(-1)
    if (last?.kind === kind && last.to === null) return
    endParts(span, at)
    span.parts.push({ kind, from: at, to: null })
  }

  #endReply(reply: DraftSpan, at: number, event: EventOf<'reply.end' | 'reply.reset'>): void {
    delete reply.isCut
    reply.costUsd = event.costUsd ?? 0
    end(reply, at, event.seq)
    for (const span of [this.#turn, this.#run]) if (span !== undefined) span.costUsd += reply.costUsd
  }

  /** Ends the turn. `isOver`: true if it came to its own end. */
  #endTurn(at: number, { seq }: AgentEvent, isOver = false): void {
    const turn = this.#turn
    this.#dropIdleReply()
    for (const span of [this.#reply, this.#brake, ...this.#calls.values()]) if (span !== undefined) cut(span, at, seq)
    this.#calls.clear()
    this.#reply = this.#brake = this.#turn = undefined
    if (turn === undefined) return
    if (isOver) end(turn, at, seq)
    else cut(turn, at, seq)
  }

  #endRun(at: number, event: AgentEvent, isOver = false): void {
    const run = this.#run
    const isWhole = isOver && this.#calls.size === 0
    this.#endTurn(at, event, isWhole)
    this.#run = undefined
    if (run === undefined) return
    if (isOver) end(run, at, event.seq)
    else cut(run, at, event.seq)
  }

  /** Drops the span of an attempt that was announced and never made. */
  #dropIdleReply(): void {
    const reply = this.#reply
    if (reply?.isCut !== true) return
    const siblings = (this.#turn ?? this.#run)?.inside ?? this.#roots
    const place = siblings.indexOf(reply)
    if (place >= 0) siblings.splice(place, 1)
    this.#reply = undefined
  }

  /** Marks the turn and the run as waiting while all open calls wait for people. */
  #waits(at: number): void {
    const calls = [...this.#calls.values()]
    const isWaiting = calls.length > 0 && calls.every((call) => isPart(call, 'waiting'))
    for (const span of [this.#turn, this.#run]) {
      if (span === undefined || isPart(span, 'waiting') === isWaiting) continue
      if (isWaiting) this.#part(span, 'waiting', at)
      else endParts(span, at)
    }
  }

  #open(): DraftSpan[] {
    const own = [this.#run, this.#turn, this.#reply, this.#brake].filter((span) => span !== undefined)
    return [...own, ...this.#calls.values(), ...this.#agents.values()]
  }
}

const isPart = ({ parts }: DraftSpan, kind: SpanPartKind): boolean => {
  const last = parts.at(-1)
  return last?.kind === kind && last.to === null
}

function failed(span: DraftSpan, event: AgentEvent, why = ''): void {
  if (isFailure(event)) span.error = why
}

function endParts(span: DraftSpan, at: number): void {
  const last = span.parts.at(-1)
  if (last === undefined || last.to !== null) return
  last.to = at
  if (last.from === at) span.parts.pop()
  if (last.kind === 'waiting') span.waitedMs += at - last.from
}

function end(span: DraftSpan, at: number, seq: number): void {
  if (span.to !== null) return
  endParts(span, at)
  span.to = at
  span.endSeq = seq
}

function cut(span: DraftSpan, at: number, seq: number): void {
  if (span.to !== null) return
  end(span, at, seq)
  span.isCut = true
}
