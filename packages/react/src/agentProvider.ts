import { createContext, createElement, useContext, useMemo, type ReactElement, type ReactNode } from 'react'
import type { Client } from '../../bridge/src/client/client.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { AgentStores } from './agentStores.ts'

const Stores = createContext<AgentStores | undefined>(undefined)

export interface AgentProviderProps {
  /**
   * Client whose agents the components below show: make it once, outside of components, and close it when the page is done with it. `null`
   * if there is none, as while a page is rendered on a server: agents load there.
   */
  readonly client: Client | null
  readonly children?: ReactNode
}

/**
 * Gives the components below it the agents of a server. An agent that several of them show is followed once, while any of them is mounted.
 *
 * @example
 * ```ts no-run
 * import { createElement } from 'react'
 * import { connect } from 'escapement/client'
 * import { AgentProvider } from 'escapement/react'
 *
 * const client = connect('https://agents.example.com')
 * const App = () => createElement(AgentProvider, { client }, 'the components that show agents')
 * ```
 */
export function AgentProvider({ client, children }: AgentProviderProps): ReactElement {
  const stores = useMemo(() => new AgentStores(client), [client])
  return createElement(Stores, { value: stores }, children)
}

/** Returns the stores of the nearest provider. @throws RuntimeError `PROVIDER_MISSING` */
export function useStores(hook: string): AgentStores {
  const stores = useContext(Stores)
  if (stores === undefined)
    throw new RuntimeError('PROVIDER_MISSING', `${hook} was called outside of an AgentProvider.`)
  return stores
}
