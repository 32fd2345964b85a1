import type { AgentDefinition } from '../../../actors/agentDefinition.ts'
import { messageOf, RuntimeError } from '../../../protocol/errors.ts'
import { createRuntime, type Runtime } from '../../runtime.ts'
import { listSessions } from '../../sessions/listSessions.ts'
import type { CliHost } from '../cliHost.ts'
import type { Command } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { exitCodes } from '../exitCodes.ts'
import { loadDefinitions } from '../loadDefinitions.ts'
import { openLogs, wantsJson } from '../sessionLogs.ts'
import { onStopSignal } from '../signals.ts'

/** `escapement serve <module>`: the agents a module defines, over a WebSocket. */
export const serveCommand: Command = {
  usage: 'serve <module>',
  group: 'network',
  summary: 'serve the agents that a module defines over a WebSocket',
  details: [
    'The module exports what defineAgent returns. Agents are recorded in the folder of the logs;',
    'those whose process died in the middle of a run go on at once. With --token or ESCAPEMENT_TOKEN',
    'only clients that have it come in. Ctrl-C tells them and ends; nothing is lost.',
    'JSON (piped, or with --json): { "url", "definitions", "resumed" }.',
  ],
  options: ['dir', 'logs', 'port', 'host', 'token', 'json'],
  task: 'required',
  operand: { name: 'module', example: './agents.ts' },
  async run(invocation, host) {
    const definitions = await loadDefinitions(invocation.task ?? '', host.cwd())
    const { store } = openLogs(invocation)
    const runtime = await createRuntime({ store })
    try {
      const server = await runtime.serve({ ...addressOf(invocation, host), definitions })
      const resumed = await resumeCutOff(runtime, definitions, store, host)
      const names = definitions.map(({ name }) => name)
      host.stdout.write(
        wantsJson(invocation, host)
          ? `${JSON.stringify({ url: server.url, definitions: names, resumed })}\n`
          : `${server.url}\nagents: ${names.join(', ')}${resumed.length === 0 ? '' : `\ngoing on: ${resumed.join(', ')}`}\nCtrl-C ends.\n`,
      )
      await new Promise<void>((resolve) => {
        const forget = onStopSignal(host, () => {
          forget()
          resolve()
        })
      })
      return exitCodes.done
    } finally {
      await runtime.close()
    }
  },
}

function addressOf({ port, host: address, token }: Invocation, { env }: CliHost) {
  const given = token ?? env['ESCAPEMENT_TOKEN']
  if (port !== undefined && !/^\d{1,5}$/.test(port)) {
    throw new RuntimeError('INVALID_OPTION', `--port takes a number up to 65535, not "${port}".`)
  }
  return {
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(address === undefined ? {} : { host: address }),
    ...(given === undefined || given === '' ? {} : { tokens: { [given]: 'admin' as const } }),
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
      await runtime.resume(id, definition)
      resumed.push(id)
    } catch (thrown) {
      host.stderr.write(`${id} could not go on: ${messageOf(thrown)}\n`)
    }
  }
  return resumed
}
