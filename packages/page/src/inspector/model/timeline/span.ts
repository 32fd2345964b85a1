/** `agent`: a sub-agent that works beside its parent; `brake`: a compaction, or a policy that decides. */
export type SpanKind = 'run' | 'turn' | 'reply' | 'call' | 'agent' | 'brake'

/**
 * `queued`: waits for its turn at a model, for another attempt, or for a client; `first`: asked, no token yet; `streaming`: tokens come;
 * `work`: a tool, or a reply of which no more is known; `waiting`: for a person.
 */
export type SpanPartKind = 'queued' | 'first' | 'streaming' | 'work' | 'waiting'

/** A part of a span with one activity. Times as in `Span`. */
export interface SpanPart {
  readonly kind: SpanPartKind
  readonly from: number
  readonly to: number | null
}

/**
 * A period of work. Times are milliseconds since the log began, by a clock that never goes back; `null`: not ended.
 * The spans inside it lie within its times, in the order they began.
 */
export interface Span {
  /** Unique within its log. */
  readonly key: string
  readonly kind: SpanKind
  /** `seq` of the record with which the span began; `endSeq`: of the record with which it ended. */
  readonly seq: number
  readonly endSeq: number | null
  /** Start of the span by the clock of the log, in epoch milliseconds. */
  readonly time: number
  readonly from: number
  readonly to: number | null
  readonly name: string
  /** Further facts about the span, on one line. */
  readonly words: string
  readonly parts: readonly SpanPart[]
  readonly inside: readonly Span[]
  /** The part of `to - from` that people took to decide, in milliseconds, as far as it has ended. */
  readonly waitedMs: number
  /** Cost in US dollars, for a run and a sub-agent with everything below. 0 if there is none or it is not known. */
  readonly costUsd: number
  /** Reason of the span's failure; empty if none was given. `undefined`: the span did not fail. */
  readonly error?: string
  /** Id of the sub-agent that did the work, if it has a log. */
  readonly childId?: string
  /** True if the span was cut off: its run ended, or its process died. */
  readonly isCut?: true
  /** True if the clock was put back during the span. */
  readonly clockChanged?: true
}
