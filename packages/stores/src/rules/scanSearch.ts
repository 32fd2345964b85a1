import { defaultSearchLimit, type SearchHit, type SearchQuery } from '../../../../src/protocol/ports/logSearch.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { countTerms, excerptFor, saidIn, termsIn, type Term } from './searchText.ts'

/** Searches logs one after the other for the best matching records. */
export class ScanSearch {
  readonly #terms: readonly Term[]
  readonly #limit: number
  #hits: SearchHit[] = []

  constructor({ text, limit = defaultSearchLimit }: SearchQuery) {
    this.#terms = termsIn(text)
    this.#limit = limit
  }

  /** True if there is nothing to search for. */
  get isEmpty(): boolean {
    return this.#terms.length === 0 || this.#limit <= 0
  }

  look(agentId: string, record: LogRecord): void {
    const said = saidIn(record)
    if (said !== '') this.lookAt(agentId, record.seq, said)
  }

  /** Takes in a record by its text. */
  lookAt(agentId: string, seq: number, said: string): void {
    const count = countTerms(said, this.#terms)
    if (count === 0) return
    const rank = count / Math.log2(said.length + 2)
    this.#hits.push({ agentId, seq, excerpt: excerptFor(said, this.#terms), rank })
    if (this.#hits.length > this.#limit * 4) this.#hits = this.#best()
  }

  get hits(): readonly SearchHit[] {
    return this.#best()
  }

  #best(): SearchHit[] {
    return this.#hits.toSorted((a, b) => b.rank - a.rank).slice(0, this.#limit)
  }
}
