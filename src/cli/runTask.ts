import { systemClock } from '../protocol/clock.ts'
import type { AgentEvent } from '../protocol/events.ts'
import type { RunResult } from '../runs/runResult.ts'
import { answerApprovals, approvalPolicy } from './approvals.ts'
import { isInteractive, type CliHost, exitCodes } from './cliHost.ts'
import { resumeHint, type Session } from './openSession.ts'
import { onStopSignal } from './signals.ts'
import { coloursFor } from './terminal/colours.ts'
import { eventPrinter } from './terminal/eventPrinter.ts'
import { LiveScreen } from './terminal/liveScreen.ts'
import { plainScreen, type Screen } from './terminal/screen.ts'
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
  /** What shows the work instead of printing every word and call; `others` prints an event as usual. */
  view?(screen: Screen, others: (event: AgentEvent) => void): WorkView
}

/** Shows the work of an agent, event by event. */
export interface WorkView {
  see(event: AgentEvent): void
  close(): void
}

/** Runs and shows one task. Ctrl-C aborts it; a later one ends the process if aborting takes long. */
export const runTask = (session: Session, task: string, options: TaskOptions): Promise<TaskOutcome> =>
  watchWork(session, () => session.agent.prompt(task).result, options)

/** As `runTask`, for work that is started differently. */
export async function watchWork(
  session: Session,
  begin: () => Promise<RunEnd>,
  { host, json, isPriced, yes = false, view }: TaskOptions,
): Promise<TaskOutcome> {
  const { agent } = session
  const isLive = !json && isInteractive(host)
  const colours = coloursFor(host.stdout, host.env)
  const screen = isLive ? new LiveScreen(host) : plainScreen(json ? host.stderr : host.stdout)
  const print = eventPrinter({ screen, colours, isPriced, footer: `recorded in ${session.logFile}` })
  const shown =
    view?.(screen, print) ?? printedWork(print, isLive ? new StatusLine(screen, colours, systemClock) : undefined)
  const unsubscribe = agent.subscribe((event) => {
    if (json) return void host.stdout.write(`${JSON.stringify(event)}\n`)
    shown.see(event)
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
    shown.close()
    screen.close()
    unsubscribe()
    if (isLeft) (json ? host.stderr : host.stdout).write(`${colours.dim(resumeHint(session, host))}\n`)
  }
}

/** Every word and call, and below them what the agent is at. */
const printedWork = (print: (event: AgentEvent) => void, status: StatusLine | undefined): WorkView => ({
  see(event) {
    print(event)
    status?.see(event)
  },
  close: () => status?.close(),
})

/** The exit code of a task. */
export const codeOf = ({ result, isInterrupted }: TaskOutcome): number =>
  isInterrupted
    ? exitCodes.interrupted
    : result.stopReason === 'stop' && result.error === undefined
      ? exitCodes.done
      : exitCodes.failed
