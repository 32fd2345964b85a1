import { useSyncExternalStore } from 'react'
import type { AgentSummary } from '../../wire/src/frames.ts'
import { useStores } from './agentProvider.ts'
import type { ConnectionFacts } from './agentStores.ts'

/**
 * The agents that run and that the client may see, sub-agents included: `path` has the ancestors of each. A few times a second at most.
 *
 * @throws RuntimeError `PROVIDER_MISSING`
 */
export function useRoster(): readonly AgentSummary[] {
  const { roster } = useStores('useRoster')
  return useSyncExternalStore(roster.subscribe, roster.getSnapshot, () => roster.initial)
}

/**
 * The connection to the server: `reconnecting` while it is away, `closed` for good.
 *
 * @throws RuntimeError `PROVIDER_MISSING`
 */
export function useConnection(): ConnectionFacts {
  const { connection } = useStores('useConnection')
  return useSyncExternalStore(connection.subscribe, connection.getSnapshot, () => connection.initial)
}
