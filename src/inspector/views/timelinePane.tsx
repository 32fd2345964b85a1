import { useRef, useState } from 'preact/hooks'
import type { AgentEvent } from '../../protocol/events.ts'
import { eventGroups, eventText, groupOf, nodeOf, type EventGroup } from '../model/eventWords.ts'
import { FilteredEvents } from '../model/filteredEvents.ts'
import { isLogged } from '../model/eventList.ts'
import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { duration } from '../../charts/amounts.ts'
import { formatCount } from '../model/numbers.ts'
import { EmptyState } from '../parts/emptyState.tsx'
import { toggled } from '../model/toggled.ts'
import { VirtualList } from '../parts/virtualList.tsx'

const clockTime = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** Everything that happened, in order: records of the log, and what was seen live beside them. */
export function TimelinePane({ inspector, view }: { readonly inspector: Inspector; readonly view: FollowedAgent }) {
  const { events, eventCount, status, records } = view.state.value
  const [hidden, setHidden] = useState<ReadonlySet<EventGroup>>(new Set<EventGroup>())
  const [active, setActive] = useState(-1)
  const filtered = useRef(new FilteredEvents())
  const shown = filtered.current.of(events, eventCount, hidden)
  const count = shown.length
  const begun = records[0]?.time ?? 0
  const chosen = inspector.event.value

  const toggle = (group: EventGroup): void => {
    setHidden(toggled(hidden, group))
    setActive(-1)
  }
  const choose = (index: number): void => {
    const event = shown[index]
    if (event === undefined) return
    setActive(index)
    inspector.event.value = event
    const node = nodeOf(event)
    if (node !== null) inspector.go({ node }, 'replace')
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const from = active < 0 ? count : active
    const target = {
      ArrowDown: from + 1,
      ArrowUp: from - 1,
      PageDown: from + 20,
      PageUp: from - 20,
      Home: 0,
      End: count - 1,
    }[event.key]
    if (target === undefined) return
    event.preventDefault()
    choose(Math.max(0, Math.min(count - 1, target)))
  }

  return (
    <div class="timeline">
      <Filters hidden={hidden} onToggle={toggle} count={count} />
      {count === 0 ? (
        <EmptyState icon="clock" title="No such events" />
      ) : (
        <VirtualList
          class="events"
          count={count}
          rowHeight={28}
          keyOf={(index) => index}
          isFollowing={status === 'live' && active < 0}
          scrollTo={active < 0 ? null : active}
          scrollMark={active}
          attributes={{
            role: 'listbox',
            'aria-label': 'Events, oldest first',
            'aria-activedescendant': active < 0 ? undefined : `event-${active}`,
            onKeyDown,
          }}
          row={(index) => (
            <EventRow
              event={shown[index]!}
              before={shown[index - 1]}
              index={index}
              begun={begun}
              isChosen={shown[index] === chosen}
              onChoose={() => choose(index)}
            />
          )}
        />
      )}
    </div>
  )
}

interface FiltersProps {
  readonly hidden: ReadonlySet<EventGroup>
  readonly onToggle: (group: EventGroup) => void
  /** Events shown. */
  readonly count: number
}

const Filters = ({ hidden, onToggle, count }: FiltersProps) => (
  <div class="filters" role="group" aria-label="Kinds of events">
    {eventGroups.map((group) => (
      <button key={group} type="button" class="chip" aria-pressed={!hidden.has(group)} onClick={() => onToggle(group)}>
        <span class={`kind is-${group}`} aria-hidden="true" />
        {group}
      </button>
    ))}
    <span class="grow" />
    <span class="faint number small">{formatCount(count)} events</span>
  </div>
)

interface RowProps {
  readonly event: AgentEvent
  readonly before: AgentEvent | undefined
  readonly index: number
  readonly begun: number
  readonly isChosen: boolean
  readonly onChoose: () => void
}

function EventRow({ event, before, index, begun, isChosen, onChoose }: RowProps) {
  const pause = before === undefined ? 0 : event.time - before.time
  return (
    <div
      class={`event-row ${isLogged(event) ? '' : 'live'}`}
      role="option"
      id={`event-${index}`}
      aria-selected={isChosen}
      onClick={onChoose}
    >
      <span class="event-seq faint number">{isLogged(event) ? event.seq : ''}</span>
      <time
        class="event-time faint number"
        dateTime={new Date(event.time).toISOString()}
        title={clockTime.format(event.time)}
      >
        +{duration(event.time - begun)}
      </time>
      <span class={`kind is-${groupOf(event)}`} aria-hidden="true" />
      <span class="event-type">{event.type}</span>
      <span class="event-text cut grow">{eventText(event)}</span>
      {pause > 1_000 ? <span class="faint number small event-pause">{duration(pause)} later</span> : null}
    </div>
  )
}
