import type { AgentEvent } from '../../protocol/events.ts'
import { groupOf, type EventGroup } from './eventWords.ts'

/** Events of some groups out of a list that grows: only what is new is looked at. */
export class FilteredEvents {
  #source: readonly AgentEvent[] = []
  #hidden: ReadonlySet<EventGroup> = new Set()
  #seen = 0
  #shown: AgentEvent[] = []

  /** Of the first `count` events those that are not of a hidden group; the same array as long as it only grows. */
  of(source: readonly AgentEvent[], count: number, hidden: ReadonlySet<EventGroup>): readonly AgentEvent[] {
    if (source !== this.#source || hidden !== this.#hidden || count < this.#seen) {
      this.#source = source
      this.#hidden = hidden
      this.#seen = 0
      this.#shown = []
    }
    for (; this.#seen < count; this.#seen++) {
      const event = source[this.#seen]!
      if (!hidden.has(groupOf(event))) this.#shown.push(event)
    }
    return this.#shown
  }
}
