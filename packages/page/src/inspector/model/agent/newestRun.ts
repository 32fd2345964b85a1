import type { LogRecord, RecordOf } from '../../../../../../src/protocol/records.ts'

/** The newest run of an agent, as far as its log goes. */
export interface NewestRun extends Pick<RecordOf<'run.start'>, 'limits'> {
  readonly id: string
  /** Start of the run, in epoch milliseconds. */
  readonly startedAt: number
  readonly endedAt?: number
  /** Number of turns that have begun, and the index of the newest. */
  readonly turns: number
  readonly turnIndex?: number
  /** Cost in US dollars, sub-agents included. 0 before the end of the run. */
  readonly costUsd: number
}

/** Returns the newest run after one more record of the agent's own; `soFar`: US dollars that the records of the run state. Pure. */
export function runAfter(run: NewestRun | null, record: LogRecord, soFar: number): NewestRun | null {
  if (record.type === 'run.start')
    return { id: record.runId, startedAt: record.time, limits: record.limits, turns: 0, costUsd: 0 }
  if (run === null || run.endedAt !== undefined) return run
  if (record.type === 'turn.start') return { ...run, turns: run.turns + 1, turnIndex: record.turnIndex }
  return record.type === 'run.end' ? { ...run, endedAt: record.time, costUsd: Math.max(soFar, record.costUsd) } : run
}
