import type { ComponentChildren } from 'preact'
import type { EventGroup } from '../../model/agent/eventGroups.ts'
import { eventGroups } from '../../model/agent/eventGroups.ts'
import { chosenGroups, everyEvent, type EventFilter } from '../../model/events/eventRows.ts'
import { formatCount } from '../../model/words/numbers.ts'

export interface EventFiltersProps {
  readonly filter: EventFilter
  readonly counts: Readonly<Record<EventGroup, number>>
  /** Number of rows shown. */
  readonly shown: number
  readonly onChange: (filter: EventFilter) => void
  /** Content before the filters. */
  readonly children?: ComponentChildren
}

/** Filters of the list. A click on a kind shows only that kind. A click with Shift or Ctrl adds it. */
export function EventFilters({ filter, counts, shown, onChange, children }: EventFiltersProps) {
  const shownGroups = eventGroups.filter((group) => counts[group] > 0 || group === 'error' || filter.only.has(group))
  return (
    <div class="filters">
      {children}
      <div class="chips" role="group" aria-label="Kinds of events">
        <button
          type="button"
          class="chip"
          aria-pressed={filter.only.size === 0}
          onClick={() => onChange({ ...filter, only: everyEvent.only })}
        >
          all
        </button>
        {shownGroups.map((group) => (
          <button
            key={group}
            type="button"
            class="chip"
            aria-pressed={filter.only.has(group)}
            title={`Show only ${group}; hold Shift or Ctrl to add it`}
            onClick={({ shiftKey, ctrlKey, metaKey }) =>
              onChange({ ...filter, only: chosenGroups(filter.only, group, shiftKey || ctrlKey || metaKey) })
            }
          >
            <span class={`kind is-${group}`} aria-hidden="true" />
            {group}
            <span class={`number chip-count ${group === 'error' && counts.error > 0 ? 'is-bad' : ''}`}>
              {formatCount(counts[group])}
            </span>
          </button>
        ))}
      </div>
      <input
        class="input filter-text"
        type="search"
        placeholder="Filter"
        aria-label="Filter events by text"
        value={filter.text}
        onInput={({ currentTarget }) => onChange({ ...filter, text: currentTarget.value })}
      />
      <span class="faint number small filter-shown">{formatCount(shown)} rows</span>
    </div>
  )
}
