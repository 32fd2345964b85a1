import type { ReadonlySignal } from '@preact/signals'
import type { JSX } from 'preact'
import { duration, money, tookWords } from '../../../../../charts/src/amounts.ts'
import { hitMarks } from '../../model/search/hitMarks.ts'
import type { SpanRow } from '../../model/timeline/spanRows.ts'
import { barIn, type AxisWindow, type TimeAxis } from '../../model/timeline/timeAxis.ts'
import { turnWords } from '../../model/timeline/turnWords.ts'
import { forDisplay } from '../../model/words/shortText.ts'
import { Icon } from '../../parts/icon.tsx'

export interface BarRowProps {
  readonly row: SpanRow
  readonly index: number
  readonly axis: TimeAxis
  readonly window: AxisWindow
  /** Position of the present on the axis; read only for spans that have not ended. */
  readonly now: ReadonlySignal<number>
  /** True if the row belongs to the agent that is shown, and not to one below it. */
  readonly isOwn: boolean
  /** True if a moment of the past is shown: a span without an end had not ended then. */
  readonly isPast: boolean
  readonly isChosen: boolean
  readonly onChoose: () => void
  readonly onToggle: () => void
}

/** One line of the bars. */
export function BarRow({
  row,
  index,
  axis,
  window,
  now,
  isOwn,
  isPast,
  isChosen,
  onChoose,
  onToggle,
}: BarRowProps): JSX.Element {
  const { span, level, isOpen, to, note } = row
  const isCut = span.isCut === true || (span.to === null && to !== null && !isPast)
  const words = wordsOf(row)
  const { records } = hitMarks.value
  const isHit = isOwn && (records.has(span.seq) || records.has(span.endSeq ?? span.seq))
  return (
    <div
      class={`bar-row is-${span.kind} ${span.error === undefined ? '' : 'is-bad'} ${isHit ? 'is-hit' : ''}`}
      role="treeitem"
      id={`bar-${index}`}
      aria-level={level}
      aria-expanded={isOpen}
      aria-selected={isChosen}
      onClick={onChoose}
      onDblClick={onToggle}
    >
      <span class="bar-name" style={{ paddingLeft: `${Math.min(level - 1, 8) * 14}px` }} title={titleOf(row)}>
        <span
          class={`fold ${isOpen === undefined ? 'none' : isOpen ? 'open' : ''}`}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation()
            onToggle()
          }}
        >
          <Icon name="chevron" />
        </span>
        <span class="cut">
          <bdi>{forDisplay(span.name)}</bdi>
          {span.error === undefined ? null : <span class="bar-error"> failed{span.error && `: ${span.error}`}</span>}
          {isCut ? <span class="faint"> unfinished</span> : null}
          {note === undefined ? null : <span class="faint"> {note}</span>}
          <bdi class="bar-words"> {words}</bdi>
        </span>
      </span>
      <span class="bar-lane" aria-hidden="true">
        {to === null ? <Growing {...{ row, axis, window, now }} /> : <Bar {...{ row, axis, window }} end={to} />}
      </span>
      <span class="bar-took number">
        {to === null ? <GrowingTime row={row} now={now} /> : <Took row={row} end={to} />}
        {span.clockChanged ? <span class="bar-jump"> clock changed</span> : null}
      </span>
      <span class="bar-cost number">{money(span.costUsd)}</span>
    </div>
  )
}

const wordsOf = ({ span, to }: SpanRow): string => (span.kind === 'turn' ? turnWords(span, to) : span.words)

const titleOf = (row: SpanRow): string => titleWith(row.span, wordsOf(row))

const titleWith = (span: SpanRow['span'], words: string): string =>
  [span.name, words, span.error]
    .filter(Boolean)
    .map((text) => forDisplay(text!))
    .join('\n')

interface BarProps {
  readonly row: SpanRow
  readonly axis: TimeAxis
  readonly window: AxisWindow
  readonly end: number
}

function Bar({ row: { span, from }, axis, window, end }: BarProps): JSX.Element | null {
  const piece = (start: number, stop: number, kind: string): JSX.Element | null => {
    const place = barIn(window, axis.place(start), axis.place(stop))
    if (place === null) return null
    return <span key={`${kind} ${start}`} class={kind} style={{ left: `${place.left}%`, width: `${place.width}%` }} />
  }
  return (
    <>
      {piece(from, end, 'bar')}
      {span.parts.map((part) =>
        piece(
          Math.max(from, Math.min(end, part.from)),
          Math.max(from, Math.min(end, part.to ?? end)),
          `bar-part is-${part.kind}`,
        ),
      )}
    </>
  )
}

interface GrowingProps extends Omit<BarProps, 'end'> {
  readonly now: ReadonlySignal<number>
}

/** Bar of a span that has not ended: the only part that is drawn anew as time goes by. */
const Growing = ({ now, ...props }: GrowingProps): JSX.Element => (
  <Bar {...props} end={Math.max(props.row.from, now.value)} />
)

const GrowingTime = ({ row, now }: Pick<GrowingProps, 'row' | 'now'>): JSX.Element => (
  <Took row={row} end={Math.max(row.from, now.value)} />
)

/** Duration of a span, and apart from it the time that people took. */
function Took({ row: { span, from }, end }: { readonly row: SpanRow; readonly end: number }): JSX.Element {
  const last = span.parts.at(-1)
  const waits = last?.kind === 'waiting' && last.to === null ? Math.max(0, end - last.from) : 0
  const waitedMs = Math.min(end - from, span.waitedMs + waits)
  const words = tookWords({ ms: end - from - waitedMs, waitedMs })
  return (
    <>
      <span class="bar-took-all">{words}</span>
      <span class="bar-took-short" title={words} aria-hidden="true">
        {duration(end - from)}
      </span>
    </>
  )
}
