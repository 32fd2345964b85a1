import type { Span } from './span.ts'

/** One line of the bars: a span, where it lies, and how deep it is inside others. */
export interface SpanRow {
  /** Unique among the rows, and the same as long as there is the row. */
  readonly key: string
  readonly span: Span
  readonly agentId: string
  /** From 1. */
  readonly level: number
  /** `undefined`: there is nothing inside. */
  readonly isOpen?: boolean
  /** As those of the span, and never outside the row that it is inside of. */
  readonly from: number
  readonly to: number | null
  /** The log of its sub-agent is being read, or there is none. */
  readonly note?: string
}

/** The log of a sub-agent, as far as it is read; `undefined`: it was not asked for. */
export type LogInside = (key: string) => { readonly roots: readonly Span[]; readonly isRead: boolean } | undefined

export interface SpanRowOptions {
  readonly agentId: string
  /** Rows that are opened or closed, against what they are at first. */
  readonly flipped: ReadonlySet<string>
  readonly logOf: LogInside
  /** Of a moment of the past, where it lies: nothing later is shown. `null`: what has no end goes on. */
  readonly until: number | null
  /** Turns that began with a record before this are closed at first, unless something failed in them. */
  readonly closedBefore: number
}

/** The rows to show of what took time, each below what it is inside of. Pure. */
export function spanRows(roots: readonly Span[], options: SpanRowOptions): readonly SpanRow[] {
  const rows: SpanRow[] = []
  addRows(rows, roots, { agentId: options.agentId, prefix: '', level: 1, from: 0, to: options.until }, options)
  return rows
}

interface Place {
  readonly agentId: string
  readonly prefix: string
  readonly level: number
  readonly from: number
  readonly to: number | null
}

/** Beyond this, what is inside is opened on a page of its own. */
const mostLevels = 24

function addRows(rows: SpanRow[], spans: readonly Span[], place: Place, options: SpanRowOptions): void {
  const { agentId, prefix, level } = place
  for (const span of spans) {
    const key = prefix + span.key
    const [from, to] = [inside(span.from, place), span.to === null ? place.to : inside(span.to, place)]
    const isParent = (span.inside.length > 0 || span.childId !== undefined) && level < mostLevels
    const isOpen = isOpenAtFirst(span, agentId, options) !== options.flipped.has(key)
    const log = span.childId !== undefined && isOpen ? options.logOf(key) : undefined
    const logSpans = log === undefined ? [] : spansDuring(span, log.roots, options.until)
    const note =
      log === undefined || logSpans.length > 0 ? undefined : log.isRead ? 'nothing in its log' : 'reading its log'
    rows.push({ key, span, agentId, level, from, to, ...(isParent ? { isOpen } : {}), ...(note ? { note } : {}) })
    if (!isParent || !isOpen) continue
    const below = { prefix: `${key}/`, level: level + 1, from, to }
    addRows(rows, span.inside, { ...below, agentId }, options)
    if (span.childId !== undefined) addRows(rows, logSpans, { ...below, agentId: span.childId }, options)
  }
}

function isOpenAtFirst(span: Span, agentId: string, { closedBefore, ...options }: SpanRowOptions): boolean {
  if (span.childId !== undefined) return false
  return (
    agentId !== options.agentId ||
    span.kind !== 'turn' ||
    span.seq >= closedBefore ||
    span.inside.some(({ error }) => error !== undefined)
  )
}

/** What a sub-agent did in a call: of the runs of its log those that began no earlier, and of a single one what is inside it. */
function spansDuring({ time, to }: Span, roots: readonly Span[], until: number | null): readonly Span[] {
  const upTo = (spans: readonly Span[]): readonly Span[] =>
    until === null ? spans : spans.filter(({ from }) => from <= until)
  const since = roots.filter((root) => root.time >= time && (to === null || root.from <= to))
  // Clocks of two logs may differ.
  const found = since.length > 0 ? since : roots
  return upTo(found.length === 1 && found[0]!.inside.length > 0 ? found[0]!.inside : found)
}

const inside = (time: number, { from, to }: Place): number => Math.max(from, to === null ? time : Math.min(to, time))

/** The outermost row that a record began or ended, or else the innermost of those during which it was written; `-1`: none. Pure. */
export function rowOf(rows: readonly SpanRow[], agentId: string, seq: number): number {
  const isOwn = (row: SpanRow, test: (span: Span) => boolean): boolean => row.agentId === agentId && test(row.span)
  const exact = rows.findIndex((row) => isOwn(row, (span) => span.seq === seq || span.endSeq === seq))
  if (exact >= 0) return exact
  return rows.findLastIndex((row) => isOwn(row, (span) => span.seq <= seq && seq <= (span.endSeq ?? Infinity)))
}
