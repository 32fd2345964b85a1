import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { wakeableFor } from '../config/configAgents.ts'
import { loadConfig } from '../config/loadConfig.ts'
import { settingsOf } from '../sessions/openWork.ts'
import { openLogs, wantsJson } from '../sessions/sessionLogs.ts'
import { untilStopped } from '../signals.ts'

/** `escapement wake [module]`: opens the agents and machines of a module, else the agents of the configuration, when they are due. */
export const wakeCommand: CommandRun = async (invocation, host) => {
  const config = await loadConfig(invocation, host)
  const { definitions, machines } = await wakeableFor(invocation, config, host)
  const { place, store } = await openLogs(invocation, config)
  const runtime = await createRuntime({ store, ...settingsOf(config).runtime })
  try {
    runtime.wake({ definitions, machines })
    const names = definitions.map(({ name }) => name)
    const kept = machines.map(({ name }) => name)
    const stopped = untilStopped(host)
    host.stdout.write(
      wantsJson(invocation, host)
        ? `${JSON.stringify({ definitions: names, ...(kept.length === 0 ? {} : { machines: kept }) })}\n`
        : `Waking what is due in ${place.name}.\n${namesLine('agents', names)}${namesLine('machines', kept)}Ctrl-C stops it.\n`,
    )
    await stopped
    return exitCodes.done
  } finally {
    await runtime.close({ detach: true })
  }
}

const namesLine = (what: string, names: readonly string[]): string =>
  names.length === 0 ? '' : `${what}: ${names.join(', ')}\n`
