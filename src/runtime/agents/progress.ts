import type { LogRecord, Spent } from '../../protocol/records.ts'
import { Outline, type KeptOutline } from '../../sessions/outline.ts'
import type { History } from '../../sessions/readHistory.ts'
import { notSpent, spentAfter, type SpentSoFar } from '../../sessions/spent.ts'

/** What is kept of it. */
export interface KeptProgress {
  readonly outline: KeptOutline
  readonly spent: SpentSoFar
}

/** How far an agent has come, as its log tells: what it is about, how its last run ended, what it has spent. */
export class Progress {
  readonly outline: Outline
  #spent: SpentSoFar

  /** `kept`: where the records go on from. */
  constructor({ past, records }: Pick<History, 'past' | 'records'>, kept?: KeptProgress) {
    this.outline = new Outline(kept?.outline)
    for (const part of [past, records]) for (const record of part) this.outline.apply(record)
    this.#spent = records.reduce(spentAfter, kept?.spent ?? notSpent)
  }

  /** As plain JSON. */
  keep(): KeptProgress {
    return { outline: this.outline.keep(), spent: this.#spent }
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
