import type { Span } from './span.ts'

/** One line of the bars: a span, its position, and its depth inside others. */
export interface SpanRow {
  /** Unique key, which stays the same while the row exists. */
  readonly key: string
  readonly span: Span
  readonly agentId: string
  /** Depth of the row, from 1. */
  readonly level: number
  /** True if the row is open; `undefined` if there is nothing inside. */
  readonly isOpen?: boolean
  /** Times of the span, limited to those of the row around it. */
  readonly from: number
  readonly to: number | null
  /** Remark in place of a sub-agent's spans: its log is being read, or there is none. */
  readonly note?: string
}

/** Returns the log of a sub-agent, as far as it is read; `undefined` if it was not asked for. */
export type LogInside = (key: string) => { readonly roots: readonly Span[]; readonly isRead: boolean } | undefined

export interface SpanRowOptions {
  readonly agentId: string
  /** Keys of the rows that a person has opened or closed. */
  readonly flipped: ReadonlySet<string>
  readonly logOf: LogInside
  /** Position of the moment of the past that is shown: nothing later is shown. `null`: the newest moment; spans without an end continue. */
  readonly until: number | null
  /** Turns that began with a record before this are closed at first, unless something failed in them. */
  readonly closedBefore: number
}

/** Returns the rows to show, each below the span that it is inside of. Pure. */
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

/** Deepest level of rows; deeper spans are opened on a page of their own. */
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
    const note = log === undefined || logSpans.length > 0 ? undefined : log.isRead ? 'log is empty' : 'loading the log'
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

/** Returns the spans of a sub-agent during a call: the runs of its log that began no earlier, or for a single run the spans inside it. */
function spansDuring({ time, to }: Span, roots: readonly Span[], until: number | null): readonly Span[] {
  const upTo = (spans: readonly Span[]): readonly Span[] =>
    until === null ? spans : spans.filter(({ from }) => from <= until)
  const since = roots.filter((root) => root.time >= time && (to === null || root.from <= to))
  // Clocks of two logs may differ.
  const found = since.length > 0 ? since : roots
  return upTo(found.length === 1 && found[0]!.inside.length > 0 ? found[0]!.inside : found)
}

const inside = (time: number, { from, to }: Place): number => Math.max(from, to === null ? time : Math.min(to, time))

/**
 * Returns the index of the outermost row that a record began or ended, or else of the innermost row during which it was written; `-1`:
 * none. Pure.
 */
export function rowOf(rows: readonly SpanRow[], agentId: string, seq: number): number {
  const isOwn = (row: SpanRow, test: (span: Span) => boolean): boolean => row.agentId === agentId && test(row.span)
  const exact = rows.findIndex((row) => isOwn(row, (span) => span.seq === seq || span.endSeq === seq))
  if (exact >= 0) return exact
  return rows.findLastIndex((row) => isOwn(row, (span) => span.seq <= seq && seq <= (span.endSeq ?? Infinity)))
}
