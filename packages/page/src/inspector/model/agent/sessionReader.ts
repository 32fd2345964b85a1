import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import type { Session } from '../../../../../sessions/src/session.ts'
import { SessionProjection } from '../../../../../sessions/src/sessionProjection.ts'

/** Builds the session of a log. Reads each record once, as long as the requested moments get later. */
export class SessionReader {
  readonly #records: readonly LogRecord[]
  #seen = 0
  #projection = new SessionProjection()
  #session: Session | undefined

  /** `records`: the agent's own, which may grow. */
  constructor(records: readonly LogRecord[]) {
    this.#records = records
  }

  /** Returns the session after the first `end` records. */
  at(end: number): Session {
    const last = Math.min(end, this.#records.length)
    if (last < this.#seen) {
      this.#seen = 0
      this.#projection = new SessionProjection()
    }
    if (last !== this.#seen) this.#session = undefined
    for (; this.#seen < last; this.#seen += 1) this.#projection.apply(this.#records[this.#seen]!)
    return (this.#session ??= this.#projection.session)
  }
}
