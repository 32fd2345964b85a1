import { systemClock } from '../../../../src/protocol/ports/clock.ts'

import { Bridge } from '../../../bridge/src/server/bridge.ts'
import { limitsOf } from '../../../bridge/src/server/limits.ts'
import { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { definitionsFor } from '../config/configAgents.ts'
import { loadConfig } from '../config/loadConfig.ts'
import { settingsOf } from '../sessions/openWork.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import { takeOutput } from '../protocolOutput.ts'
import { openLogs } from '../sessions/sessionLogs.ts'
import { onStopSignal } from '../signals.ts'

/** `escapement acp [module]`: offers the agents of a module, or else of the configuration, to an editor that starts this process. */
export const acpCommand: CommandRun = async (invocation, host) => {
  const output = takeOutput(host)
  try {
    const { serveStdio } = await loadAcp()
    const config = await loadConfig(invocation, host)
    const loaded = await definitionsFor(invocation, config, host)
    const { store } = await openLogs(invocation, config)
    const definitions = new Map(loaded.map((definition) => [definition.name, definition]))
    const runtime = await createRuntime({ store, ...settingsOf(config).runtime })
    const limits = limitsOf()
    const bridge = new Bridge(runtime, {
      store,
      clock: systemClock,
      limits,
      tokens: undefined,
      definitions,
    })
    const access = new AgentAccess(bridge, { role: 'admin' })
    const stop = new AbortController()
    const forget = onStopSignal(host, () => stop.abort(new Error('the process was told to stop')))
    try {
      const ends = { input: host.stdin, write: output.write, signal: stop.signal }
      await serveStdio(ends, access, {})
    } finally {
      forget()
      bridge.close()
      await runtime.close()
    }
    return exitCodes.done
  } finally {
    output.giveBack()
  }
}

const loadAcp = () =>
  loadPeer(() => import('../../../acp/src/serveStdio.ts'), 'escapement acp', '@agentclientprotocol/sdk')
