/** `agent`: a sub-agent that works beside its parent; `brake`: a compaction, or a policy that decides. */
export type SpanKind = 'run' | 'turn' | 'reply' | 'call' | 'agent' | 'brake'

/**
 * `queued`: waits for its turn at a model, for another attempt, or for a client; `first`: asked, no token yet; `streaming`: tokens come;
 * `work`: a tool, or a reply of which no more is known; `waiting`: for a person.
 */
export type SpanPartKind = 'queued' | 'first' | 'streaming' | 'work' | 'waiting'

/** A part of a span in which it did one thing; times as in `Span`. */
export interface SpanPart {
  readonly kind: SpanPartKind
  readonly from: number
  readonly to: number | null
}

/**
 * A period of work. Times are milliseconds since the log began, by a clock that never goes back; `null`: it has not ended. Spans inside it
 * lie within its times, in the order they began.
 */
export interface Span {
  /** Unique within its log. */
  readonly key: string
  readonly kind: SpanKind
  /** `seq` of the record that it began with; `endSeq`: of the record that it ended with. */
  readonly seq: number
  readonly endSeq: number | null
  /** Time at which it began, by the clock of the log: epoch milliseconds. */
  readonly time: number
  readonly from: number
  readonly to: number | null
  readonly name: string
  /** Further facts about it, on one line. */
  readonly words: string
  readonly parts: readonly SpanPart[]
  readonly inside: readonly Span[]
  /** The share of `to - from` in milliseconds that people took to decide, as far as it has ended. */
  readonly waitedMs: number
  /** US dollars; for a run and a sub-agent, everything below included. `0`: none, or not known. */
  readonly costUsd: number
  /** Reason of its failure; empty if no reason was given. `undefined`: it did not fail. */
  readonly error?: string
  /** The sub-agent that did it, if it has a log. */
  readonly childId?: string
  /** True if it was cut off: its run ended, or its process died. */
  readonly isCut?: true
  /** True if the clock was put back while it lasted. */
  readonly clockChanged?: true
}
