import type { GuardVerdict } from '../../protocol/guarding.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { AgentContext } from '../agentTypes.ts'
import type { Draft } from '../draft.ts'

/** Returns the node up to which the input guards have looked; empty without them. */
export const guardInput = ({ policy, guardedTo = 0 }: AgentContext): { guardedTo?: NodeId } =>
  policy.flags.inputGuards === true ? { guardedTo } : nothing

const nothing = {}

/** Records what guards decided while a reply was made. */
export function recordGuards(draft: Draft, verdicts: readonly GuardVerdict[]): void {
  for (const verdict of verdicts) draft.record({ type: 'guard.decided', ...draft.at, ...verdict })
}
