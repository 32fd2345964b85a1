import { deleteSession } from '../../../sessions/src/deleteSession.ts'
import { exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { checkSession, logsFor, wantsJson } from '../sessions/sessionLogs.ts'
import { whyKept } from '../sessions/whyKept.ts'

/** `escapement delete <id>`: removes a session permanently, after confirmation. */
export const deleteCommand: CommandRun = async (invocation, host) => {
  const { task: id = '' } = invocation
  const logs = await logsFor(invocation, host)
  await checkSession(logs, id)
  const refused = await whyKept(invocation, host, `"${id}"`)
  if (refused !== undefined) return refused
  await deleteSession(logs.store, id)
  host.stdout.write(wantsJson(invocation, host) ? `${JSON.stringify({ deleted: id })}\n` : `"${id}" was deleted.\n`)
  return exitCodes.done
}
