import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import { GraphRows } from './graphRows.ts'

/** The input of the rows. Both arrays are the same as long as they only grow. */
export interface GraphInput {
  /** Records that a fork shares with its source, a list for each log, oldest first. */
  readonly past?: readonly (readonly LogRecord[])[]
  readonly records: readonly LogRecord[]
  readonly events: readonly AgentEvent[]
  /** `seq` of the moment shown; `null`: the newest. */
  readonly at: number | null
}

const none: readonly never[] = []

/** Keeps the rows of an agent up to date: folds in new records, and starts over when the moment goes back. */
export class GraphSource {
  #graph = new GraphRows()
  #past: readonly (readonly LogRecord[])[] = none
  #records: readonly LogRecord[] = none
  #events: readonly AgentEvent[] = none
  #recordsTaken = 0
  #eventsTaken = 0

  /** Returns the rows as of the moment: the same object as before unless time went back or the log is another one. */
  update({ past = none, records, events, at }: GraphInput): GraphRows {
    const limit = at === null ? records.length : Math.min(at, records.length)
    const isOther = past !== this.#past || (this.#recordsTaken > 0 && records !== this.#records)
    if (isOther || limit < this.#recordsTaken) {
      this.#graph = new GraphRows()
      this.#recordsTaken = this.#eventsTaken = 0
      for (const [index, part] of past.entries()) for (const record of part) this.#graph.apply(record, `${index}-`)
    }
    this.#past = past
    this.#records = records
    for (; this.#recordsTaken < limit; this.#recordsTaken++) this.#graph.apply(records[this.#recordsTaken]!)
    this.#takeLive(events, at)
    return this.#graph
  }

  #takeLive(events: readonly AgentEvent[], at: number | null): void {
    if (events !== this.#events) this.#eventsTaken = 0
    this.#events = events
    if (at === null) for (let i = this.#eventsTaken; i < events.length; i++) this.#graph.applyLive(events[i]!)
    this.#eventsTaken = events.length
  }
}
