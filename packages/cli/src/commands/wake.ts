import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { definitionsFor } from '../config/configAgents.ts'
import { loadConfig } from '../config/loadConfig.ts'
import { settingsOf } from '../sessions/openWork.ts'
import { openLogs, wantsJson } from '../sessions/sessionLogs.ts'
import { untilStopped } from '../signals.ts'

/** `escapement wake [module]`: opens the agents of a module, else of the configuration, when their schedules are due. */
export const wakeCommand: CommandRun = async (invocation, host) => {
  const config = await loadConfig(invocation, host)
  const definitions = await definitionsFor(invocation, config, host)
  const { store } = await openLogs(invocation, config)
  const runtime = await createRuntime({ store, ...settingsOf(config).runtime })
  try {
    runtime.wake({ definitions })
    const names = definitions.map(({ name }) => name)
    const stopped = untilStopped(host)
    host.stdout.write(
      wantsJson(invocation, host)
        ? `${JSON.stringify({ definitions: names })}\n`
        : `agents: ${names.join(', ')}\nCtrl-C ends.\n`,
    )
    await stopped
    return exitCodes.done
  } finally {
    await runtime.close({ detach: true })
  }
}
