import { isInteractive, type CliHost, exitCodes } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { refuse } from './sessionLogs.ts'
import { onStopSignal } from '../signals.ts'
import { LiveScreen } from '../terminal/liveScreen.ts'

/** Asks for confirmation before a permanent deletion, unless `--yes` is given. Returns an exit code if nothing may be deleted, else `undefined`. */
export async function whyKept(
  { yes, json }: Pick<Invocation, 'yes' | 'json'>,
  host: CliHost,
  what: string,
): Promise<number | undefined> {
  if (yes) return undefined
  if (json || !isInteractive(host))
    return refuse(host, `${what} was not deleted: without a terminal, confirm with --yes.`, exitCodes.usage)
  const answer = await confirm(host, `Delete ${what} for good? y = yes, n = no: `)
  if (answer === 'interrupted') return exitCodes.interrupted
  if (answer === 'yes') return undefined
  host.stdout.write('It was kept.\n')
  return exitCodes.failed
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
