import { setImmediate as breathe } from 'node:timers/promises'
import { quietClock, type Clock } from '../../../src/protocol/ports/clock.ts'
import { defaultSearchLimit, type SearchHit, type SearchQuery } from '../../../src/protocol/ports/logSearch.ts'
import { readRecord } from '../../stores/src/readRecord.ts'
import { excerptFor, saidIn, searchWords, termsIn, type Term } from '../../stores/src/rules/searchText.ts'
import { isBusy, type Connection } from './connection.ts'
import { conditionsOf } from './sqlitePages.ts'

/** Delay in milliseconds between an append and its indexing. */
const delayMs = 1_000
/** Maximum number of records in one step, so that nothing else has to wait for long. */
const mostRecords = 50
/** Number of tries of a search to index missing words while another process writes. */
const mostTries = 100

/**
 * Index of the words in messages, in its own table, filled after the appends and never with them. The progress for each log is stored, so that
 * a search first indexes the words that an ended process left.
 */
export class TextIndex {
  readonly #connection: Connection
  readonly #clock: Clock
  /** Agents with records that are not indexed yet, as far as this process knows. */
  readonly #behind = new Set<number>()
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(connection: Connection, clock: Clock = quietClock) {
    this.#connection = connection
    this.#clock = clock
  }

  /** Notes that records of an agent were written. */
  written(agent: number): void {
    this.#behind.add(agent)
    this.#cancel ??= this.#clock.after(delayMs, () => this.#step())
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
    this.#behind.clear()
  }

  #step(): void {
    this.#cancel = undefined
    if (this.#isClosed) return
    const [agent] = this.#behind
    if (agent === undefined) return
    try {
      if (!this.#note(agent)) this.#behind.delete(agent)
    } catch (thrown) {
      // What is not noted here is noted by a search.
      if (!isBusy(thrown)) this.#behind.delete(agent)
    }
    if (this.#behind.size > 0) this.#cancel = this.#clock.after(0, () => this.#step())
  }

  /** Indexes some records of an agent. Returns true if there are more. */
  #note(agent: number): boolean {
    const known = this.#notedOf(agent)
    const rows = this.#connection
      .statement('SELECT seq, body FROM records WHERE agent = ? AND seq > ? ORDER BY seq LIMIT ?')
      .all(agent, known, mostRecords)
    const last = rows.at(-1)?.['seq']
    if (last === undefined) return false
    const texts = rows.map(({ seq, body }) => ({ seq: Number(seq), words: wordsIn(String(body), Number(seq)) }))
    this.#connection.transaction(() => {
      // Another process may have noted them meanwhile, or the log may be gone.
      if (this.#notedOf(agent) !== known || !this.#isThere(agent)) return
      const insert = this.#connection.statement('INSERT INTO texts (rowid, words) VALUES ((?1 << 32) | ?2, ?3)')
      for (const { seq, words } of texts) if (words !== '') insert.run(agent, seq, words)
      this.#connection
        .statement(
          'INSERT INTO noted (agent, seq) VALUES (?1, ?2) ON CONFLICT (agent) DO UPDATE SET seq = excluded.seq',
        )
        .run(agent, Number(last))
    })
    return rows.length === mostRecords
  }

  #notedOf(agent: number): number {
    return Number(this.#connection.statement('SELECT seq FROM noted WHERE agent = ?').get(agent)?.['seq'] ?? 0)
  }

  #isThere(agent: number): boolean {
    return this.#connection.statement('SELECT 1 FROM agents WHERE number = ?').get(agent) !== undefined
  }

  /** Deletes an agent's words, within the transaction that deletes its log. */
  delete(agent: number): void {
    this.#connection
      .statement('DELETE FROM texts WHERE rowid BETWEEN (?1 << 32) AND ((?1 << 32) | 4294967295)')
      .run(agent)
    this.#connection.statement('DELETE FROM noted WHERE agent = ?').run(agent)
    this.#behind.delete(agent)
  }

  /** Indexes all missing words, as far as other processes allow it. */
  async catchUp(): Promise<void> {
    const sql = `SELECT number FROM agents LEFT JOIN noted ON noted.agent = number
      WHERE last_seq > coalesce(noted.seq, 0) LIMIT 100`
    for (let tries = 0; tries < mostTries && !this.#isClosed;) {
      try {
        const rows = this.#connection.statement(sql).all()
        if (rows.length === 0) return
        for (const { number } of rows) while (!this.#isClosed && this.#note(Number(number))) await breathe()
      } catch (thrown) {
        // Where nothing can be written there is an answer all the same.
        if (!isBusy(thrown)) return
        tries += 1
      }
      await breathe()
    }
  }

  /** Finds records by the indexed words. */
  search(query: SearchQuery): readonly SearchHit[] {
    const { text, limit = defaultSearchLimit } = query
    const terms = termsIn(text)
    if (terms.length === 0 || limit <= 0) return []
    const conditions = conditionsOf(query)
    const sql = `SELECT id, number, texts.rowid & 4294967295 AS seq, bm25(texts) AS score
      FROM texts JOIN agents ON number = texts.rowid >> 32
      WHERE texts MATCH ? AND ${conditions.map((condition) => condition.sql).join(' AND ')}
      ORDER BY score, texts.rowid DESC LIMIT ?`
    const values = conditions.flatMap((condition) => [...condition.values])
    const rows = this.#connection
      .statement(sql)
      .all(terms.map(matchOf).join(' AND '), ...values, Math.min(limit, Number.MAX_SAFE_INTEGER))
    return rows.map(({ id, number, seq, score }) => ({
      agentId: String(id),
      seq: Number(seq),
      excerpt: excerptFor(this.#saidIn(Number(number), Number(seq)), terms),
      rank: -Number(score),
    }))
  }

  #saidIn(agent: number, seq: number): string {
    const row = this.#connection.statement('SELECT body FROM records WHERE agent = ? AND seq = ?').get(agent, seq)
    return row === undefined ? '' : saidOf(String(row['body']), seq)
  }
}

/** Quotes the words of a term. They consist of letters, digits and marks only, so they cannot end the quotes. */
const matchOf = ({ words, isOpen }: Term): string => `"${words.join(' ')}"${isOpen ? '*' : ''}`

function saidOf(body: string, seq: number): string {
  const record = readRecord(body, { file: '', line: seq })
  return record instanceof Error ? '' : saidIn(record)
}

const wordsIn = (body: string, seq: number): string => searchWords(saidOf(body, seq)).join(' ')
