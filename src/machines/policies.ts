import type { PolicyRequest, PolicyStart } from '../protocol/braking.ts'
import type { AgentContext } from './agentTypes.ts'
import { askFor } from './brakes.ts'
import type { ConsultOutput } from './drainTypes.ts'
import type { Draft } from './draft.ts'

/** Returns the key of the current consultation, which is also the id of the request that a policy then makes. */
export const consultKey = (context: AgentContext): string => `${context.agentId}/policy/${context.drainedAt}`

/** Returns the number of policies asked in the current round. There is one round after every turn, and one at rest. */
export function askedSoFar({ consulted, turns, run }: AgentContext): number {
  return consulted.turns === turns && consulted.atRest === (run === null) ? consulted.count : 0
}

/** Queues a request for a policy; ignored without policies. */
export function requestPolicy(draft: Draft, asked: PolicyRequest): void {
  const { policyRequests } = draft.context
  if (policyRequests === null) return
  draft.record({ type: 'policy.requested', ...draft.at, request: asked })
  draft.set({ policyRequests: [...policyRequests, asked] })
}

/** Records that a policy has fired: from here on, models may be paid. */
export function startPolicy(draft: Draft, start: PolicyStart): void {
  draft.record({ type: 'policy.start', ...draft.at, ...start })
}

/** Records the outcome of a policy, and queues its requests first, so that a crash between two records loses nothing. */
export function endConsultation(draft: Draft, output: ConsultOutput): void {
  const { asked: count, end, prune, revert, noteTokens } = output
  const { turns, run } = draft.context
  draft.set({ consulted: { turns, atRest: run === null, count } })
  if (end === null) return
  if (prune !== undefined) askFor(draft, 'prune', prune)
  if (revert !== undefined) askFor(draft, 'revert', revert)
  draft.record({ type: 'policy.end', ...draft.at, ...end })
  dropRequest(draft, end.requestId)
  draft.set({ contextTokens: draft.context.contextTokens + noteTokens })
}

/** Opens a consultation, which answers the oldest request or else asks the policies left in this round. */
export function beginConsultation(draft: Draft): void {
  const { seq, policyRequests } = draft.context
  draft.set({ drainedAt: seq, drained: policyRequests?.slice(0, 1).map(({ id }) => id) ?? [] })
}

/** Records that a consultation did not finish. No policy is asked again in this round. */
export function cancelConsultation(draft: Draft, reason: string, staysAsked = false): void {
  const { consulting, turns, run, policy } = draft.context
  draft.set({ consulted: { turns, atRest: run === null, count: policy.policies.names.length } })
  const current = consulting ?? requestUnderWay(draft.context)
  if (current === undefined || (consulting === null && staysAsked)) return
  const { policy: name, requestId } = current
  const answered = requestId === undefined || staysAsked ? {} : { requestId }
  draft.record({ type: 'policy.end', ...draft.at, policy: name, outcome: 'failed', reason, ...answered, costUsd: 0 })
  dropRequest(draft, answered.requestId)
}

function requestUnderWay({ policyRequests, drained }: AgentContext): { policy: string; requestId: string } | undefined {
  const found = policyRequests?.find(({ id }) => drained.includes(id))
  return found === undefined ? undefined : { policy: found.policy, requestId: found.id }
}

/** Refuses the waiting policy requests, because they will not be answered. */
export function refusePolicies(draft: Draft, why: string): void {
  for (const { id: requestId, policy } of draft.context.policyRequests ?? []) {
    const reason = `policy refused: ${why}`
    draft.record({ type: 'policy.end', ...draft.at, policy, outcome: 'failed', reason, requestId, costUsd: 0 })
    dropRequest(draft, requestId)
  }
}

function dropRequest(draft: Draft, answered: string | undefined): void {
  if (answered === undefined) return
  draft.set({ policyRequests: draft.context.policyRequests?.filter(({ id }) => id !== answered) ?? null })
}
