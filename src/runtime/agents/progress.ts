import type { LogRecord, Spent } from '../../protocol/records.ts'
import { outlineOf, type Outline } from '../../sessions/outline.ts'
import type { History } from '../../sessions/readHistory.ts'
import { notSpent, spentAfter, type SpentSoFar } from '../../sessions/spent.ts'

/** How far an agent has come, as its log tells: what it is about, how its last run ended, what it has spent. */
export class Progress {
  readonly outline: Outline
  #spent: SpentSoFar

  constructor({ past, records }: Pick<History, 'past' | 'records'>) {
    this.outline = outlineOf(records, past)
    this.#spent = records.reduce(spentAfter, notSpent)
  }

  apply(record: LogRecord): void {
    this.outline.apply(record)
    this.#spent = spentAfter(this.#spent, record)
  }

  /** Over its life, the run under way left out. */
  get spent(): Spent {
    return this.#spent.spent
  }
}
