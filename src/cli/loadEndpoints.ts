import type { Endpoint } from '../server/bridge/endpoint.ts'
import type { Invocation } from './commandLine.ts'
import { loadPeer } from './loadPeer.ts'

/** Other protocols a server can be told to speak, each by an option of its name. */
type EndpointOption = keyof Pick<Invocation, 'acp' | 'agUi' | 'stately'>

interface Loading {
  load(): Promise<Endpoint>
  /** The package that it needs beside ours. */
  readonly needs?: string
}

const loadings: { readonly [O in EndpointOption]: Loading } = {
  acp: { load: async () => (await import('../server/acp/acp.ts')).acp(), needs: '@agentclientprotocol/sdk' },
  agUi: { load: async () => (await import('../server/agUi/agUi.ts')).agUi(), needs: '@ag-ui/core' },
  stately: { load: async () => (await import('../server/stately/stately.ts')).stately() },
}

/** Loads the endpoints that were asked for. @throws RuntimeError `INVALID_OPTION` when the package one needs is not installed. */
export async function loadEndpoints(invocation: Pick<Invocation, EndpointOption>): Promise<Endpoint[]> {
  const wanted = (Object.keys(loadings) as EndpointOption[]).filter((option) => invocation[option])
  return Promise.all(
    wanted.map((option) => {
      const { load, needs } = loadings[option]
      return needs === undefined ? load() : loadPeer(load, 'This', needs)
    }),
  )
}
