import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import { messageOf } from '../../protocol/errors.ts'
import { createRuntime, type Runtime } from '../../createRuntime.ts'
import { listSessions } from '../../sessions/listSessions.ts'
import { loadSession } from '../../sessions/loadSession.ts'
import { addressOf, pageOf } from '../addressOf.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { loadDefinitions } from '../loadDefinitions.ts'
import { ownSession } from '../ownSession.ts'
import { openLogs, wantsJson } from '../sessionLogs.ts'
import { untilStopped } from '../signals.ts'
import type { Endpoint } from '../../server/bridge/endpoint.ts'
import type { Invocation } from '../commandLine.ts'
import { loadPeer } from '../loadPeer.ts'

/** `escapement serve <module>`: the agents a module defines, over a WebSocket. */
export const serveCommand: CommandRun = async (invocation, host) => {
  const definitions = await loadDefinitions(invocation.task ?? '', host.cwd())
  const { store } = openLogs(invocation)
  const runtime = await createRuntime({ store })
  try {
    const endpoints = await loadEndpoints(invocation)
    const server = await runtime.serve({ ...addressOf(invocation, host), definitions, endpoints })
    const resumed = await resumeCutOff(runtime, definitions, store, host)
    const names = definitions.map(({ name }) => name)
    // Before anyone can know that it is up and stop it.
    const stopped = untilStopped(host)
    host.stdout.write(
      wantsJson(invocation, host)
        ? `${JSON.stringify({ url: server.url, page: pageOf(server), definitions: names, resumed })}\n`
        : `${server.url}\npage: ${pageOf(server)}\nagents: ${names.join(', ')}${resumed.length === 0 ? '' : `\ngoing on: ${resumed.join(', ')}`}\nCtrl-C ends.\n`,
    )
    await stopped
    return exitCodes.done
  } finally {
    await runtime.close()
  }
}

/** Resumes agents whose process died in the middle of a run; one that cannot be resumed is reported and left alone. */
async function resumeCutOff(
  runtime: Runtime,
  definitions: readonly AgentDefinition[],
  store: Parameters<typeof listSessions>[0],
  host: CliHost,
): Promise<string[]> {
  const resumed: string[] = []
  for (const { id, definition: name, status, path, isStopped } of await listSessions(store)) {
    const definition = definitions.find((known) => known.name === name)
    if (status !== 'running' || definition === undefined || path.length > 0 || isStopped) continue
    try {
      // Sessions of `escapement run` in the same folder need that command's tools.
      if (ownSession(await loadSession(store, id)) !== undefined) continue
      await runtime.resume(id, definition)
      resumed.push(id)
    } catch (thrown) {
      host.stderr.write(`${id} could not go on: ${messageOf(thrown)}\n`)
    }
  }
  return resumed
}

/** Additional protocols, each enabled by the option of its name. */
type EndpointOption = keyof Pick<Invocation, 'acp' | 'agUi' | 'stately'>

interface Loading {
  load(): Promise<Endpoint>
  /** The peer dependency it needs. */
  readonly needs?: string
}

const loadings: { readonly [O in EndpointOption]: Loading } = {
  acp: { load: async () => (await import('../../server/acp/acp.ts')).acp(), needs: '@agentclientprotocol/sdk' },
  agUi: { load: async () => (await import('../../server/agUi/agUi.ts')).agUi(), needs: '@ag-ui/core' },
  stately: { load: async () => (await import('../../server/stately/stately.ts')).stately() },
}

/** Loads the requested endpoints. @throws RuntimeError `INVALID_OPTION` if a package one needs is not installed. */
async function loadEndpoints(invocation: Pick<Invocation, EndpointOption>): Promise<Endpoint[]> {
  const wanted = (Object.keys(loadings) as EndpointOption[]).filter((option) => invocation[option])
  return Promise.all(
    wanted.map((option) => {
      const { load, needs } = loadings[option]
      return needs === undefined ? load() : loadPeer(load, 'This', needs)
    }),
  )
}
