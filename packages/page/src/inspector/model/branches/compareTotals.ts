import { WorkTimes, type Took } from '../../../../../charts/src/workTimes.ts'
import { totalTokens } from '../../../../../../src/protocol/text/messageText.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import { foldSpent, nothingYet, totalSpent } from '../../../../../../src/log/spent.ts'
import type { AgentViewState } from '../agent/agentView.ts'

/** Turns, tokens, cost and time of an agent. */
export interface Totals {
  readonly turns: number
  readonly tokens: number
  readonly costUsd: number
  readonly took: Took
}

type Logs = Pick<AgentViewState, 'past' | 'records'>

/** Returns the logs of an agent in order: those that it shares with its sources, then its own. */
const partsOf = ({ past, records }: Logs): readonly (readonly LogRecord[])[] => [...past, records]

const ownerOf = ([first]: readonly LogRecord[]): string | undefined =>
  first?.type === 'agent.created' ? first.agentId : undefined

/**
 * Returns the number of records at the beginning that two agents share, because one is a fork of the other or both are forks of a third.
 * Pure.
 */
export function sharedRecords(left: Logs, right: Logs): number {
  const others = partsOf(right)
  let shared = 0
  for (const [at, part] of partsOf(left).entries()) {
    const other = others[at]
    if (other === undefined || ownerOf(part) === undefined || ownerOf(part) !== ownerOf(other)) break
    shared += Math.min(part.length, other.length)
    if (part.length !== other.length) break
  }
  return shared
}

/** Totals of one side of a comparison, overall and since the sides parted. Keeps its sums, and adds records as the log grows. */
export class SideTotals {
  readonly #past: readonly LogRecord[]
  readonly #shared: number
  #times = new WorkTimes()
  #spent = nothingYet
  /** Time of the runs before the current one. */
  #took = noTime
  #next = 0
  /** Time of the last record. */
  #last = 0
  /** Totals of the shared beginning, set once it has been passed. */
  #before: Totals | undefined

  /** `shared`: records at the beginning that the other side has too. */
  constructor(past: readonly (readonly LogRecord[])[], shared: number) {
    this.#past = past.flat()
    this.#shared = shared
  }

  /** Returns the totals after the first `count` of `records`, the side's own log, which only grows. */
  of(records: readonly LogRecord[], count: number): { readonly all: Totals; readonly since: Totals } {
    const end = this.#past.length + count
    for (; this.#next < end; this.#next++) {
      if (this.#next === this.#shared) this.#before = this.#now()
      this.#take(this.#past[this.#next] ?? records[this.#next - this.#past.length]!)
    }
    const all = this.#now()
    return { all, since: less(all, this.#before ?? all) }
  }

  #take(record: LogRecord): void {
    // A run that was forked in its middle, or whose process died, has no end: what it took until then counts.
    if (record.type === 'run.start' || record.type === 'agent.created') {
      this.#took = this.#worked()
      this.#times = new WorkTimes()
    }
    this.#spent = foldSpent(this.#spent, record)
    const took = this.#times.take(record as LogRecord & AgentEvent)
    if (record.type === 'run.end' && took !== undefined) this.#took = sum(this.#took, took)
    this.#last = record.time
  }

  #worked(): Took {
    return sum(this.#took, this.#times.runUntil(this.#last) ?? noTime)
  }

  #now(): Totals {
    const { usage, costUsd, turns } = totalSpent(this.#spent)
    return { turns, tokens: totalTokens(usage), costUsd, took: this.#worked() }
  }
}

const noTime: Took = { ms: 0, waitedMs: 0 }

const sum = (a: Took, b: Took): Took => ({ ms: a.ms + b.ms, waitedMs: a.waitedMs + b.waitedMs })

const less = (all: Totals, before: Totals): Totals => ({
  turns: all.turns - before.turns,
  tokens: all.tokens - before.tokens,
  costUsd: Math.max(0, all.costUsd - before.costUsd),
  took: { ms: all.took.ms - before.took.ms, waitedMs: all.took.waitedMs - before.took.waitedMs },
})
