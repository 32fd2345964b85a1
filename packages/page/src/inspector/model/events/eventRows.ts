import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import { eventGroups, groupsOf, type EventGroup } from '../agent/eventGroups.ts'
import { eventText } from './eventWords.ts'

/** Filter of the events that are shown. */
export interface EventFilter {
  /** Groups whose events are shown; all groups when it is empty. */
  readonly only: ReadonlySet<EventGroup>
  /** Text that the type or words of an event must contain, whatever its case. */
  readonly text: string
}

export const everyEvent: EventFilter = { only: new Set(), text: '' }

/** One line of the list: an event, or several that are one fact, such as a turn that begins. */
export interface EventRow {
  /** Key that stays the same while the row exists. */
  readonly key: string
  /** The event that says most. */
  readonly lead: AgentEvent
  /** All events of the row, in order. */
  readonly events: readonly AgentEvent[]
  /** True for one of the events of an opened row above. */
  readonly isPart?: true
}

/** Types of events that say only together that a turn continues, ordered by how much they say. */
const quiet: readonly AgentEvent['type'][] = [
  'turn.start',
  'turn.request',
  'turn.captured',
  'reply.start',
  'model.waited',
  'model.waiting',
  'state.changed',
]

const rankOf = ({ type }: AgentEvent): number => quiet.indexOf(type)
const turnOf = (event: AgentEvent): number => ('turnIndex' in event ? event.turnIndex : -1)

/** Rows of a growing list of events; each call looks only at new events. */
export class EventRows {
  #source: readonly AgentEvent[] = []
  #filter = everyEvent
  #seen = 0
  #rows: (EventRow & { readonly events: AgentEvent[] })[] = []
  #counts = noCounts()
  #version = 0

  /** Returns rows for those of the first `count` events that pass a filter. Events of one turn share a row unless some of them are left out. */
  of(source: readonly AgentEvent[], count: number, filter: EventFilter = everyEvent): readonly EventRow[] {
    if (source !== this.#source || filter !== this.#filter || count < this.#seen) {
      this.#source = source
      this.#filter = filter
      this.#seen = 0
      this.#rows = []
      this.#counts = noCounts()
      this.#version += 1
    }
    const wanted = filter.text.trim().toLowerCase()
    const isWhole = filter.only.size === 0 && wanted === ''
    for (; this.#seen < count; this.#seen++) {
      const event = source[this.#seen]!
      const groups = groupsOf(event)
      for (const group of groups) this.#counts[group] += 1
      if (filter.only.size > 0 && !groups.some((group) => filter.only.has(group))) continue
      if (wanted !== '' && !`${event.type} ${eventText(event)}`.toLowerCase().includes(wanted)) continue
      this.#add(event, isWhole)
      this.#version += 1
    }
    return this.#rows
  }

  /** Number of events of each group, shown or not. */
  get counts(): Readonly<Record<EventGroup, number>> {
    return this.#counts
  }

  /** Number of changes of the rows, whose array stays the same. */
  get version(): number {
    return this.#version
  }

  #add(event: AgentEvent, joins: boolean): void {
    const before = this.#rows.at(-1)
    if (joins && before !== undefined && rankOf(event) >= 0 && rankOf(before.lead) >= 0) {
      if (turnOf(event) === turnOf(before.lead) && event.type !== 'turn.start') {
        const lead = rankOf(event) < rankOf(before.lead) ? event : before.lead
        before.events.push(event)
        this.#rows[this.#rows.length - 1] = { ...before, lead }
        return
      }
    }
    this.#rows.push({ key: `${event.seq} ${event.type} ${this.#seen}`, lead: event, events: [event] })
  }
}

const noCounts = (): Record<EventGroup, number> =>
  Object.fromEntries(eventGroups.map((group) => [group, 0])) as Record<EventGroup, number>

/** Returns the rows, with the events of each opened row one by one below it. Pure. */
export function openedRows(rows: readonly EventRow[], open: ReadonlySet<string>): readonly EventRow[] {
  if (open.size === 0) return rows
  return rows.flatMap((row) =>
    open.has(row.key)
      ? [
          row,
          ...row.events.map((lead, at) => ({ key: `${row.key} ${at}`, lead, events: [lead], isPart: true as const })),
        ]
      : [row],
  )
}

/** Returns the text of a row. For several events it says what each one adds. Pure. */
export function rowText({ lead, events }: EventRow): string {
  if (events.length === 1) return eventText(lead)
  const of = (type: AgentEvent['type']): string => {
    const event = events.findLast((one) => one.type === type)
    return event === undefined ? '' : eventText(event)
  }
  const state = events.findLast((event) => event.type === 'state.changed')
  const parts = [
    of('turn.start'),
    of('turn.request') || of('turn.captured'),
    of('model.waited') || of('model.waiting'),
    of('reply.start'),
    state === undefined ? '' : `→ ${state.state}`,
  ]
  return parts.filter(Boolean).join(' · ')
}

/** Returns the groups after a click on one: it alone, or all again. With `adds` the group is added or taken out. Pure. */
export function chosenGroups(only: ReadonlySet<EventGroup>, group: EventGroup, adds: boolean): ReadonlySet<EventGroup> {
  if (!adds) return only.size === 1 && only.has(group) ? new Set() : new Set([group])
  const next = new Set(only)
  if (!next.delete(group)) next.add(group)
  return next.size === eventGroups.length ? new Set() : next
}
