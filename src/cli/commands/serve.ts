import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import { messageOf } from '../../protocol/errors.ts'
import { createRuntime, type Runtime } from '../../createRuntime.ts'
import { listSessions } from '../../sessions/listSessions.ts'
import { loadSession } from '../../sessions/loadSession.ts'
import { addressOf, pageOf } from '../addressOf.ts'
import type { CliHost } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { exitCodes } from '../exitCodes.ts'
import { loadEndpoints } from '../loadEndpoints.ts'
import { loadDefinitions } from '../loadDefinitions.ts'
import { ownSession } from '../ownSession.ts'
import { openLogs, wantsJson } from '../sessionLogs.ts'
import { untilStopped } from '../untilStopped.ts'

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
    // Before anybody can know that it is up, and stop it.
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

/** Agents whose process died in the middle of a run go on; what cannot is said and left alone. */
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
      // What `escapement run` began in the same folder goes on with its own tools alone.
      if (ownSession(await loadSession(store, id)) !== undefined) continue
      await runtime.resume(id, definition)
      resumed.push(id)
    } catch (thrown) {
      host.stderr.write(`${id} could not go on: ${messageOf(thrown)}\n`)
    }
  }
  return resumed
}
