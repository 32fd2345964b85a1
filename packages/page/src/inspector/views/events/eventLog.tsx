import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { duration } from '../../../../../charts/src/amounts.ts'
import { exactTime, isoTime } from '../../model/words/dayTime.ts'
import { groupOf } from '../../model/agent/eventGroups.ts'
import { isLogged } from '../../model/agent/eventList.ts'
import { nodeOf } from '../../model/events/eventNode.ts'
import {
  everyEvent,
  EventRows,
  openedRows,
  rowText,
  type EventFilter,
  type EventRow,
} from '../../model/events/eventRows.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import { hitMarks } from '../../model/search/hitMarks.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { toggled } from '../../model/words/toggled.ts'
import { EmptyState } from '../../parts/emptyState.tsx'
import { VirtualList } from '../../parts/virtualList.tsx'
import { EventFilters } from './eventFilters.tsx'

export interface EventLogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  /** Content before the filters. */
  readonly children?: ComponentChildren
}

/** All events, in order: records of the log, and events seen live beside them. */
export function EventLog({ inspector, view, children }: EventLogProps) {
  const { events, eventCount, status, records } = view.state.value
  const [filter, setFilter] = useState<EventFilter>(everyEvent)
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set<string>())
  const [source] = useState(() => new EventRows())
  const all = source.of(events, eventCount, filter)
  const rows = useMemo(() => openedRows(all, open), [all, source.version, open])
  const begun = records[0]?.time ?? 0
  const chosen = inspector.event.value
  const active = useMemo(
    () =>
      chosen === null
        ? -1
        : rows.findLastIndex(({ lead, events: [first], events: of }) =>
            of.length === 1 ? first === chosen : lead === chosen,
          ),
    [rows, source.version, chosen],
  )
  useStartingPoint(inspector, rows)

  const choose = (index: number): void => {
    const row = rows[index]
    if (row !== undefined) inspector.showEvent(row.lead)
  }
  const toggle = (row: EventRow): void => {
    if (row.events.length > 1) setOpen(toggled(open, row.key))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const count = rows.length
    const row = rows[active]
    const from = active < 0 ? count : active
    const isOpen = row !== undefined && open.has(row.key)
    if (row !== undefined && (event.key === 'Enter' || event.key === (isOpen ? 'ArrowLeft' : 'ArrowRight'))) toggle(row)
    else {
      const target = {
        ArrowDown: from + 1,
        ArrowUp: from - 1,
        PageDown: from + 20,
        PageUp: from - 20,
        Home: 0,
        End: count - 1,
      }[event.key]
      if (target === undefined) return
      choose(Math.max(0, Math.min(count - 1, target)))
    }
    event.preventDefault()
  }

  return (
    <>
      <EventFilters filter={filter} counts={source.counts} shown={rows.length} onChange={setFilter}>
        {children}
      </EventFilters>
      {rows.length === 0 ? (
        <EmptyState icon="clock" title="No matching events" />
      ) : (
        <VirtualList
          class="events"
          count={rows.length}
          rowHeight={28}
          keyOf={(index) => rows[index]?.key ?? index}
          isFollowing={status === 'live' && active < 0}
          scrollTo={active < 0 ? null : active}
          scrollMark={chosen}
          attributes={{
            role: 'listbox',
            'aria-label': 'Events, oldest first',
            'aria-activedescendant': active < 0 ? undefined : `event-${active}`,
            onKeyDown,
          }}
          row={(index) => (
            <Row
              row={rows[index]!}
              before={rows[index - 1]}
              index={index}
              begun={begun}
              isChosen={index === active}
              isOpen={open.has(rows[index]!.key)}
              onChoose={() => choose(index)}
              onToggle={() => toggle(rows[index]!)}
            />
          )}
        />
      )}
    </>
  )
}

/** Starts the list at the node that was chosen in another view. */
function useStartingPoint(inspector: Inspector, rows: readonly EventRow[]): void {
  const isSet = useRef(false)
  useEffect(() => {
    if (isSet.current || rows.length === 0) return
    isSet.current = true
    const node = inspector.node.peek()
    if (node === null || inspector.event.peek() !== null) return
    const row = rows.findLast(({ lead }) => nodeOf(lead) === node)
    if (row !== undefined) inspector.event.value = row.lead
  })
}

interface RowProps {
  readonly row: EventRow
  readonly before: EventRow | undefined
  readonly index: number
  readonly begun: number
  readonly isChosen: boolean
  readonly isOpen: boolean
  readonly onChoose: () => void
  readonly onToggle: () => void
}

function Row({ row, before, index, begun, isChosen, isOpen, onChoose, onToggle }: RowProps) {
  const { lead, events } = row
  const [first] = events
  const last = before?.events.at(-1)
  const pause = last === undefined || first === undefined ? 0 : first.time - last.time
  const group = groupOf(lead)
  const isHit = events.some((event) => isLogged(event) && hitMarks.value.records.has(event.seq))
  return (
    <div
      class={`event-row ${isLogged(lead) ? '' : 'live'} ${group === 'error' ? 'is-bad' : ''} ${row.isPart ? 'is-part' : ''} ${isHit ? 'is-hit' : ''}`}
      role="option"
      id={`event-${index}`}
      aria-selected={isChosen}
      onClick={onChoose}
      onDblClick={onToggle}
    >
      <span class="event-seq faint number">{isLogged(lead) ? lead.seq : ''}</span>
      <time class="event-time faint number" dateTime={isoTime(lead.time)} title={exactTime(lead.time)}>
        +{duration(lead.time - begun)}
      </time>
      <span class={`kind is-${group}`} aria-hidden="true" />
      <span class="event-type">{lead.type}</span>
      <bdi class="event-text cut grow">{isOpen ? '' : rowText(row)}</bdi>
      {events.length > 1 ? (
        <span
          class="event-more number small"
          title={isOpen ? 'Collapse' : events.map(({ type }) => type).join(', ')}
          onClick={(event) => {
            event.stopPropagation()
            onToggle()
          }}
        >
          {isOpen ? '−' : `+${events.length - 1}`}
        </span>
      ) : null}
      {pause > 1_000 ? <span class="faint number small event-pause">{duration(pause)} later</span> : null}
      {pause < -1_000 ? <span class="number small event-pause is-jump">clock changed</span> : null}
    </div>
  )
}
