import type { RecordOf } from '../../../src/protocol/records.ts'
import { labelsOf } from '../../stores/src/labels.ts'
import { originOf } from '../../stores/src/rules/logPages.ts'
import type { Plan } from './planAppend.ts'
import { plainText } from './plainText.ts'

/** A statement with its values. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

const numbers = (list: readonly number[]): string => `{${list.join(',')}}`

/**
 * Returns the statement that writes the records of many logs in one commit: for each log that still has the epoch and last record known to
 * its writer. It yields the positions `at` of those plans, from 1. Bodies are sent as one text with a line each, which JSON allows, because
 * that takes a fraction of the work that an array does.
 */
export function writeRecords(schema: string, plans: readonly Plan[]): Statement {
  const births = plans.flatMap(({ records }, index) =>
    records.flatMap((record) => (record.type === 'agent.created' ? [{ at: index + 1, record }] : [])),
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
)${isBirth ? labelling(schema) : ''}
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
  return { text: sql, values: isBirth ? [...values, ...birthValues(births), ...labelValues(births)] : values }
}

/** The first record of a log that is written. */
interface Birth {
  /** Position of its plan, from 1. */
  readonly at: number
  readonly record: RecordOf<'agent.created'>
}

/** Columns of an agent that lists use. */
const birthColumns = `, created_at = coalesce(b.created_at, a.created_at), definition = coalesce(b.definition, a.definition),
    path = coalesce(b.path, a.path), forked_from = coalesce(b.forked_from, a.forked_from), metadata = coalesce(b.metadata, a.metadata)`
const birthSource = ` LEFT JOIN unnest($9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[])
    AS b (at, created_at, definition, path, forked_from, metadata) ON b.at = g.at`

function birthValues(births: readonly Birth[]): unknown[] {
  const origins = births.map(({ record }) => originOf(record))
  return [
    numbers(births.map(({ at }) => at)),
    numbers(origins.map(({ createdAt }) => Math.trunc(createdAt))),
    origins.map(({ definition }) => plainText(definition)),
    origins.map(({ path }) => JSON.stringify(path)),
    origins.map(({ forkedFrom }) => forkedFrom ?? null),
    origins.map(({ metadata }) => (metadata === undefined ? null : JSON.stringify(metadata))),
  ]
}

/** Statement that writes the labels by which lists are filtered. */
const labelling = (schema: string): string => `, labelled AS (
  INSERT INTO ${schema}.labels (name, value, agent)
  SELECT l.name, l.value, m.number FROM unnest($15::bigint[], $16::text[], $17::text[]) AS l (at, name, value) JOIN moved m ON m.at = l.at
  ON CONFLICT DO NOTHING
)`

function labelValues(births: readonly Birth[]): unknown[] {
  const labels = births.flatMap(({ at, record }) =>
    labelsOf(originOf(record)).map(([name, value]) => ({ at, name: plainText(name), value: plainText(value) })),
  )
  return [numbers(labels.map(({ at }) => at)), labels.map(({ name }) => name), labels.map(({ value }) => value)]
}
