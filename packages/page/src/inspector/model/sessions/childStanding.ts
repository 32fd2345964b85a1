import type { AgentSummary } from '../../../../../wire/src/frames.ts'
import type { AgentViewState } from '../agent/agentView.ts'
import { standsOf, type Stands } from './stands.ts'
import { callsUnderWay } from '../agent/viewStanding.ts'

/**
 * Returns the standing of a sub-agent of the agent that is shown. `summary`: the server's summary of it, if it runs.
 * `hasLeft`: true if the server said that it has gone. Pure.
 */
export function childStanding(
  child: string,
  { records, at, lastSeq, isRunning }: Pick<AgentViewState, 'records' | 'at' | 'lastSeq' | 'isRunning'>,
  { summary, hasLeft }: { readonly summary: AgentSummary | undefined; readonly hasLeft: boolean },
): Pick<Stands, 'standing' | 'words'> {
  if (summary !== undefined) return standsOf(summary)
  // The log that names it may be faster than the list of those that run.
  const mayStart = isRunning && at === null && !hasLeft
  return mayStart && callsUnderWay(records, lastSeq)?.children.includes(child) === true
    ? { standing: 'working', words: 'starting' }
    : { standing: 'ended', words: 'ended' }
}
