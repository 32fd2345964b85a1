import { tell } from '../terminal/wordWrap.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { withoutControls } from '../../../charts/src/plainText.ts'
import { createRuntime, type Runtime } from '../../../bridge/src/createRuntime.ts'
import { loadSession } from '../../../sessions/src/loadSession.ts'
import { addressOf, pageOf } from '../addressOf.ts'
import { exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { definitionsFor } from '../config/configAgents.ts'
import { loadConfig } from '../config/loadConfig.ts'
import { settingsOf } from '../sessions/openWork.ts'
import { ownSession } from '../config/ownSession.ts'
import { openLogs, wantsJson } from '../sessions/sessionLogs.ts'
import { untilStopped } from '../signals.ts'
import type { Endpoint } from '../../../bridge/src/server/endpoint.ts'
import type { Invocation } from '../commandLine.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'

/** `escapement serve [module]`: serves the agents of a module, or else of the configuration, over a WebSocket. */
export const serveCommand: CommandRun = async (invocation, host) => {
  const config = await loadConfig(invocation, host)
  const definitions = await definitionsFor(invocation, config, host)
  const { store } = await openLogs(invocation, config)
  const { acp: _, agUi: __, mcp: ___, stately: ____, endpoints: others = [], ...settings } = config?.serve ?? {}
  const runtime = await createRuntime({ store, ...settingsOf(config).runtime })
  try {
    const wanted = endpointOptions.filter((option) => invocation[option] || config?.serve?.[option] === true)
    const endpoints = await loadEndpoints(wanted, runtime, definitions)
    const address = addressOf(invocation, host)
    const server = await runtime.serve({ ...settings, ...address, definitions, endpoints: [...endpoints, ...others] })
    // Sessions of `escapement run` in the same folder need that command's tools.
    const where = async ({ id, definition }: { readonly id: string; readonly definition: string }): Promise<boolean> =>
      definitions.some(({ name }) => name === definition) && ownSession(await loadSession(store, id)) === undefined
    const { resumed: agents, left } = await runtime.resumeAll({ definitions, where })
    const resumed = agents.map(({ id }) => id)
    for (const { agentId, error } of left)
      tell(host.stderr, `${agentId} could not be resumed: ${withoutControls(error.message)}\n`)
    const names = definitions.map(({ name }) => name)
    const mcp = wanted.includes('mcp') ? `${pageOf(server)}mcp` : undefined
    // Before anyone can know that it is up and stop it.
    const stopped = untilStopped(host)
    host.stdout.write(
      wantsJson(invocation, host)
        ? `${JSON.stringify({ url: server.url, page: pageOf(server), definitions: names, resumed, ...(mcp === undefined ? {} : { mcp }) })}\n`
        : `${server.url}\npage: ${pageOf(server)}\n${mcp === undefined ? '' : `mcp: ${mcp}\n`}agents: ${names.join(', ')}${resumed.length === 0 ? '' : `\ncontinuing: ${resumed.join(', ')}`}\nCtrl-C stops it.\n`,
    )
    await stopped
    return exitCodes.done
  } finally {
    await runtime.close()
  }
}

/** Names of additional protocols, each enabled by the option of that name. */
type EndpointOption = keyof Pick<Invocation, 'acp' | 'agUi' | 'mcp' | 'stately'>

interface Loading {
  load(runtime: Runtime, definitions: readonly AgentDefinition[]): Promise<Endpoint>
  /** Peer dependencies of the endpoint. */
  readonly needs?: string
}

const loadings: { readonly [O in EndpointOption]: Loading } = {
  acp: { load: async () => (await import('../../../acp/src/acp.ts')).acp(), needs: '@agentclientprotocol/sdk' },
  agUi: { load: async () => (await import('../../../ag-ui/src/agUi.ts')).agUi(), needs: '@ag-ui/core' },
  mcp: {
    load: async (runtime, definitions) => {
      const { mcpServer } = await import('../../../mcp/src/server/mcpServer.ts')
      // It is needed by the first request, and missed now.
      await import('../../../mcp/src/server/answerHttp.ts')
      return mcpServer(runtime, definitions).endpoint()
    },
    needs: '@modelcontextprotocol/server @modelcontextprotocol/node',
  },
  stately: { load: async () => (await import('../../../stately/src/stately.ts')).stately() },
}

const endpointOptions = Object.keys(loadings) as readonly EndpointOption[]

/** Loads the requested endpoints. @throws RuntimeError `PACKAGE_MISSING` if a package that one needs is not installed. */
const loadEndpoints = (
  wanted: readonly EndpointOption[],
  runtime: Runtime,
  definitions: readonly AgentDefinition[],
): Promise<Endpoint[]> =>
  Promise.all(
    wanted.map((option) => {
      const { load, needs } = loadings[option]
      const loading = (): Promise<Endpoint> => load(runtime, definitions)
      return needs === undefined ? loading() : loadPeer(loading, 'This', needs)
    }),
  )
