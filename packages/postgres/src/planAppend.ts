import { isDeepStrictEqual } from 'node:util'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { countRepeated, otherRecord } from '../../stores/src/rules/appendChecks.ts'
import type { Append, PostgresLease } from './postgresLease.ts'

/** Plan for the appends of a log. `refusals` are in order, `undefined` for an append that is stored once `records` are. */
export interface Plan {
  readonly lease: PostgresLease
  readonly appends: readonly Append[]
  /** Reason why an append is refused, at its place. */
  readonly refusals: readonly unknown[]
  /** Records that the log does not have yet. */
  readonly records: readonly LogRecord[]
  readonly bodies: readonly string[]
}

/** Returns the range of seqs that the appends contain but the log may already have; `undefined` if none. Pure. */
export function repeatedIn(appends: readonly Append[], lastSeq: number): { from: number; to: number } | undefined {
  const seqs = appends.flatMap(({ records }) => records.map(({ seq }) => seq).filter((seq) => seq <= lastSeq))
  if (seqs.length === 0) return undefined
  return seqs.reduce(({ from, to }, seq) => ({ from: Math.min(from, seq), to: Math.max(to, seq) }), {
    from: lastSeq,
    to: 1,
  })
}

/** Returns the new records of appends that may repeat the log's or one another's records. `known`: bodies in the log, by seq. Pure. */
export function planAppend(lease: PostgresLease, appends: readonly Append[], known: ReadonlyMap<number, string>): Plan {
  const { agentId, lastSeq } = lease
  const records: LogRecord[] = []
  const bodies: string[] = []
  const refusals = appends.map((append) => {
    try {
      const repeated = countRepeated(agentId, append.records, lastSeq + records.length)
      for (let index = 0; index < repeated; index += 1) {
        const { seq } = append.records[index]!
        const there = bodies[seq - lastSeq - 1] ?? known.get(seq)
        if (!isSame(there, append.bodies[index]!)) throw otherRecord(agentId, seq)
      }
      for (let index = repeated; index < append.records.length; index += 1) {
        records.push(append.records[index]!)
        bodies.push(append.bodies[index]!)
      }
      return undefined
    } catch (thrown) {
      return thrown
    }
  })
  return { lease, appends, refusals, records, bodies }
}

function isSame(there: string | undefined, given: string): boolean {
  return there === given || (there !== undefined && isDeepStrictEqual(JSON.parse(there), JSON.parse(given)))
}
