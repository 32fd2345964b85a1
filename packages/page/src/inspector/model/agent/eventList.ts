import { recordVersion } from '../../../../../../src/protocol/records.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'

/** Limit of the kept events outside the log; beyond it, the older half is dropped. */
const mostLive = 4_000

/** Returns true if an event is a record of the log. */
export const isLogged = (event: AgentEvent): boolean => 'v' in event || event.type === 'record.withheld'

/**
 * Returns the stand-in for a record that the client may not see: a message without words if the record has a place in the conversation,
 * else the event itself, which has no effect.
 */
export function standIn(event: AgentEvent): AgentEvent {
  if (event.type !== 'record.withheld' || event.nodeId === undefined) return event
  const { nodeId, parentId = null, agentId, path, seq, time, runId, turnIndex } = event
  const message = { role: 'user', content: [], source: 'prompt', provenance: { type: 'unknown' } } as const
  const at = { v: recordVersion, seq, time, runId, turnIndex, agentId, path } as const
  return { type: 'message.added', ...at, nodeId, parentId, message }
}

/** Events of an agent, in order. All records are kept; other events, seen live, up to a limit, the newest. */
export class EventList {
  #all: AgentEvent[] = []
  #live = 0

  /** The same array as long as it only grows. */
  get all(): readonly AgentEvent[] {
    return this.#all
  }

  add(event: AgentEvent): void {
    this.#all.push(event)
    if (isLogged(event) || ++this.#live <= mostLive) return
    let surplus = mostLive / 2
    this.#live -= surplus
    this.#all = this.#all.filter((other) => isLogged(other) || --surplus < 0)
  }

  /** Returns the number of events before the record that follows `seq`. */
  countUpTo(seq: number): number {
    let low = 0
    let high = this.#all.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#all[middle]!.seq <= seq) low = middle + 1
      else high = middle
    }
    return low
  }
}
