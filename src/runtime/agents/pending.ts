import type { AgentPolicy } from '../../machines/agentPolicy.ts'
import type { CallState } from '../../machines/agentTypes.ts'
import type { Pending } from '../../protocol/pending.ts'
import type { TreeNode } from './agentTree.ts'

/** What waits for people, of an agent and of those below it. */
export function pendingOf(host: TreeNode): Pending[] {
  const { calls, run } = host.context
  const { policy } = host.definition
  const own = run === null ? [] : calls.flatMap((call) => pendingCall(host.agentId, call, policy) ?? [])
  return [...own, ...host.listedChildren.flatMap(pendingOf)]
}

function pendingCall(
  agentId: string,
  { callId, key, name, input, status, question }: CallState,
  { irreversible }: Pick<AgentPolicy, 'irreversible'>,
): Pending | undefined {
  const call = { agentId, callId, key, name, input }
  switch (status) {
    case 'held':
      return { kind: 'approval', ...call, ...(irreversible.includes(name) ? { irreversible: true } : {}) }
    case 'asking':
    case 'asked':
      return { kind: 'question', ...call, ...question! }
    case 'requested':
      return { kind: 'call', ...call }
    case 'ready':
    case 'checking':
    case 'running':
    case 'paused':
    case 'settled':
      return undefined
  }
}
