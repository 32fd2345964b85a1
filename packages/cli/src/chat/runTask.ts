import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import { withoutControls } from '../../../charts/src/plainText.ts'
import { waitsForPeople } from '../../../../src/runtime/agents/agentTree.ts'
import { answerPending, approvalPolicy, type ApprovalPolicy } from './approvals.ts'
import { isAskable, waitingLine } from './askPerson.ts'
import { isInteractive, type CliHost, exitCodes } from '../cliHost.ts'
import { resumeCommand, resumeHint, type Session } from '../sessions/openSession.ts'
import { onStopSignal } from '../signals.ts'
import { coloursFor } from '../terminal/colours.ts'
import { eventPrinter } from '../terminal/eventPrinter.ts'
import { takesLinks } from '../terminal/links.ts'
import { LiveScreen } from '../terminal/liveScreen.ts'
import { safeJson } from '../terminal/safeJson.ts'
import { plainScreen, type Screen } from '../terminal/screen.ts'
import { childrenOf } from './childrenOf.ts'
import { StatusLine } from '../terminal/statusLine.ts'

/** Outcome of a run. */
export type RunEnd = Pick<RunResult, 'stopReason' | 'error'>

export interface TaskOutcome {
  readonly result: RunEnd
  readonly isInterrupted: boolean
}

/** Time in milliseconds after the first Ctrl-C for commands to stop, by force if necessary. */
const graceMs = 2000

export interface TaskOptions {
  readonly host: CliHost
  readonly json: boolean
  readonly isPriced: boolean
  /** True to approve all calls that need an approval. */
  readonly yes?: boolean
  /** Creates another view of the work, in place of printing every word and call. `others` prints an event as usual. */
  view?(screen: Screen, others: (event: AgentEvent) => void): WorkView
}

/** Shows the work of an agent, event by event. */
export interface WorkView {
  see(event: AgentEvent): void
  close(): void
}

/** Runs a task and shows its work. The first Ctrl-C aborts it; a later one ends the process if aborting takes long. */
export const runTask = (session: Session, task: string, options: TaskOptions): Promise<TaskOutcome> =>
  watchWork(session, () => session.prompt(task).result, options)

/** Runs and shows work that is started otherwise than by a task. See `runTask`. */
export async function watchWork(
  session: Session,
  begin: () => Promise<RunEnd>,
  { host, json, isPriced, yes = false, view }: TaskOptions,
): Promise<TaskOutcome> {
  const { agent } = session
  const isLive = !json && isInteractive(host)
  const colours = coloursFor(host.stdout, host.env, host.theme)
  const screen = isLive ? new LiveScreen(host) : plainScreen(json ? host.stderr : host.stdout)
  const policy = (): ApprovalPolicy => approvalPolicy(isLive, yes)
  const footer = `recorded in ${session.logFile}`
  const print = eventPrinter({
    screen,
    colours,
    isPriced,
    hasLinks: takesLinks(host.env),
    isDumb: host.env['TERM'] === 'dumb',
    footer,
    resume: resumeCommand(session, host),
    isAsking: () => policy() === 'ask',
  })
  const shown =
    view?.(screen, print) ??
    printedWork(
      print,
      isLive
        ? new StatusLine(screen, colours, systemClock, undefined, {
            window: () => windowOf(session),
            below: () => childrenOf(session.agent),
            appState: () => session.agent.appState,
          })
        : undefined,
    )
  const unsubscribe = agent.subscribe((event) => {
    if (json) return void host.stdout.write(`${safeJson(event)}\n`)
    shown.see(event)
  })
  const stuck = Promise.withResolvers<RunEnd>()
  const say = (line: string): void => void (json ? host.stderr : host.stdout).write(`${colours.dim(line)}\n`)
  const approvals = answerPending(agent, screen, {
    policy,
    colours,
    unasked: () => checkStuck(),
  })
  /** Ends the task if all remaining work waits for answers and there is no person to ask. */
  const checkStuck = (): void => {
    const pending = agent.pending()
    if (!isLive && pending.length > 0 && pending.every(isAskable) && waitsForPeople(agent.tree()))
      stuck.resolve({ stopReason: 'paused' })
  }
  let interruptedAt: number | undefined
  let isLeft = false
  const ignoreSignals = onStopSignal(host, () => {
    // Exiting at once would leave behind a command that has not yet reacted to its first signal.
    if (interruptedAt !== undefined && systemClock.now() - interruptedAt > graceMs) host.exit(exitCodes.interrupted)
    interruptedAt ??= systemClock.now()
    agent.abort()
  })
  const unwatch = agent.subscribe(({ type }) => type === 'state.changed' && checkStuck(), { descendants: true })
  approvals.look()
  try {
    const result = await Promise.race([begin(), stuck.promise])
    isLeft = interruptedAt !== undefined || result.stopReason === 'paused' || result.stopReason === 'aborted'
    return { result, isInterrupted: interruptedAt !== undefined }
  } finally {
    ignoreSignals()
    unwatch()
    approvals.end()
    for (const pending of agent.pending().filter(isAskable)) say(`waits: ${withoutControls(waitingLine(pending))}`)
    shown.close()
    screen.close()
    unsubscribe()
    if (isLeft) say(resumeHint(session, host))
  }
}

const windowOf = ({ definition }: Session): number | undefined => definition.compaction?.policy.contextWindow

/** Returns a view that prints every word and call, with the agent's status below. */
const printedWork = (print: (event: AgentEvent) => void, status: StatusLine | undefined): WorkView => ({
  see(event) {
    print(event)
    status?.see(event)
  },
  close: () => status?.close(),
})

/** Returns the exit code of a task. */
export const codeOf = ({ result, isInterrupted }: TaskOutcome): number =>
  isInterrupted
    ? exitCodes.interrupted
    : result.stopReason === 'stop' && result.error === undefined
      ? exitCodes.done
      : exitCodes.failed
