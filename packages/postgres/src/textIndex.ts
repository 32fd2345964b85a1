import { quietClock, systemClock, type Clock } from '../../../src/protocol/ports/clock.ts'
import { defaultSearchLimit, type SearchHit, type SearchQuery } from '../../../src/protocol/ports/logSearch.ts'
import { readRecord } from '../../stores/src/readRecord.ts'
import { excerptFor, saidIn, searchWords, termsIn, type Term } from '../../stores/src/rules/searchText.ts'
import type { Database, Row } from './database.ts'
import { conditionsOf } from './postgresPages.ts'

/** Delay in milliseconds between an append and its indexing. */
const delayMs = 1_000
/** Maximum number of agents in one step, and of records for each. */
const most = { agents: 50, records: 50 } as const
/** Number of indexed characters of a word. The database rejects words over 2,046 bytes. */
const longest = 500

/**
 * Index of the words in messages, in its own table, filled after the appends and never with them. The progress for each log is stored, so that
 * a search first indexes the words that an ended process left. Indexing the same words in two processes does no harm.
 */
export class TextIndex {
  readonly #database: Database
  readonly #clock: Clock
  /** Agents with records that are not indexed yet, as far as this process knows. */
  readonly #behind = new Set<number>()
  #cancel: (() => void) | undefined
  #working: Promise<void> | undefined
  #isClosed = false

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock === systemClock ? quietClock : clock
  }

  /** Notes that records of an agent were written. */
  written(agent: number): void {
    if (this.#isClosed) return
    this.#behind.add(agent)
    this.#wait(delayMs)
  }

  #wait(ms: number): void {
    this.#cancel ??= this.#clock.after(ms, () => {
      this.#working = this.#step()
    })
  }

  async #step(): Promise<void> {
    const agents = [...this.#behind].slice(0, most.agents)
    for (const agent of agents) this.#behind.delete(agent)
    try {
      for (const agent of (await this.#note(agents)) ?? []) this.#behind.add(agent)
    } catch {
      // What is not noted here is noted by a search.
    }
    this.#cancel = undefined
    if (this.#behind.size > 0 && !this.#isClosed) this.#wait(0)
  }

  /** Resolves once this process indexes nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel?.()
    await this.#working
  }

  /** Indexes some records of these agents. Returns those that have more, or `undefined` if there was nothing to index. */
  async #note(agents: readonly number[]): Promise<readonly number[] | undefined> {
    const { schema } = this.#database
    const list = `{${agents.join(',')}}`
    const rows = await this.#database.query(
      `SELECT r.agent, r.seq, r.body FROM unnest($1::bigint[]) AS b (agent) LEFT JOIN ${schema}.noted n ON n.agent = b.agent
      CROSS JOIN LATERAL (
        SELECT agent, seq, body FROM ${schema}.records WHERE agent = b.agent AND seq > coalesce(n.seq, 0) ORDER BY seq LIMIT ${most.records}
      ) r ORDER BY r.agent, r.seq`,
      [list],
    )
    const counts = new Map<number, { count: number; last: number }>()
    for (const row of rows) {
      const known = counts.get(Number(row['agent']))
      counts.set(Number(row['agent']), { count: (known?.count ?? 0) + 1, last: Number(row['seq']) })
    }
    if (rows.length === 0) return undefined
    const texts = rows
      .map((row) => ({ agent: Number(row['agent']), seq: Number(row['seq']), words: vectorOf(saidOf(row)) }))
      .filter(({ words }) => words !== '')
    await this.#database.query(
      `WITH said AS (
        INSERT INTO ${schema}.texts (agent, seq, words)
        SELECT t.agent, t.seq, t.words::tsvector FROM unnest($1::bigint[], $2::int[], $3::text[]) AS t (agent, seq, words)
        JOIN ${schema}.agents a ON a.number = t.agent ON CONFLICT DO NOTHING
      )
      INSERT INTO ${schema}.noted AS n (agent, seq)
      SELECT t.agent, t.seq FROM unnest($4::bigint[], $5::int[]) AS t (agent, seq) JOIN ${schema}.agents a ON a.number = t.agent
      ORDER BY t.agent
      ON CONFLICT (agent) DO UPDATE SET seq = greatest(n.seq, excluded.seq)`,
      [
        `{${texts.map(({ agent }) => agent).join(',')}}`,
        `{${texts.map(({ seq }) => seq).join(',')}}`,
        texts.map(({ words }) => words),
        `{${[...counts.keys()].join(',')}}`,
        `{${[...counts.values()].map(({ last }) => last).join(',')}}`,
      ],
    )
    return [...counts].flatMap(([agent, { count }]) => (count === most.records ? [agent] : []))
  }

  /** Indexes all missing words. */
  async #catchUp(): Promise<void> {
    const { schema } = this.#database
    const sql = `SELECT a.number FROM ${schema}.agents a LEFT JOIN ${schema}.noted n ON n.agent = a.number
      WHERE a.last_seq > coalesce(n.seq, 0) LIMIT ${most.agents}`
    while (!this.#isClosed) {
      const rows = await this.#database.query(sql)
      if (rows.length === 0) return
      // Records may be missing, which is said by who reads them.
      if ((await this.#note(rows.map((row) => Number(row['number'])))) === undefined) return
    }
  }

  /** Finds records by their words, including those just written. Answers even if nothing can be indexed. */
  async search(query: SearchQuery): Promise<readonly SearchHit[]> {
    const { text, limit = defaultSearchLimit } = query
    const terms = termsIn(text)
    if (terms.length === 0 || limit <= 0) return []
    await this.#catchUp().catch(() => {})
    const { schema } = this.#database
    const conditions = conditionsOf(schema, query)
    const wanted = conditions.values.push(terms.map(matchOf).join(' & '))
    const count = conditions.values.push(Math.min(limit, Number.MAX_SAFE_INTEGER))
    const rows = await this.#database.query(
      `WITH found AS (
        SELECT id, number, t.seq, ts_rank(t.words, $${wanted}::tsquery)::float8 AS rank
        FROM ${schema}.texts t JOIN ${schema}.agents ON number = t.agent
        WHERE t.words @@ $${wanted}::tsquery AND ${conditions.sql}
        ORDER BY rank DESC, number DESC, t.seq DESC LIMIT $${count}
      )
      SELECT f.id, f.seq, f.rank, r.body FROM found f JOIN ${schema}.records r ON r.agent = f.number AND r.seq = f.seq
      ORDER BY f.rank DESC, f.number DESC, f.seq DESC`,
      conditions.values,
    )
    return rows.map((row) => ({
      agentId: String(row['id']),
      seq: Number(row['seq']),
      excerpt: excerptFor(saidOf(row), terms),
      rank: Number(row['rank']),
    }))
  }
}

/** Quotes a word. Words consist of letters, digits and marks only, so they cannot end the quotes. */
const quoted = (word: string): string => `'${word.slice(0, longest)}'`

const matchOf = ({ words, isOpen }: Term): string => `(${words.map(quoted).join(' <-> ')}${isOpen ? ':*' : ''})`

/** Returns the words of a text with their positions in the database's notation, because its own parser does not know every script. */
function vectorOf(text: string): string {
  const places = new Map<string, number[]>()
  for (const [index, word] of searchWords(text).entries()) {
    const known = places.get(quoted(word))
    if (known === undefined) places.set(quoted(word), [index + 1])
    else known.push(index + 1)
  }
  return [...places].map(([word, at]) => `${word}:${at.slice(0, 255).join(',')}`).join(' ')
}

function saidOf(row: Row): string {
  const record = readRecord(String(row['body']), { file: '', line: Number(row['seq']) })
  return record instanceof Error ? '' : saidIn(record)
}
