import { useCallback, useMemo, useSyncExternalStore } from 'react'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { AgentView } from '../../bridge/src/client/agentStore.ts'
import type { RemoteSpawnOptions } from '../../bridge/src/client/remoteQueries.ts'
import type { RemoteAgentOf } from '../../bridge/src/client/remoteAgentOf.ts'
import { useStores } from './agentProvider.ts'
import type { AgentStores, CommandName } from './agentStores.ts'

/** An agent as a component sees it. */
export type UsedAgent<D extends AgentDefinition = AgentDefinition> = AgentView['facts'] &
  Pick<RemoteAgentOf<D>, CommandName> & {
    /** The agent of the client, for everything else: `revert`, `onCall`, `stop` … @throws RuntimeError `INVALID_OPTION`: the provider has no client. */
    readonly agent: RemoteAgentOf<D>
    /** Follows the agent again, after that failed. */
    readonly retry: () => void
  }

export interface UseAgentOptions extends Omit<RemoteSpawnOptions, 'id'> {
  /** Definition from which to spawn an agent with this id, if there is none. */
  readonly spawn?: string
}

/**
 * An agent of the server: how it is, and what it can be told. The component is drawn anew when its state changes, not for the text of a reply.
 * With the type of its definition, results and events are typed.
 *
 * @throws RuntimeError `PROVIDER_MISSING`
 *
 * @example
 * ```ts no-run
 * import { createElement } from 'react'
 * import { useAgent } from 'escapement/react'
 *
 * function Stop({ id }: { id: string }) {
 *   const { status, abort } = useAgent(id)
 *   return createElement('button', { onClick: abort, disabled: status !== 'running' }, 'Stop')
 * }
 * ```
 */
export function useAgent<D extends AgentDefinition>(id: string, options: UseAgentOptions = {}): UsedAgent<D> {
  const stores = useStores('useAgent')
  const shown = stores.agent(id)
  const { spawn, ...how } = options
  // Written each time it is drawn, and yet the same.
  const written = JSON.stringify(how)
  const subscribe = useCallback(
    (listener: () => void) => {
      const begin = spawn === undefined ? undefined : () => stores.spawn(id, spawn, JSON.parse(written) as typeof how)
      return shown.store.subscribe(listener, begin)
    },
    [stores, shown, id, spawn, written],
  )
  const { store } = shown
  const facts = useSyncExternalStore(
    subscribe,
    () => store.view.facts,
    () => store.initial.facts,
  )
  return useMemo(() => usedAgent(facts, shown) as unknown as UsedAgent<D>, [facts, shown])
}

const usedAgent = (facts: AgentView['facts'], shown: ReturnType<AgentStores['agent']>): UsedAgent =>
  Object.freeze({
    ...facts,
    ...shown.commands,
    get agent() {
      return shown.agent
    },
  })

/** Returns one part of an agent's state. The component is rendered again when that part changes. */
export function useAgentView<T>(hook: string, id: string, part: (view: AgentView) => T): T {
  const { store } = useStores(hook).agent(id)
  return useSyncExternalStore(
    store.subscribe,
    () => part(store.view),
    () => part(store.initial),
  )
}
