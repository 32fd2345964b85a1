import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { defaultPageLimit, type LogPage, type LogQuery } from '../../../src/protocol/ports/logPages.ts'
import { entryIn } from '../../stores/src/agentRow.ts'
import { above, labelsAsked } from '../../stores/src/labels.ts'
import type { Connection } from './connection.ts'

/** A condition and its values. */
export interface Condition {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

const labelled: Condition['sql'] = 'number IN (SELECT agent FROM labels WHERE name = ? AND value = ?)'

/** Returns the conditions of `query` on the agents table, without `after` and `limit`. Pure. */
export function conditionsOf(query: LogQuery): Condition[] {
  const { ids, within, definition, parent } = query
  const conditions: Condition[] = [
    { sql: 'last_seq > 0', values: [] },
    ...labelsAsked(query).map((label): Condition => ({ sql: labelled, values: label })),
  ]
  if (parent === null) conditions.push({ sql: `path = '[]'`, values: [] })
  if (definition !== undefined) conditions.push({ sql: 'definition = ?', values: [definition] })
  if (ids !== undefined)
    conditions.push({ sql: 'id IN (SELECT value FROM json_each(?))', values: [JSON.stringify(ids)] })
  if (within !== undefined) {
    const these = JSON.stringify(within)
    conditions.push({
      sql: `number IN (SELECT number FROM agents WHERE id IN (SELECT value FROM json_each(?))
        UNION ALL SELECT agent FROM labels WHERE name = '${above}' AND value IN (SELECT value FROM json_each(?)))`,
      values: [these, these],
    })
  }
  return conditions
}

/** Reads one page. */
export function readPage(connection: Connection, query: LogQuery): LogPage {
  const { after, limit = defaultPageLimit, total = false } = query
  const conditions = conditionsOf(query)
  const place: Condition[] =
    after === undefined
      ? []
      : [
          {
            sql: 'written_at <= ? AND (written_at < ? OR id > ?)',
            values: [after.writtenAt, after.writtenAt, after.id],
          },
        ]
  const columns = 'id, last_seq, written_at, created_at, definition, path, forked_from, metadata'
  const last = { sql: 'ORDER BY written_at DESC, id LIMIT ?', values: [Math.min(limit, Number.MAX_SAFE_INTEGER)] }
  const rows = find(connection, columns, [...conditions, ...place], last)
  if (!total) return { logs: rows.map(entryIn) }
  const [counted] = find(connection, 'count(*) AS count', conditions)
  return { logs: rows.map(entryIn), total: Number(counted?.['count'] ?? 0) }
}

function find(
  connection: Connection,
  what: string,
  conditions: readonly Condition[],
  last: Condition = { sql: '', values: [] },
): Record<string, SQLOutputValue>[] {
  const where = conditions.map(({ sql }) => sql).join(' AND ')
  const values = [...conditions, last].flatMap((condition) => [...condition.values])
  return connection.statement(`SELECT ${what} FROM agents WHERE ${where} ${last.sql}`).all(...values)
}
