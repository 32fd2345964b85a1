import { once } from 'node:events'
import { exportSession } from '../../sessions/exportSession.ts'
import type { CommandRun } from '../command.ts'
import { exitCodes } from '../cliHost.ts'
import { writeNew } from '../newFile.ts'
import { checkSession, logsFor, wantsJson } from '../sessionLogs.ts'
import { counted } from '../../charts/amounts.ts'

/** `escapement export <id>`: a session as one file, with the past that a fork shares. */
export const exportCommand: CommandRun = async (invocation, host) => {
  const { task: id = '', out } = invocation
  const logs = await logsFor(invocation, host)
  await checkSession(logs, id)
  const lines = exportSession(logs.store, id)
  if (out === undefined) {
    for await (const line of lines) if (!host.stdout.write(line)) await once(host.stdout, 'drain')
    return exitCodes.done
  }
  const count = await writeNew(out, lines)
  const written = { agentId: id, file: out, lines: count }
  host.stdout.write(
    wantsJson(invocation, host) ? `${JSON.stringify(written)}\n` : `"${id}" is in ${out}: ${counted(count, 'line')}.\n`,
  )
  return exitCodes.done
}
