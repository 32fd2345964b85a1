import { defaultPageLimit, type LogPage, type LogQuery } from '../../../src/protocol/ports/logPages.ts'
import { entryIn } from '../../stores/src/agentRow.ts'
import { above, labelsAsked } from '../../stores/src/labels.ts'
import type { Database } from './database.ts'
import { plainText } from './plainText.ts'

/** Conditions of a query as SQL, with their values. */
class Conditions {
  readonly values: unknown[] = []
  readonly #parts: string[] = []

  /** Adds a condition. `sql` gets the placeholders of its values. */
  add(values: readonly unknown[], sql: (...places: string[]) => string): void {
    const places = values.map((value) => `$${this.values.push(value)}`)
    this.#parts.push(sql(...places))
  }

  get sql(): string {
    return this.#parts.join(' AND ')
  }
}

/** Returns the conditions of `query`, without `after` and `limit`, on a row of the agents table. */
export function conditionsOf(schema: string, query: LogQuery): Conditions {
  const { ids, within, definition, parent } = query
  const conditions = new Conditions()
  conditions.add([], () => 'last_seq > 0')
  for (const label of labelsAsked(query))
    conditions.add(
      label.map(plainText),
      (name, value) => `number IN (SELECT agent FROM ${schema}.labels WHERE name = ${name} AND value = ${value})`,
    )
  if (parent === null) conditions.add([], () => `path = '[]'`)
  if (definition !== undefined) conditions.add([plainText(definition)], (value) => `definition = ${value}`)
  if (ids !== undefined) conditions.add([ids.map(plainText)], (list) => `id = ANY (${list}::text[])`)
  if (within !== undefined)
    conditions.add(
      [within.map(plainText)],
      (list) => `number IN (SELECT number FROM ${schema}.agents WHERE id = ANY (${list}::text[])
        UNION ALL SELECT agent FROM ${schema}.labels WHERE name = '${above}' AND value = ANY (${list}::text[]))`,
    )
  return conditions
}

/** Reads one page. */
export async function readPage(database: Database, query: LogQuery): Promise<LogPage> {
  const { after, limit = defaultPageLimit, total = false } = query
  const { schema } = database
  const all = conditionsOf(schema, query)
  const page = conditionsOf(schema, query)
  if (after !== undefined)
    page.add(
      [Math.floor(after.writtenAt / 60_000), after.writtenAt, plainText(after.id)],
      (minute, time, id) =>
        `minute <= ${minute}::bigint AND (written_at < ${time}::bigint OR written_at = ${time}::bigint AND id > ${id})`,
    )
  const columns = 'id, last_seq, written_at, created_at, definition, path, forked_from, metadata'
  const place = page.values.push(Math.min(limit, Number.MAX_SAFE_INTEGER))
  const sql = `SELECT ${columns} FROM ${schema}.agents WHERE ${page.sql} ORDER BY minute DESC, written_at DESC, id LIMIT $${place}`
  const logs = (await database.query(sql, page.values)).map(entryIn)
  if (!total) return { logs }
  const [counted] = await database.query(`SELECT count(*) FROM ${schema}.agents WHERE ${all.sql}`, all.values)
  return { logs, total: Number(counted?.['count'] ?? 0) }
}
