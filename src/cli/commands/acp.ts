import { systemClock } from '../../protocol/clock.ts'

import { Bridge } from '../../server/bridge/bridge.ts'
import { bridgeLimitsSchema } from '../../server/bridge/limits.ts'
import { AgentAccess } from '../../server/bridge/agentAccess.ts'
import { createRuntime } from '../../createRuntime.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { loadDefinitions } from '../loadDefinitions.ts'
import { loadPeer } from '../loadPeer.ts'
import { openLogs } from '../sessionLogs.ts'
import { onStopSignal } from '../signals.ts'

/** `escapement acp <module>`: the agents a module defines, for an editor that starts this process. */
export const acpCommand: CommandRun = async (invocation, host) => {
  const output = takeOutput(host)
  try {
    const { serveStdio } = await loadAcp()
    const loaded = await loadDefinitions(invocation.task ?? '', host.cwd())
    const { store } = openLogs(invocation)
    const definitions = new Map(loaded.map((definition) => [definition.name, definition]))
    const runtime = await createRuntime({ store })
    const limits = bridgeLimitsSchema.parse({})
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
      await runtime.close()
    }
    return exitCodes.done
  } finally {
    output.giveBack()
  }
}

/** Redirects what a module prints to standard error, so that it does not mix with protocol messages. */
function takeOutput({ stdout, stderr }: CliHost) {
  const { write } = stdout
  const send = write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  return {
    write: (bytes: Uint8Array, done: (error?: Error | null) => void): void => void send(bytes, done),
    giveBack: (): void => void (stdout.write = write),
  }
}

const loadAcp = () =>
  loadPeer(() => import('../../server/acp/serveStdio.ts'), 'escapement acp', '@agentclientprotocol/sdk')
