import type { AgentContext, CallState } from './agentTypes.ts'

/** Returns the number in the id of a sub-agent that the model called; `undefined` for any other id. Pure. */
export function numberOf(agentId: string, childId: string): number | undefined {
  const number = childId.startsWith(`${agentId}.`) ? childId.slice(agentId.length + 1) : ''
  return /^[1-9]\d*$/.test(number) ? Number(number) : undefined
}

/** Returns the earlier sub-agent that a call continues, if it is one of the agent's. Otherwise the effect that opens it answers the call. Pure. */
export function earlierChild(
  { agentId, children, policy }: AgentContext,
  { name, input }: Pick<CallState, 'name' | 'input'>,
): string | undefined {
  if (!policy.continuable.includes(name) || typeof input !== 'object' || input === null) return undefined
  const { continue: childId } = input as { readonly continue?: unknown }
  if (typeof childId !== 'string') return undefined
  const number = numberOf(agentId, childId)
  return number === undefined || number > children ? undefined : childId
}

/** Returns true if another call is at work with the same sub-agent. */
export const isTaken = (
  { calls, attached }: Pick<AgentContext, 'calls' | 'attached'>,
  call: CallState | undefined,
  childId: string,
): boolean =>
  calls.some((other) => other !== call && other.childId === childId && other.status !== 'settled') ||
  attached.some((child) => child.childId === childId)
