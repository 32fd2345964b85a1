/** `agent`: a sub-agent that works beside its parent; `brake`: a compaction, or a policy that decides. */
export type SpanKind = 'run' | 'turn' | 'reply' | 'call' | 'agent' | 'brake'

/**
 * `queued`: waits for its turn at a model, for another attempt, or for a client; `first`: asked, no token yet; `streaming`: tokens come;
 * `work`: a tool, or a reply of which no more is known; `waiting`: for a person.
 */
export type SpanPartKind = 'queued' | 'first' | 'streaming' | 'work' | 'waiting'

/** What a span did from when to when; times as in `Span`. */
export interface SpanPart {
  readonly kind: SpanPartKind
  readonly from: number
  readonly to: number | null
}

/**
 * Something that took time. Times are milliseconds since the log began, by a clock that never goes back; `null`: it still goes on. What is
 * inside a span lies within it, in the order it began.
 */
export interface Span {
  /** Unique within its log. */
  readonly key: string
  readonly kind: SpanKind
  /** Of the record it began with, and of the one it ended with. */
  readonly seq: number
  readonly endSeq: number | null
  /** When it began, by the clock of the log: epoch milliseconds. */
  readonly time: number
  readonly from: number
  readonly to: number | null
  readonly name: string
  /** What else there is to say of it, on one line. */
  readonly words: string
  readonly parts: readonly SpanPart[]
  readonly inside: readonly Span[]
  /** Of `to - from`, what people took to decide, as far as it has ended. */
  readonly waitedMs: number
  /** US dollars; of a run and a sub-agent with all below. `0`: nothing, or not known. */
  readonly costUsd: number
  /** What went wrong; empty when that was not said. `undefined`: nothing. */
  readonly error?: string
  /** The sub-agent that did it, if it has a log. */
  readonly childId?: string
  /** It was cut off: its run ended, or its process died. */
  readonly isCut?: true
  /** The clock was put back while it went on. */
  readonly clockChanged?: true
}
