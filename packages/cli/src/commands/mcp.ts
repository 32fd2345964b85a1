import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { mcpServer } from '../../../mcp/src/server/mcpServer.ts'
import { exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { definitionsFor } from '../config/configAgents.ts'
import { loadConfig } from '../config/loadConfig.ts'
import { settingsOf } from '../sessions/openWork.ts'
import { takeOutput } from '../protocolOutput.ts'
import { openLogs } from '../sessions/sessionLogs.ts'
import { untilStopped } from '../signals.ts'
import { serveCommand } from './serve.ts'

/** `escapement mcp [module]`: offers agents of a module or the configuration as tools to the client that starts it, or by `--http` to any. */
export const mcpCommand: CommandRun = async (invocation, host) => {
  if (invocation.http) return await serveCommand({ ...invocation, mcp: true }, host)
  const output = takeOutput(host)
  try {
    const config = await loadConfig(invocation, host)
    const definitions = await definitionsFor(invocation, config, host)
    const { store } = await openLogs(invocation, config)
    const runtime = await createRuntime({ store, ...settingsOf(config).runtime })
    try {
      const stopped = untilStopped(host)
      const { closed } = await mcpServer(runtime, definitions).stdio({ input: host.stdin, output: output.stream })
      await Promise.race([closed, stopped])
    } finally {
      await runtime.close()
    }
    return exitCodes.done
  } finally {
    output.giveBack()
  }
}
