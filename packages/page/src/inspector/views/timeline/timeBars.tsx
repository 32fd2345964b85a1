import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import type { Clock } from '../../../../../../src/protocol/ports/clock.ts'
import { dayTime } from '../../model/words/dayTime.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { emptyRoute } from '../../model/shell/route.ts'
import { treeMove } from '../../model/conversation/rowKeys.ts'
import type { SpanFold } from '../../model/timeline/spanFold.ts'
import { SpanLogs, SpanSource } from '../../model/timeline/spanLogs.ts'
import { rowOf, spanRows, type SpanRow } from '../../model/timeline/spanRows.ts'
import {
  panned,
  roomFor,
  ticksIn,
  timeAxis,
  zoomed,
  type AxisWindow,
  type Tick,
} from '../../model/timeline/timeAxis.ts'
import { toggled } from '../../model/words/toggled.ts'
import { EmptyState } from '../../parts/emptyState.tsx'
import { Icon } from '../../parts/icon.tsx'
import { SquareButton } from '../../parts/squareButton.tsx'
import { VirtualList } from '../../parts/virtualList.tsx'
import { BarRow } from './barRow.tsx'

/** Number of turns above which old turns are closed at first. */
const mostTurns = 30
/** Pixels of a label on the axis. */
const labelWidth = 62

export interface TimeBarsProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  /** Content before the legend. */
  readonly children?: ComponentChildren
}

