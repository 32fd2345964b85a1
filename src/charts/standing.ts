import type { AgentSummary } from '../protocol/frames.ts'
import { oneLine } from './plainText.ts'

/**
 * Where an agent stands, for a person who looks at many. `waiting`: for a person; `failed`: its last run did; `paused`: at a limit, or
 * because its store or process broke; `ended`: it takes no more commands here.
 */
export const standings = ['waiting', 'failed', 'paused', 'working', 'idle', 'ended'] as const
export type Standing = (typeof standings)[number]

/** What of an agent decides where it stands; `waits`: whether something of its own waits for a person. */
export type StandingFacts = Pick<AgentSummary, 'state' | 'last' | 'doing'> & { readonly waits: boolean }

/** Where an agent stands. Pure. */
export function standingOf({ state, last, waits }: StandingFacts): Standing {
  if (state === 'stopped' || state === 'closed') return 'ended'
  if (waits) return 'waiting'
  if (state === 'paused') return last?.reason?.type === 'approvals' ? 'waiting' : 'paused'
  if (state === 'idle') return last?.stopReason === 'error' ? 'failed' : 'idle'
  return 'working'
}

/** By state, or by the first part of it. */
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

/** What an agent does, in a few words: `writing`, `runs run_command npm test`, `waits for you`, `paused: limit of turns`, `failed: MODEL_AUTH`. Pure. */
export function standingWords(facts: StandingFacts): string {
  const { state, last, doing } = facts
  const standing = standingOf(facts)
  if (standing === 'waiting') return 'waits for you'
  if (standing === 'failed') return last?.error === undefined ? 'failed' : `failed: ${last.error.code}`
  if (standing === 'paused') {
    const { reason } = last ?? {}
    if (reason === undefined) return 'paused'
    return `paused: ${reason.type === 'limit' ? `limit of ${reason.limit}` : (pauses[reason.type] ?? reason.type)}`
  }
  if (doing !== undefined && doing !== '' && state.startsWith('executing')) return `runs ${oneLine(doing)}`
  return doings[state] ?? doings[state.split('.', 1)[0]!] ?? state
}
