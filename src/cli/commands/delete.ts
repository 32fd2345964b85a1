import { deleteSession } from '../../sessions/deleteSession.ts'
import { isInteractive, type CliHost, exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { checkSession, openLogs, refuse, wantsJson } from '../sessionLogs.ts'
import { onStopSignal } from '../signals.ts'
import { LiveScreen } from '../terminal/liveScreen.ts'

/** `escapement delete <id>`: removes a session for good, once it is confirmed. */
export const deleteCommand: CommandRun = async (invocation, host) => {
  const { task: id = '', yes, json } = invocation
  const logs = openLogs(invocation)
  await checkSession(logs, id)
  if (!yes) {
    if (json || !isInteractive(host))
      return refuse(host, `"${id}" was not deleted: nobody can be asked, so say --yes.`, exitCodes.usage)
    const answer = await confirm(host, `Delete "${id}" for good? y = yes, n = no: `)
    if (answer === 'interrupted') return exitCodes.interrupted
    if (answer === 'no') {
      host.stdout.write('It was kept.\n')
      return exitCodes.failed
    }
  }
  await deleteSession(logs.store, id)
  host.stdout.write(wantsJson(invocation, host) ? `${JSON.stringify({ deleted: id })}\n` : `"${id}" was deleted.\n`)
  return exitCodes.done
}

async function confirm(host: CliHost, question: string): Promise<'yes' | 'no' | 'interrupted'> {
  const screen = new LiveScreen(host)
  const stop = new AbortController()
  const ignoreSignals = onStopSignal(host, () => stop.abort(new Error('It was stopped.')))
  try {
    const answer = await screen.ask(question, stop.signal)
    if (stop.signal.aborted) return 'interrupted'
    return /^y(?:es)?$/i.test(answer?.trim() ?? '') ? 'yes' : 'no'
  } finally {
    ignoreSignals()
    screen.close()
  }
}