/** Spans as bars on one axis: runs, turns, replies, calls, and the work of sub-agents in them. */
export function TimeBars({ inspector, view, children }: TimeBarsProps): JSX.Element {
  const { events, eventCount, status, records, isRunning } = view.state.value
  const [source] = useState(() => new SpanSource())
  const fold = source.of(events, eventCount)
  const { connection } = inspector.attached.value
  const logs = useMemo(() => new SpanLogs(connection.client, inspector.batch), [connection, view.agentId])
  useEffect(() => () => logs.close(), [logs])
  const [flipped, setFlipped] = useState<ReadonlySet<string>>(new Set<string>())
  const [closedBefore] = useState(() => oldTurns(fold))
  const active = useSignal<string | null>(null)

  const firstOpen = fold.roots.find(({ to }) => to === null)
  const isGrowing = status === 'live' && isRunning && firstOpen !== undefined
  const now = usePresent(inspector.clock, fold, isGrowing)
  const base = firstOpen?.from ?? 0
  const room = useComputed(() => roomFor(now.value - base)).value
  const until = isGrowing ? null : fold.end
  const logVersion = logs.version.value
  const rows = useMemo(
    () => spanRows(fold.roots, { agentId: view.agentId, flipped, logOf: (key) => logs.of(key), until, closedBefore }),
    [fold, fold.version, flipped, logs, logVersion, until, view.agentId],
  )
  const axis = useMemo(
    () => timeAxis(fold.roots.map(({ from, to }) => ({ from, to: to ?? (isGrowing ? base + room : fold.end) }))),
    [fold, fold.version, isGrowing, base, room],
  )
  const open = rows.filter(({ span, isOpen }) => isOpen === true && span.childId !== undefined)
  useEffect(() => {
    logs.keep(new Set(open.map(({ key }) => key)))
    for (const { key, span, from } of open) logs.open(key, span.childId!, { time: span.time, at: from })
  })
  const [zoom, setZoom] = useState<AxisWindow | null>(null)
  const whole = { from: 0, to: axis.length }
  const window = zoom === null ? whole : panned(zoom, axis.length, 0)
  const look = (next: AxisWindow): void => setZoom(next.to - next.from >= axis.length ? null : next)
  const scale = (factor: number, around = (window.from + window.to) / 2): void =>
    look(zoomed(window, axis.length, factor, around))

  const event = inspector.event.value
  const byKey = rows.findIndex(({ key }) => key === active.value)
  useEffect(() => {
    if (event === null) return
    const row = rows[byKey]
    if (row === undefined || !isOf(row, event, view.agentId))
      active.value = rows[rowOf(rows, view.agentId, event.seq)]?.key ?? null
  }, [event, rows.length > 0])
  const choose = (row: SpanRow): void => {
    active.value = row.key
    const shown = row.agentId === view.agentId ? records[recordOf(row) - 1] : undefined
    if (shown !== undefined) inspector.showEvent(shown as LogRecord & AgentEvent)
  }
  const toggle = (row: SpanRow): void => {
    if (row.isOpen !== undefined) setFlipped(toggled(flipped, row.key))
  }
  const enter = (row: SpanRow): void => {
    const agent = row.agentId === view.agentId ? row.span.childId : row.agentId
    if (agent === undefined) choose(row)
    else inspector.go({ ...emptyRoute, agent, view: 'timeline' })
  }
  const onKeyDown = (pressed: KeyboardEvent): void => {
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return
    const { key, shiftKey } = pressed
    const around = rows[byKey] === undefined ? undefined : axis.place(rows[byKey].from)
    const centre = around !== undefined && around >= window.from && around <= window.to ? around : undefined
    if (shiftKey && (key === 'ArrowLeft' || key === 'ArrowRight'))
      look(panned(window, axis.length, key === 'ArrowLeft' ? -0.2 : 0.2))
    else if (key === '+' || key === '=') scale(1 / 1.5, centre)
    else if (key === '-') scale(1.5, centre)
    else if (key === 'Backspace') setZoom(null)
    else {
      const move = treeMove(key, rows, byKey, ({ level }) => level)
      if (move === undefined) return
      if (move.type === 'go') choose(rows[move.to]!)
      else if (move.type === 'toggle') toggle(rows[move.at]!)
      else if (rows[move.at] !== undefined) enter(rows[move.at]!)
    }
    pressed.preventDefault()
  }
  const body = useRef<HTMLDivElement>(null)
  const ruler = useRef<HTMLSpanElement>(null)
  useWheel(body, (share, by) => {
    if (by.zoom === 0) return look(panned(window, axis.length, by.pan))
    scale(1.0015 ** by.zoom, window.from + share * (window.to - window.from))
  })

  const start = records[0]?.time
  const ticks = ticksIn(axis, window, (labelWidth / useWidth(ruler)) * 100, (index) =>
    startWords(fold, axis.stretches[index]!.from, start),
  )
  if (rows.length === 0)
    return (
      <>
        <div class="filters">{children}</div>
        <EmptyState icon="clock" title="No runs yet">
          <p>Runs, turns, replies and calls appear here as bars.</p>
        </EmptyState>
      </>
    )
  return (
    <>
      <div class="filters bars-bar">
        {children}
        <Legend />
        <div class="bars-zoom" role="group" aria-label="Visible time range">
          <SquareButton label="Zoom in (+)" isQuiet onClick={() => scale(1 / 1.5)}>
            <Icon name="plus" />
          </SquareButton>
          <SquareButton label="Zoom out (-)" isQuiet onClick={() => scale(1.5)}>
            <span aria-hidden="true">−</span>
          </SquareButton>
          <button type="button" class="button quiet" disabled={zoom === null} onClick={() => setZoom(null)}>
            Whole
          </button>
        </div>
      </div>
      <div class="bars-head" aria-hidden="true">
        <span />
        <span class="bars-ruler" ref={ruler}>
          {ticks.map(({ left, label, isStart }) => (
            <span key={`${left}`} class={isStart ? 'tick is-start' : 'tick'} style={{ left: `${left}%` }}>
              {label}
            </span>
          ))}
        </span>
        <span class="bar-took">Took</span>
        <span class="bar-cost">Cost</span>
      </div>
      <div class="bars-body" ref={body}>
        <Grid ticks={ticks} />
        <VirtualList
          class="bars"
          count={rows.length}
          rowHeight={28}
          keyOf={(index) => rows[index]?.key ?? index}
          isFollowing={isGrowing && byKey < 0}
          scrollTo={byKey < 0 ? null : byKey}
          scrollMark={active.value}
          attributes={{
            role: 'tree',
            'aria-label': 'Spans, oldest first',
            'aria-activedescendant': byKey < 0 ? undefined : `bar-${byKey}`,
            onKeyDown,
          }}
          row={(index) => (
            <BarRow
              row={rows[index]!}
              {...{ index, axis, window, now }}
              isOwn={rows[index]!.agentId === view.agentId}
              isPast={status === 'past'}
              isChosen={index === byKey}
              onChoose={() => choose(rows[index]!)}
              onToggle={() => toggle(rows[index]!)}
            />
          )}
        />
      </div>
    </>
  )
}

