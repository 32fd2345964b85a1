import type { GuardVerdict, Refusal } from '../../protocol/guarding.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { AgentContext } from '../agentTypes.ts'
import type { Draft } from '../draft.ts'

/** Returns the node up to which the input guards have looked; empty without them. */
export const guardInput = ({ policy, guardedTo = 0 }: AgentContext): { guardedTo?: NodeId } =>
  policy.flags.inputGuards === true ? { guardedTo } : nothing

const nothing = {}

/** Records what guards decided while a reply was made. */
export function recordGuards(draft: Draft, verdicts: readonly GuardVerdict[]): void {
  for (const verdict of verdicts) {
    draft.record({ type: 'guard.decided', ...draft.at, ...verdict })
    if (verdict.to !== undefined) draft.set({ guardedTo: verdict.to })
  }
}

/** Returns the refusal of a guard, if one refused. */
export function refusalIn(verdicts: readonly GuardVerdict[] = []): Refusal | undefined {
  const refused = verdicts.find(({ decision }) => decision === 'refused')
  if (refused === undefined) return undefined
  const { at, guard = '', reason = '' } = refused
  return { at, guard, reason }
}
