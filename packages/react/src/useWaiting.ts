import { useSyncExternalStore } from 'react'
import type { WaitingAgent } from '../../../src/protocol/runs/pending.ts'
import { useStores } from './agentProvider.ts'

export type { WaitingAgent }

/**
 * Everything that waits for people at the agents that the client may see, whether they run or not, who has waited longest first: for a page on which people decide
 * what many agents ask. Approve by `useAgent(agentId)` or `client.agent(agentId).decide(key, 'approve')`, which wakes an agent that does not run. At most
 * 1,000 agents.
 *
 * @throws RuntimeError `PROVIDER_MISSING`
 */
export function useWaiting(): readonly WaitingAgent[] {
  const { waiting } = useStores('useWaiting')
  return useSyncExternalStore(waiting.subscribe, waiting.getSnapshot, () => waiting.initial)
}
