import type { ErrorInfo } from '../protocol/errors.ts'
import type { Session } from './session.ts'

/** A session in a list. */
export interface SessionSummary extends Omit<Session, 'loops' | 'changes'> {
  /** How many there are. */
  readonly loops: number
  readonly turns: number
  /** Ids of the sessions that were forked from this one's own log. */
  readonly forks: readonly string[]
  /** Ids of the sessions whose parent this one is. */
  readonly children: readonly string[]
  /** Why the log cannot be read; the rest is what could be, up to there. */
  readonly error?: ErrorInfo
}

/** A session without its loops. Pure; `forks` and `children` are empty, as only a list can tell them. */
export function summaryOf({ loops, changes: _, ...session }: Session): SessionSummary {
  const turns = loops.reduce((sum, loop) => sum + loop.turns.length, 0)
  return { ...session, loops: loops.length, turns, forks: [], children: [] }
}
