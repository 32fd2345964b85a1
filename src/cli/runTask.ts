import { systemClock } from '../protocol/clock.ts'
import type { RunResult } from '../runs/run.ts'
import { answerApprovals, approvalPolicy } from './approvals.ts'
import { isInteractive, type CliHost, exitCodes } from './cliHost.ts'
import { resumeHint, type Session } from './openSession.ts'
import { onStopSignal } from './signals.ts'
import { coloursFor } from './terminal/colours.ts'
import { eventPrinter } from './terminal/eventPrinter.ts'
import { LiveScreen } from './terminal/liveScreen.ts'
import { plainScreen } from './terminal/screen.ts'
import { StatusLine } from './terminal/statusLine.ts'

/** How a run ended. */
export type RunEnd = Pick<RunResult, 'stopReason' | 'error'>

export interface TaskOutcome {
  readonly result: RunEnd
  readonly isInterrupted: boolean
}

/** Grace period after the first Ctrl-C for commands to be stopped, by force if necessary. */
const graceMs = 2000

export interface TaskOptions {
  readonly host: CliHost
  readonly json: boolean
  readonly isPriced: boolean
  /** Approves calls that are already waiting. */
  readonly yes?: boolean
}

/** Runs and shows one task. Ctrl-C aborts it; a later one ends the process if aborting takes long. */
export const runTask = (session: Session, task: string, options: TaskOptions): Promise<TaskOutcome> =>
  watchWork(session, () => session.agent.prompt(task).result, options)

/** As `runTask`, for work that is started differently. */
export async function watchWork(
  session: Session,
  begin: () => Promise<RunEnd>,
  { host, json, isPriced, yes = false }: TaskOptions,
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
  const approvals = answerApprovals(agent, screen, () => approvalPolicy(isLive, yes))
  let interruptedAt: number | undefined
  let isLeft = false
  const ignoreSignals = onStopSignal(host, () => {
    // Exiting at once would leave behind a command that has not yet reacted to its first signal.
    if (interruptedAt !== undefined && systemClock.now() - interruptedAt > graceMs) host.exit(exitCodes.interrupted)
    interruptedAt ??= systemClock.now()
    agent.abort()
  })
  approvals.look()
  try {
    const result = await begin()
    isLeft = interruptedAt !== undefined || result.stopReason === 'paused' || result.stopReason === 'aborted'
    return { result, isInterrupted: interruptedAt !== undefined }
  } finally {
    ignoreSignals()
    approvals.end()
    status.close()
    screen.close()
    unsubscribe()
    if (isLeft) (json ? host.stderr : host.stdout).write(`${colours.dim(resumeHint(session, host))}\n`)
  }
}

/** The exit code of a task. */
export const codeOf = ({ result, isInterrupted }: TaskOutcome): number =>
  isInterrupted
    ? exitCodes.interrupted
    : result.stopReason === 'stop' && result.error === undefined
      ? exitCodes.done
      : exitCodes.failed
