import { dirname, join } from 'node:path'
import { systemClock } from '../../actors/systemClock.ts'
import { messageOf } from '../../protocol/errors.ts'
import type { Agent } from '../agent.ts'
import { answerApprovals, approvalPolicy } from './approvals.ts'
import { readChatLine } from './chatCommands.ts'
import type { ChatOptions } from './chatOverPipe.ts'
import type { CliHost } from './cliHost.ts'
import { doubleStop } from './doubleStop.ts'
import { exitCodes } from './exitCodes.ts'
import type { Session } from './openSession.ts'
import { howToResume, type LogPlace } from './sessionLogs.ts'
import { onStopSignal } from './signals.ts'
import { coloursFor } from './terminal/colours.ts'
import { eventPrinter } from './terminal/eventPrinter.ts'
import { LiveScreen } from './terminal/liveScreen.ts'
import { StatusLine } from './terminal/statusLine.ts'

/**
 * A chat at a terminal: text above, a status line while the agent works, and the line being typed below. `begin` is called once
 * all of it is there.
 */
export async function chatInTerminal(
  { agent, dir, logFile }: Session,
  options: ChatOptions,
  begin: () => void = () => {},
): Promise<number> {
  const { host, isPriced, modelId, yes = false } = options
  const colours = coloursFor(host.stdout, host.env)
  const screen = new LiveScreen(host)
  const status = new StatusLine(screen, colours, systemClock)
  const print = eventPrinter({ screen, colours, isPriced })
  const unsubscribe = agent.subscribe((event) => {
    print(event)
    status.see(event)
  })
  const endApprovals = answerApprovals(agent, screen, approvalPolicy(true, yes))
  const left = Promise.withResolvers<number>()
  const isDouble = doubleStop(systemClock)

  const say = (line: string): void => {
    const read = readChatLine(line)
    if (read.type === 'quit') left.resolve(exitCodes.done)
    else if (read.type === 'print') screen.write(read.text)
    else if (read.type === 'say' && isWaiting(agent)) agent.prompt(read.text)
    else if (read.type === 'say') {
      agent.steer(read.text)
      screen.write(`${colours.dim('  (given to the agent before its next step)')}\n`)
    }
  }
  const onLine = (line: string): void => {
    try {
      say(line)
    } catch (thrown) {
      screen.write(`${colours.red(`! ${messageOf(thrown)}`)}\n`)
    }
  }
  const onInterrupt = (): void => {
    const wasBusy = agent.state !== 'idle'
    if (isDouble()) left.resolve(exitCodes.interrupted)
    else if (wasBusy)
      screen.write(`${screen.isAtLineStart ? '' : '\n'}${colours.dim('  (stopped; Ctrl-C again to leave)')}\n`)
    else if (screen.typed !== '') screen.clearTyped()
    else left.resolve(exitCodes.done)
    agent.abort()
  }
  const ignoreSignals = onStopSignal(host, onInterrupt)
  screen.write(`${colours.bold('escapement')} ${colours.dim(`· ${modelId} · ${dir} · /help`)}\n`)
  screen.open({ prompt: '› ', onLine, onInterrupt, onEnd: () => left.resolve(exitCodes.done) })
  begin()
  const code = await left.promise
  // What is paused stays so, for `escapement resume`.
  if (agent.state !== 'idle' && agent.state !== 'paused') agent.abort()
  ignoreSignals()
  endApprovals()
  unsubscribe()
  status.close()
  screen.close()
  host.stdout.write(
    colours.dim(`recorded in ${logFile}; go on with: ${howToResume(agent.id, placeOf(dir, logFile, host))}\n`),
  )
  return code
}

/** What must be said to find the session again from here. */
const placeOf = (dir: string, logFile: string, host: CliHost): LogPlace => ({
  dir: dir === host.cwd() ? undefined : dir,
  logs: dirname(logFile) === join(dir, '.escapement') ? undefined : dirname(logFile),
})

/** Whether what is said now begins a run: of a run that is paused between turns a new prompt takes the place. */
const isWaiting = ({ state, pause }: Agent): boolean =>
  state === 'idle' || pause?.type === 'limit' || pause?.type === 'interrupted'
