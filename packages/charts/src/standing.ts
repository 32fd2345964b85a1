import type { AgentSummary, SessionEntry } from '../../wire/src/frames.ts'
import { limitWords } from './amounts.ts'
import { oneLine } from './plainText.ts'

/**
 * Standing of an agent, for a person who looks at many. `waiting`: for a person; `failed`: the last run failed;
 * `paused`: at a limit, or because the store or process broke; `ended`: takes no more commands here.
 */
export const standings = ['waiting', 'failed', 'paused', 'working', 'idle', 'ended'] as const
export type Standing = (typeof standings)[number]

/** The facts that decide the standing of an agent; `waits`: true if an item of its own waits for a person. */
export type StandingFacts = Pick<AgentSummary, 'state' | 'last' | 'doing'> & { readonly waits: boolean }

/**
 * Keys of the approvals and questions of the agent itself that wait for people. A summary's `pending` includes those of its sub-agents, so
 * a count over a tree adds up these keys. Pure.
 */
export const ownPending = ({ agentId, pending, pendingApprovals }: Waiting): readonly string[] =>
  (pending ?? pendingApprovals).filter((key) => key.startsWith(`${agentId}/`))

type Waiting = Pick<AgentSummary, 'agentId' | 'pending' | 'pendingApprovals'>

/** Returns the facts that decide the standing of a running agent. Pure. */
export const factsOf = (agent: Waiting & Pick<AgentSummary, 'state' | 'last' | 'doing'>): StandingFacts => ({
  state: agent.state,
  waits: ownPending(agent).length > 0,
  ...(agent.last === undefined ? {} : { last: agent.last }),
  ...(agent.doing === undefined ? {} : { doing: agent.doing }),
})

/**
 * Returns the facts that decide the standing of a session while its agent does not run: a failure, a pause and a wait for a person stay. A
 * session whose log has no end for its run was cut off with its process. Pure.
 */
export function factsAtRest({
  status,
  isStopped,
  last,
}: Pick<SessionEntry, 'status' | 'isStopped' | 'last'>): StandingFacts {
  if (isStopped) return { state: 'stopped', waits: false }
  if (status === 'running')
    return { state: 'paused', waits: false, last: { stopReason: 'paused', at: 0, reason: { type: 'interrupted' } } }
  const stopReason = last?.stopReason ?? (status === 'failed' ? 'error' : status === 'paused' ? 'paused' : 'stop')
  const state = stopReason === 'paused' ? 'paused' : stopReason === 'error' ? 'idle' : 'closed'
  return { state, waits: false, last: last ?? { stopReason, at: 0 } }
}

/** Returns the standing of an agent. Pure. */
export function standingOf({ state, last, waits }: StandingFacts): Standing {
  if (state === 'stopped' || state === 'closed') return 'ended'
  if (waits) return 'waiting'
  if (state === 'paused') return last?.reason?.type === 'approvals' ? 'waiting' : 'paused'
  if (state === 'idle') return last?.stopReason === 'error' ? 'failed' : 'idle'
  return 'working'
}

/** Words for the agent's activity, by the path of its state or the first part of the path. */
const doings: Readonly<Record<string, string>> = {
  replying: 'thinking',
  'replying.streaming': 'writing',
  preparing: 'getting ready',
  backoff: 'tries again soon',
  executing: 'runs tools',
  draining: 'tidies its conversation',
  'draining.consulting': 'asks a policy',
  'draining.folding': 'folds old steps',
  'draining.undoing': 'undoes effects',
  compacting: 'compacts its conversation',
  settling: 'finishes',
  stopped: 'stopped',
  closed: 'at rest',
  idle: 'idle',
}

const pauses: Readonly<Record<string, string>> = {
  store: 'its store failed',
  stall: 'in circles',
  interrupted: 'its process died',
}

/**
 * Describes the activity of an agent in a few words: `writing`, `runs run_command npm test`, `waits for you`, `paused: limit of 60 turns`,
 * `failed: MODEL_AUTH`. Pure.
 */
export function standingWords(facts: StandingFacts): string {
  const { state, last, doing } = facts
  const standing = standingOf(facts)
  if (standing === 'waiting') return 'waits for you'
  if (standing === 'failed') return last?.error === undefined ? 'failed' : `failed: ${last.error.code}`
  if (standing === 'paused') {
    const { reason } = last ?? {}
    if (reason === undefined) return 'paused'
    return `paused: ${reason.type === 'limit' ? limitWords(reason) : (pauses[reason.type] ?? reason.type)}`
  }
  if (doing !== undefined && doing !== '' && state.startsWith('executing')) return `runs ${oneLine(doing)}`
  return doings[state] ?? doings[state.split('.', 1)[0]!] ?? state
}
