import { WorkTimes, type Took } from '../../../../../charts/src/workTimes.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'

/** Times of a log's runs, with the waits for people apart. Reads each record once, as long as the requested moments get later. */
export class RunTimes {
  #records: readonly LogRecord[] = []
  #seen = 0
  #times = new WorkTimes()
  #run: string | undefined
  #took = new Map<string, Took>()

  /** Returns the times by run id after the first `end` records. The run under way has its time so far. */
  of(records: readonly LogRecord[], end: number): ReadonlyMap<string, Took> {
    const last = Math.min(end, records.length)
    if (records !== this.#records || last < this.#seen) {
      this.#records = records
      this.#seen = 0
      this.#times = new WorkTimes()
      this.#run = undefined
      this.#took = new Map()
    }
    for (; this.#seen < last; this.#seen += 1) {
      const record = records[this.#seen]!
      const took = this.#times.take(record as AgentEvent)
      if (record.type === 'run.start') this.#run = record.runId
      if (record.type === 'run.end' && took !== undefined) this.#took.set(record.runId, took)
    }
    const time = records[last - 1]?.time
    const soFar = this.#run === undefined || time === undefined ? undefined : this.#times.runUntil(time)
    return soFar === undefined ? this.#took : new Map(this.#took).set(this.#run!, soFar)
  }
}
