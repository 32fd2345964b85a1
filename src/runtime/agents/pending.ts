import type { AgentContext, CallState } from '../../machines/agentTypes.ts'
import type { Pending } from '../../protocol/runs/pending.ts'
import type { TreeAgent } from '../children/treeAgent.ts'

/** Calls and questions that wait for people, of an agent and of those below it. */
export const pendingOf = (host: TreeAgent): Pending[] => [
  ...ownPending(host.agentId, host.machine.context),
  ...host.family.listed.flatMap(pendingOf),
]

/** An agent's own calls that wait for people. */
export const ownPending = (agentId: string, { calls, run }: Pick<AgentContext, 'calls' | 'run'>): Pending[] =>
  run === null ? [] : calls.flatMap((call) => pendingCall(agentId, call) ?? [])

function pendingCall(
  agentId: string,
  { callId, key, name, input, status, question, irreversible }: CallState,
): Pending | undefined {
  const call = { agentId, callId, key, name, input }
  switch (status) {
    case 'held':
      return { kind: 'approval', ...call, ...(irreversible === undefined ? {} : { irreversible }) }
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
