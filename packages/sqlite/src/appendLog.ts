import { isDeepStrictEqual } from 'node:util'
import type { LogRecord, RecordOf } from '../../../src/protocol/records.ts'
import { leaseLost, countRepeated, otherRecord } from '../../stores/src/rules/appendChecks.ts'
import { originOf } from '../../stores/src/rules/logPages.ts'
import type { Connection } from './connection.ts'
import { labelsOf } from '../../stores/src/labels.ts'
import type { SqliteLease } from './sqliteLease.ts'

/** Records to be written. */
export interface Append {
  readonly lease: SqliteLease
  readonly records: readonly LogRecord[]
  /** The records as JSON. */
  readonly bodies: readonly string[]
}

/**
 * Writes records within a transaction. Returns the new last seq, which the lease takes once the transaction has succeeded.
 *
 * @throws RuntimeError `STORE_LEASE_LOST`, `STORE_APPEND_FAILED` on a gap and for a different record under an existing `seq`.
 * None of the records is written then.
 */
export function appendLog(connection: Connection, { lease, records, bodies }: Append): number {
  const { agentId, number, epoch } = lease
  const row = connection.statement('SELECT epoch, last_seq FROM agents WHERE number = ?').get(number)
  if (row?.['epoch'] !== epoch) throw leaseLost(agentId, epoch, row === undefined ? undefined : Number(row['epoch']))
  const lastSeq = Number(row['last_seq'])
  const repeated = countRepeated(agentId, records, lastSeq)
  for (let index = 0; index < repeated; index += 1) checkSame(connection, lease, records[index]!, bodies[index]!)
  const last = records.at(-1)
  if (last === undefined || repeated === records.length) return lastSeq
  connection
    .statement('UPDATE agents SET last_seq = ?, written_at = ? WHERE number = ?')
    .run(last.seq, Math.trunc(last.time), number)
  const insert = connection.statement('INSERT INTO records (agent, seq, body) VALUES (?, ?, ?)')
  for (let index = repeated; index < records.length; index += 1) {
    const record = records[index]!
    insert.run(number, record.seq, bodies[index]!)
    if (record.type === 'agent.created') noteBirth(connection, number, record)
  }
  return last.seq
}

/** Checks that the log has the same record. @throws RuntimeError `STORE_APPEND_FAILED` */
function checkSame(connection: Connection, { agentId, number }: SqliteLease, { seq }: LogRecord, body: string): void {
  const row = connection.statement('SELECT body FROM records WHERE agent = ? AND seq = ?').get(number, seq)
  const known = String(row?.['body'])
  if (known !== body && !isDeepStrictEqual(JSON.parse(known), JSON.parse(body))) throw otherRecord(agentId, seq)
}

/** Writes the columns and labels of an agent that lists use. */
function noteBirth(connection: Connection, number: number, record: RecordOf<'agent.created'>): void {
  const origin = originOf(record)
  const { createdAt, definition, path, forkedFrom, metadata } = origin
  connection
    .statement(
      'UPDATE agents SET created_at = ?, definition = ?, path = ?, forked_from = ?, metadata = ? WHERE number = ?',
    )
    .run(
      Math.trunc(createdAt),
      definition,
      JSON.stringify(path),
      forkedFrom ?? null,
      metadata === undefined ? null : JSON.stringify(metadata),
      number,
    )
  const label = connection.statement('INSERT OR IGNORE INTO labels (name, value, agent) VALUES (?, ?, ?)')
  for (const [name, value] of labelsOf(origin)) label.run(name, value, number)
}
