import type { RecordOf } from '../../protocol/records.ts'
import type { Plan } from './planAppend.ts'

/** A statement with what it is given. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

const numbers = (list: readonly number[]): string => `{${list.join(',')}}`

/** Text that the database takes: what is no character is replaced. JSON has none of it. */
const text = (value: string): string => value.toWellFormed().replaceAll('\u0000', '\ufffd')

/**
 * Writes the records of many logs by one statement, which is one commit: for each log that still has the epoch and the last record that
 * its writer knows. Gives the place `at` of those among the plans, from 1. Bodies come as one text with a line each, which JSON allows: it takes a fraction of the
 * work that an array does.
 */
export function writeRecords(schema: string, plans: readonly Plan[]): Statement {
  const births = plans.flatMap(({ lease, records }) =>
    records.flatMap((record) => (record.type === 'agent.created' ? [{ number: lease.number, record }] : [])),
  )
  const isBirth = births.length > 0
  const sql = `
WITH given AS (
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::int[], $5::bigint[])
    WITH ORDINALITY AS g (number, epoch, first, last, written_at, at)
), moved AS (
  UPDATE ${schema}.agents a SET last_seq = g.last, written_at = g.written_at${isBirth ? birthColumns : ''}
  FROM given g${isBirth ? birthSource : ''} WHERE a.number = g.number AND a.epoch = g.epoch AND a.last_seq = g.first - 1
  RETURNING g.at, a.number, a.epoch
), kept AS (
  INSERT INTO ${schema}.records (agent, epoch, seq, body)
  SELECT m.number, m.epoch, r.seq, r.body
  FROM unnest($6::bigint[], $7::int[], string_to_array($8, E'\\n')) AS r (at, seq, body) JOIN moved m ON m.at = r.at
)
SELECT at FROM moved`
  const values = [
    numbers(plans.map(({ lease }) => lease.number)),
    numbers(plans.map(({ lease }) => lease.epoch)),
    numbers(plans.map(({ records }) => records[0]!.seq)),
    numbers(plans.map(({ records }) => records.at(-1)!.seq)),
    numbers(plans.map(({ records }) => Math.trunc(records.at(-1)!.time))),
    numbers(plans.flatMap(({ records }, index) => records.map(() => index + 1))),
    numbers(plans.flatMap(({ records }) => records.map(({ seq }) => seq))),
    plans.flatMap(({ bodies }) => bodies).join('\n'),
  ]
  return { text: sql, values: isBirth ? [...values, ...birthValues(births)] : values }
}

/** What lists ask for stands beside the agent. */
const birthColumns = `, created_at = coalesce(b.created_at, a.created_at), definition = coalesce(b.definition, a.definition),
    path = coalesce(b.path, a.path), forked_from = coalesce(b.forked_from, a.forked_from), metadata = coalesce(b.metadata, a.metadata)`
const birthSource = ` LEFT JOIN unnest($9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[])
    AS b (number, created_at, definition, path, forked_from, metadata) ON b.number = g.number`

function birthValues(
  births: readonly { readonly number: number; readonly record: RecordOf<'agent.created'> }[],
): unknown[] {
  const each = (of: (record: RecordOf<'agent.created'>) => string | null): (string | null)[] =>
    births.map(({ record }) => {
      const value = of(record)
      return value === null ? null : text(value)
    })
  return [
    numbers(births.map(({ number }) => number)),
    numbers(births.map(({ record }) => Math.trunc(record.time))),
    each(({ definition }) => definition),
    each(({ path }) => JSON.stringify(path)),
    each(({ forkedFrom }) => forkedFrom?.agentId ?? null),
    each(({ metadata }) => (metadata === undefined ? null : JSON.stringify(metadata))),
  ]
}
