import { isDeepStrictEqual } from 'node:util'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { countRepeated, otherRecord } from '../../stores/src/rules/appendChecks.ts'
import type { Append, PostgresLease } from './postgresLease.ts'

/** Plan of the appends of a log. `refusals`: in order, `undefined` for an append that is stored once `records` are. */
export interface Plan {
  readonly lease: PostgresLease
  readonly appends: readonly Append[]
  /** Reason why an append is refused, at its place. */
  readonly refusals: readonly unknown[]
  /** Records that the log does not have yet. */
  readonly records: readonly LogRecord[]
  readonly bodies: readonly string[]
}

/** The records that appends give although the log may have them already, as a span of seqs; `undefined`: none. Pure. */
export function repeatedIn(appends: readonly Append[], lastSeq: number): { from: number; to: number } | undefined {
  const seqs = appends.flatMap(({ records }) => records.map(({ seq }) => seq).filter((seq) => seq <= lastSeq))
  if (seqs.length === 0) return undefined
  return seqs.reduce(({ from, to }, seq) => ({ from: Math.min(from, seq), to: Math.max(to, seq) }), {
    from: lastSeq,
    to: 1,
  })
}

/** Finds what is new in appends that may repeat what the log has, or one another. `known`: the bodies of what it has, by seq. Pure. */
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
