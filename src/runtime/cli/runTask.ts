import { systemClock } from '../../actors/systemClock.ts'
import type { RunResult } from '../run.ts'
import { answerApprovals } from './approvals.ts'
import { isInteractive, type CliHost } from './cliHost.ts'
import { exitCodes } from './exitCodes.ts'
import type { Session } from './openSession.ts'
import { onStopSignal } from './signals.ts'
import { coloursFor } from './terminal/colours.ts'
import { eventPrinter } from './terminal/eventPrinter.ts'
import { LiveScreen } from './terminal/liveScreen.ts'
import { plainScreen } from './terminal/screen.ts'
import { StatusLine } from './terminal/statusLine.ts'

export interface TaskOutcome {
  readonly result: RunResult
  readonly isInterrupted: boolean
}

/** After the first Ctrl-C: time for commands to be stopped, by force if need be. */
const graceMs = 2000

/** Runs one task to its end and shows it. Ctrl-C aborts it; a later one, should that take long, ends the process. */
export async function runTask(
  session: Session,
  task: string,
  { host, json, isPriced }: { host: CliHost; json: boolean; isPriced: boolean },
): Promise<TaskOutcome> {
  const { agent } = session
  const isLive = !json && isInteractive(host)
  const colours = coloursFor(host.stdout, host.env)
  const screen = isLive ? new LiveScreen(host) : plainScreen(json ? host.stderr : host.stdout)
  const status = new StatusLine(screen, colours, systemClock)
  const print = eventPrinter({ screen, colours, isPriced, footer: `recorded in ${session.logFile}` })
  const unsubscribe = agent.subscribe((event) => {
    if (json) return void host.stdout.write(`${JSON.stringify(event)}\n`)
    print(event)
    if (isLive) status.see(event)
  })
  const endApprovals = answerApprovals(agent, screen, isLive)
  let interruptedAt: number | undefined
  const ignoreSignals = onStopSignal(host, () => {
    // At once would leave behind a command that has not heeded its first signal yet.
    if (interruptedAt !== undefined && systemClock.now() - interruptedAt > graceMs) host.exit(exitCodes.interrupted)
    interruptedAt ??= systemClock.now()
    agent.abort()
  })
  try {
    const result = await agent.prompt(task).result
    return { result, isInterrupted: interruptedAt !== undefined }
  } finally {
    ignoreSignals()
    endApprovals()
    status.close()
    screen.close()
    unsubscribe()
  }
}

/** The exit code of a task. */
export const codeOf = ({ result, isInterrupted }: TaskOutcome): number =>
  isInterrupted
    ? exitCodes.interrupted
    : result.stopReason === 'stop' && result.error === undefined
      ? exitCodes.done
      : exitCodes.failed
