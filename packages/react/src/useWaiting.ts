import { useSyncExternalStore } from 'react'
import type { WaitingAgent } from '../../../src/protocol/runs/pending.ts'
import { useStores } from './agentProvider.ts'

export type { WaitingAgent }

/**
 * Returns everything that waits for people in the agents that the client may see, running or not, longest wait first:
 * for a page on which people decide for many agents. Approve by `useAgent(agentId)` or
 * `client.agent(agentId).decide(key, 'approve')`, which wakes an agent that does not run. At most 1,000 agents.
 *
 * @throws RuntimeError `PROVIDER_MISSING`
 */
export function useWaiting(): readonly WaitingAgent[] {
  const { waiting } = useStores('useWaiting')
  return useSyncExternalStore(waiting.subscribe, waiting.getSnapshot, () => waiting.initial)
}
