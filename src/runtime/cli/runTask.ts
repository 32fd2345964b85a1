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

/** Runs one task to its end and shows it. The first Ctrl-C aborts it, the second ends the process at once. */
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
  let interrupts = 0
  const ignoreSignals = onStopSignal(host, () => {
    interrupts += 1
    if (interrupts > 1) host.exit(exitCodes.interrupted)
    agent.abort()
  })
  try {
    const result = await agent.prompt(task).result
    return { result, isInterrupted: interrupts > 0 }
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
