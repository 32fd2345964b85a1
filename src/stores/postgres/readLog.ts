import { RuntimeError } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'
import { readRecord } from '../readRecord.ts'
import type { Database, Row } from './database.ts'

/** Records of a page: the first is small, as many readers want the beginning only; it is larger for who says how many are wanted. */
const pages = { first: 8, known: 320, most: 1_024, characters: 4 * 1024 * 1024 } as const

/** What its column takes. */
const largestSeq = 2 ** 31 - 1

/** Reads a log in pages. @throws RuntimeError `LOG_CORRUPT`, `LOG_VERSION`, `STORE_READ_FAILED` */
export async function* readLog(
  database: Database,
  agentId: string,
  fromSeq: number,
  most: number,
): AsyncGenerator<LogRecord, void, undefined> {
  const missing = (seq: number): RuntimeError =>
    new RuntimeError('LOG_CORRUPT', `${database.name}: record ${seq} of agent "${agentId}" is missing.`)
  let next = Math.min(Math.max(1, fromSeq), largestSeq)
  let left = most
  let agent: number | undefined
  for (let size: number = most === Infinity ? pages.first : pages.known; left > 0;) {
    const wanted = Math.min(size, left)
    const rows = await readPage(database, { agentId, agent, next, wanted })
    // A log that was deleted meanwhile, and perhaps begun anew, ends where it was.
    if (rows[0] === undefined) return
    agent = Number(rows[0]['number'])
    const found = rows.filter(({ seq }) => seq !== null)
    let characters = 0
    for (const { seq, body } of found) {
      if (seq !== next) throw missing(next)
      const text = String(body)
      const record = readRecord(text, { file: `${database.name}, agent "${agentId}"`, line: next })
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

interface Page {
  readonly agentId: string
  /** Its number, once it is known. */
  readonly agent: number | undefined
  readonly next: number
  readonly wanted: number
}

/** One row without a record where there is none from `next` on; no row without a log. */
function readPage(database: Database, { agentId, agent, next, wanted }: Page): Promise<readonly Row[]> {
  const { schema } = database
  const sql = `SELECT a.number, a.last_seq, r.seq, r.body FROM ${schema}.agents a
    LEFT JOIN LATERAL (
      SELECT seq, body FROM ${schema}.records WHERE agent = a.number AND seq >= $2 ORDER BY seq LIMIT $3
    ) r ON true
    WHERE a.${agent === undefined ? 'id' : 'number'} = $1 ORDER BY r.seq`
  return database.query(sql, [agent ?? agentId, next, wanted])
}