/** Returns the record to show for a row: the end of a span that failed or has a result, else its beginning. */
const recordOf = ({ span: { kind, seq, endSeq, error } }: SpanRow): number =>
  endSeq !== null && (error !== undefined || kind === 'reply' || kind === 'call') ? endSeq : seq

const isOf = ({ agentId, span }: SpanRow, event: AgentEvent, own: string): boolean =>
  agentId === own && (span.seq === event.seq || span.endSeq === event.seq)

const seconds = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** Formats the time of day at which a span began, by its log's clock: to the second, as one run follows another within a minute. */
function startWords(fold: SpanFold, from: number, begun: number | undefined): string {
  const root = fold.roots.find((span) => span.from === from)
  const words = root === undefined ? '' : dayTime(root.time, begun)
  return /^\d\d:\d\d$/.test(words) ? seconds.format(root!.time) : words
}

function oldTurns({ roots }: SpanFold): number {
  const turns = roots.flatMap(({ inside }) => inside.filter(({ kind }) => kind === 'turn'))
  return turns.length > mostTurns ? turns.at(-10)!.seq : 0
}

const Legend = (): JSX.Element => (
  <span class="bars-legend">
    {(['queued', 'first', 'streaming', 'work', 'waiting'] as const).map((kind) => (
      <span key={kind}>
        <span class={`bar-part is-${kind}`} /> {legend[kind]}
      </span>
    ))}
  </span>
)

const legend = {
  queued: 'queued',
  first: 'first token',
  streaming: 'streaming',
  work: 'tool',
  waiting: 'waits for you',
} as const

const Grid = ({ ticks }: { readonly ticks: readonly Tick[] }): JSX.Element => (
  <div class="bars-grid" aria-hidden="true">
    <span class="bars-lines">
      {ticks.map(({ left, isStart }) => (
        <span key={`${left}`} class={isStart ? 'is-start' : ''} style={{ left: `${left}%` }} />
      ))}
    </span>
  </div>
)

/** Returns the width of an element in pixels, also when it changes. */
function useWidth(place: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(500)
  useEffect(() => {
    const { current } = place
    if (current === null) return undefined
    const observer = new ResizeObserver(() => setWidth(Math.max(1, current.clientWidth)))
    observer.observe(current)
    return () => observer.disconnect()
  }, [place.current])
  return width
}

/** Returns the position of the present on the axis, updated ten times a second while a span grows. */
function usePresent(clock: Clock, fold: SpanFold, isGrowing: boolean): ReadonlySignal<number> {
  const now = useSignal(fold.at(clock.now()))
  const latest = useRef(fold)
  latest.current = fold
  useEffect(() => {
    if (!isGrowing) return undefined
    let cancel = (): void => {}
    const tick = (): void => {
      now.value = latest.current.at(clock.now())
      cancel = clock.after(100, tick)
    }
    tick()
    return () => cancel()
  }, [clock, isGrowing])
  return now
}

/** Zooms around the pointer on a wheel with Ctrl; a sideways wheel, or one with Shift, moves. `share`: position of the pointer, from 0 to 1. */
function useWheel(
  place: { readonly current: HTMLElement | null },
  move: (share: number, by: { readonly zoom: number; readonly pan: number }) => void,
): void {
  const latest = useRef(move)
  latest.current = move
  useEffect(() => {
    const { current } = place
    if (current === null) return undefined
    const onWheel = (event: WheelEvent): void => {
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX
      const isZoom = event.ctrlKey || event.metaKey
      if (!isZoom && Math.abs(sideways) <= Math.abs(event.shiftKey ? 0 : event.deltaY)) return
      const lane = current.querySelector('.bars-lines')?.getBoundingClientRect()
      if (lane === undefined || lane.width === 0) return
      event.preventDefault()
      const share = Math.min(1, Math.max(0, (event.clientX - lane.left) / lane.width))
      latest.current(share, isZoom ? { zoom: event.deltaY, pan: 0 } : { zoom: 0, pan: sideways / lane.width })
    }
    // Not passive: the page itself is not to be zoomed.
    current.addEventListener('wheel', onWheel, { passive: false })
    return () => current.removeEventListener('wheel', onWheel)
  })
}
