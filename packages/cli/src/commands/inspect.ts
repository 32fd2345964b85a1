import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { addressOf, pageOf } from '../addressOf.ts'
import type { CommandRun } from '../command.ts'
import { exitCodes } from '../cliHost.ts'
import { checkSession, logsFor, wantsJson } from '../sessions/sessionLogs.ts'
import { untilStopped } from '../signals.ts'

/** `escapement inspect [id]`: shows the inspector page over logs. Changes no log and loads no agent. */
export const inspectCommand: CommandRun = async (invocation, host) => {
  const logs = await logsFor(invocation, host)
  const { task: id } = invocation
  if (id !== undefined) await checkSession(logs, id)
  const runtime = await createRuntime({ store: logs.store })
  try {
    const server = await runtime.serve({ ...addressOf(invocation, host, 'observe'), role: 'observe' })
    const page = pageOf(server, id === undefined ? '' : `agent=${encodeURIComponent(id)}`)
    // Before anyone can know that it is up and stop it.
    const stopped = untilStopped(host)
    const shown = id === undefined ? `The sessions in ${logs.place.name}` : `Session ${id}`
    host.stdout.write(
      wantsJson(invocation, host)
        ? `${JSON.stringify({ page, url: server.url })}\n`
        : `${page}\n${shown}, read-only. Ctrl-C stops it.\n`,
    )
    await stopped
    return exitCodes.done
  } finally {
    await runtime.close()
  }
}
