import { totalTokens } from '../protocol/messages.ts'
import type { Limits } from '../protocol/runs/runLimits.ts'
import type { AgentContext, CallState, RunState } from './agentTypes.ts'
import { spentRun } from './spending.ts'

type Counted = 'turns' | 'tokens' | 'costUsd'

/**
 * Returns the limits of a sub-agent: the run's limits less the part used or reserved by running calls, shared equally
 * with the calls that have not started. `null` if nothing is left. Pure.
 */
export function allowanceFor(context: AgentContext, call: CallState): Limits | null {
  const others = context.calls.filter((other) => other !== call && context.policy.agents.includes(other.name))
  const waiting = others.filter(({ status }) => status === 'ready' || status === 'held').length
  return shareFor(context, waiting)
}

/** Returns the limits of a sub-agent that a running call calls, with `waiting` more to share them. `null` if nothing is left. Pure. */
export function shareFor(context: AgentContext, waiting: number): Limits | null {
  const { calls, attached, now } = context
  const run = spentRun(context)
  if (run === null) return {}
  const { limits } = run
  if (limits.turns === undefined && limits.tokens === undefined && limits.costUsd === undefined)
    return withTime({}, run, now)
  const running = [...calls.filter(({ status }) => status === 'running'), ...attached]
  const used = {
    turns: run.turns + run.childTurns,
    tokens: totalTokens(run.usage),
    costUsd: run.costUsd,
  }
  const share: Limits = {}
  for (const limit of ['turns', 'tokens', 'costUsd'] as const satisfies readonly Counted[]) {
    const allowed = limits[limit]
    if (allowed === undefined) continue
    const reserved = running.reduce((sum, other) => sum + (other.allowance?.[limit] ?? 0), 0)
    const part = (allowed - used[limit] - reserved) / (waiting + 1)
    const mine = limit === 'costUsd' ? part : Math.floor(part)
    if (mine <= 0) return null
    share[limit] = mine
  }
  return withTime(share, run, now)
}

/** Returns the share with the time left of the run's wall time, which all sub-agents share. */
function withTime(share: Limits, { deadline }: RunState, now: number): Limits | null {
  if (deadline === null) return share
  return deadline <= now ? null : { ...share, ms: deadline - now }
}

/** Returns the number of live sub-agents: those of running calls, those yet to report, and children spawned by code. */
export const aliveChildren = ({ calls, attached, reporters }: AgentContext): number =>
  calls.reduce(
    (count, { status, childId }) => (status === 'running' && childId !== undefined ? count + 1 : count),
    attached.length + reporters.filter(({ kind }) => kind === undefined).length,
  )
