import { totalTokens } from '../protocol/messages.ts'
import type { Limits } from '../protocol/records.ts'
import type { AgentContext, CallState } from './agentTypes.ts'

type Counted = 'turns' | 'tokens' | 'costUsd'

/**
 * What a sub-agent may use: an equal share, with the calls that have not begun, of what the run's limits leave and others that run
 * have not reserved. `null`: nothing is left. Pure.
 */
export function allowanceFor(context: AgentContext, call: CallState): Limits | null {
  const { run, policy, calls, now } = context
  if (run === null) return {}
  const others = calls.filter((other) => other !== call && policy.agents.includes(other.name))
  const waiting = others.filter(({ status }) => status === 'ready' || status === 'held').length
  const running = others.filter(({ status }) => status === 'running')
  const used = {
    turns: run.turns + run.childTurns,
    tokens: totalTokens(run.usage),
    costUsd: run.costUsd,
  }
  const share: Limits = {}
  for (const limit of ['turns', 'tokens', 'costUsd'] as const satisfies readonly Counted[]) {
    const allowed = run.limits[limit]
    if (allowed === undefined) continue
    const reserved = running.reduce((sum, other) => sum + (other.allowance?.[limit] ?? 0), 0)
    const part = (allowed - used[limit] - reserved) / (waiting + 1)
    const mine = limit === 'costUsd' ? part : Math.floor(part)
    if (mine <= 0) return null
    share[limit] = mine
  }
  if (run.deadline === null) return share
  return run.deadline <= now ? null : { ...share, ms: run.deadline - now }
}

/** Sub-agents that are alive: calls that run, and children that code gave. */
export const aliveChildren = ({ calls, attached }: AgentContext): number =>
  attached.length + calls.filter(({ status, childId }) => status === 'running' && childId !== undefined).length
