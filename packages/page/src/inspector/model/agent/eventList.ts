import { recordVersion } from '../../../../../../src/protocol/records.ts'
import type { AgentEvent, EventOf } from '../../../../../../src/protocol/events.ts'

/** Limit of the kept events outside the log; beyond it, the older half is dropped. */
const mostLive = 4_000

type Captured = EventOf<'turn.captured'>

/** Stand-in for a captured request that was not sent along. `left`: the number of its messages. */
interface Apart {
  readonly left: number
}

/** Returns the number of messages of a captured request that have not been read; `undefined` once they have. */
export const leftOf = (record: object): number | undefined => (record as Partial<Apart>).left

/** Completes the stand-in of a captured request in place, so that everything that has the record has its messages. */
export function complete(record: object, whole: Captured): void {
  Object.assign(record, whole)
  delete (record as { left?: number }).left
}

/** Returns true if an event is a record of the log. */
export const isLogged = (event: AgentEvent): boolean => 'v' in event || event.type === 'record.withheld'

/**
 * Returns the stand-in for a record that the client was not sent: a captured request without its messages, a message without words if the
 * record has a place in the conversation, else the event itself, which has no effect.
 */
export function standIn(event: AgentEvent): AgentEvent {
  if (event.type !== 'record.withheld') return event
  const { nodeId, parentId = null, captured, agentId, path, seq, time, runId, turnIndex } = event
  const at = { v: recordVersion, seq, time, runId, turnIndex, agentId, path } as const
  if (captured !== undefined) {
    const { messages: left, ...rest } = captured
    const apart: Captured & Apart = { type: 'turn.captured', ...at, ...rest, messages: [], provenance: [], left }
    return apart
  }
  if (nodeId === undefined) return event
  const message = { role: 'user', content: [], source: 'prompt', provenance: { type: 'unknown' } } as const
  return { type: 'message.added', ...at, nodeId, parentId, message }
}

/** Events of an agent, in order. All records are kept; other events, seen live, up to a limit, the newest. */
export class EventList {
  #all: AgentEvent[] = []
  #live = 0

  /** All events: the same array as long as it only grows. */
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
