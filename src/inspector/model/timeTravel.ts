import type { LogRecord } from '../../protocol/records.ts'
import { LogFold } from './logFold.ts'

/** Goes to moments of a log. Forwards it folds on from where it is; backwards it begins anew. */
export class TimeTravel {
  readonly #past: readonly (readonly LogRecord[])[]
  readonly #records: readonly LogRecord[]
  #fold: LogFold | undefined

  /** `records`: the agent's own, and may grow; `past`: of a fork, what it shares with its source. */
  constructor(records: readonly LogRecord[], past: readonly (readonly LogRecord[])[] = []) {
    this.#records = records
    this.#past = past
  }

  /** The agent after record `seq`; beyond the end it is as it is at the end. @throws RuntimeError `LOG_CORRUPT` */
  to(seq: number): LogFold {
    const fold = this.#fold !== undefined && this.#fold.lastSeq <= seq ? this.#fold : new LogFold(this.#past)
    this.#fold = fold
    const end = Math.min(seq, this.#records.length)
    // A log counts from 1 without gaps.
    for (let index = fold.lastSeq; index < end; index++) fold.apply(this.#records[index]!)
    return fold
  }
}
