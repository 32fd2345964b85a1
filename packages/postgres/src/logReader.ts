import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { readRecord } from '../../stores/src/readRecord.ts'
import type { Database, Row } from './database.ts'
import { Gathered } from './gathered.ts'

/**
 * Number of records per page. The first page is small, as many readers want only the beginning. A reader that states its number gets more.
 */
const pages = { first: 8, known: 320, most: 1_024, characters: 4 * 1024 * 1024 } as const

/** Largest `seq` that fits its column. */
const largestSeq = 2 ** 31 - 1

/** Reads logs in pages. Reads of a single record, such as a log's first, are combined into one statement. */
export class LogReader {
  readonly #database: Database
  readonly #single: Gathered<Page, readonly Row[]>

  constructor(database: Database) {
    this.#database = database
    this.#single = new Gathered(database, (asked) => readSinglePages(database, asked))
  }

  /** @throws RuntimeError `LOG_CORRUPT`, `LOG_VERSION`, `STORE_READ_FAILED` */
  async *read(agentId: string, fromSeq: number, most: number): AsyncGenerator<LogRecord, void, undefined> {
    const { name } = this.#database
    const missing = (seq: number): RuntimeError =>
      new RuntimeError('LOG_CORRUPT', `${name}: record ${seq} of agent "${agentId}" is missing.`)
    let next = Math.min(Math.max(1, fromSeq), largestSeq)
    let left = most
    let agent: number | undefined
    for (let size: number = most === Infinity ? pages.first : pages.known; left > 0;) {
      const wanted = Math.min(size, left)
      const rows = await this.#page({ agentId, next, wanted }, agent)
      // A log that was deleted meanwhile, and perhaps begun anew, ends where it was.
      if (rows[0] === undefined) return
      agent = Number(rows[0]['number'])
      const found = rows.filter(({ seq }) => seq !== null)
      let characters = 0
      for (const { seq, body } of found) {
        if (seq !== next) throw missing(next)
        const text = String(body)
        const record = readRecord(text, { file: `${name}, agent "${agentId}"`, line: next })
        if (record instanceof RuntimeError) throw record
        yield record
        characters += text.length
        next += 1
      }
      if (found.length < wanted) {
        if (next <= Number(rows[0]['last_seq'])) throw missing(next)
        return
      }
      left -= found.length
      size = Math.max(1, Math.min(pages.most, Math.floor((pages.characters * found.length) / (characters + 1))))
    }
  }

  /** Returns one row without a record if there are none from `next` on, and no row if there is no log. `agent`: its number, once known. */
  #page(page: Page, agent: number | undefined): Promise<readonly Row[]> {
    if (agent !== undefined) return readPage(this.#database, 'number', agent, page)
    return page.wanted > 1 ? readPage(this.#database, 'id', page.agentId, page) : this.#single.ask(page)
  }
}

interface Page {
  readonly agentId: string
  readonly next: number
  readonly wanted: number
}

function readPage(
  database: Database,
  by: 'id' | 'number',
  which: string | number,
  { next, wanted }: Page,
): Promise<readonly Row[]> {
  const sql = `SELECT a.number, a.last_seq, r.seq, r.body FROM ${database.schema}.agents a
    ${recordsFrom(database.schema, '$2', '$3')} WHERE a.${by} = $1 ORDER BY r.seq`
  return database.query(sql, [which, next, wanted])
}

/** Returns the pages of several logs, one record each. */
async function readSinglePages(database: Database, asked: readonly Page[]): Promise<readonly (readonly Row[])[]> {
  const sql = `SELECT g.at, a.number, a.last_seq, r.seq, r.body
    FROM unnest($1::text[], $2::int[]) WITH ORDINALITY AS g (id, next, at) JOIN ${database.schema}.agents a ON a.id = g.id
    ${recordsFrom(database.schema, 'g.next', '1')} ORDER BY g.at, r.seq`
  const values = [asked.map(({ agentId }) => agentId), asked.map(({ next }) => next)]
  const rows = Map.groupBy(await database.once(sql, values), ({ at }) => Number(at))
  return asked.map((_, index) => rows.get(index + 1) ?? [])
}

const recordsFrom = (schema: string, next: string, wanted: string): string => `LEFT JOIN LATERAL (
      SELECT seq, body FROM ${schema}.records WHERE agent = a.number AND seq >= ${next} ORDER BY seq LIMIT ${wanted}
    ) r ON true`
