import { useSyncExternalStore } from 'react'
import type { AgentSummary } from '../../wire/src/frames.ts'
import { useStores } from './agentProvider.ts'
import type { ConnectionFacts } from './agentStores.ts'

/**
 * Returns the running agents that the client may see, sub-agents included: `path` has the ancestors of each. Updated at most a few times a second.
 *
 * @throws RuntimeError `PROVIDER_MISSING`
 */
export function useRoster(): readonly AgentSummary[] {
  const { roster } = useStores('useRoster')
  return useSyncExternalStore(roster.subscribe, roster.getSnapshot, () => roster.initial)
}

/**
 * Returns the state of the connection to the server: `reconnecting` while it is lost, `closed` for good.
 *
 * @throws RuntimeError `PROVIDER_MISSING`
 */
export function useConnection(): ConnectionFacts {
  const { connection } = useStores('useConnection')
  return useSyncExternalStore(connection.subscribe, connection.getSnapshot, () => connection.initial)
}
