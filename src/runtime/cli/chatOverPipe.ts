import { createInterface } from 'node:readline'
import { systemClock } from '../../actors/systemClock.ts'
import { answerApprovals } from './approvals.ts'
import { readChatLine } from './chatCommands.ts'
import type { CliHost } from './cliHost.ts'
import { exitCodes } from './exitCodes.ts'
import { doubleStop } from './doubleStop.ts'
import type { Session } from './openSession.ts'
import { onStopSignal } from './signals.ts'
import { coloursFor } from './terminal/colours.ts'
import { eventPrinter } from './terminal/eventPrinter.ts'
import { plainScreen } from './terminal/screen.ts'

export interface ChatOptions {
  readonly host: CliHost
  readonly json: boolean
  readonly isPriced: boolean
  readonly modelId: string
  /** Calls that wait for an approval already are allowed. */
  readonly yes?: boolean
}

/** A chat whose lines come from a pipe or file: each is a prompt, answered before the next; ends with the input. */
export async function chatOverPipe(
  { agent, logFile }: Session,
  { host, json, isPriced }: ChatOptions,
): Promise<number> {
  const screen = plainScreen(json ? host.stderr : host.stdout)
  const print = eventPrinter({ screen, colours: coloursFor(host.stdout, host.env), isPriced })
  const unsubscribe = agent.subscribe((event) =>
    json ? void host.stdout.write(`${JSON.stringify(event)}\n`) : print(event),
  )
  const endApprovals = answerApprovals(agent, screen, 'deny')
  const lines = createInterface({ input: host.stdin, crlfDelay: Infinity })
  const left = new AbortController()
  const isDouble = doubleStop(systemClock)
  const ignoreSignals = onStopSignal(host, () => {
    if (isDouble() || agent.state === 'idle') left.abort(new Error('The chat was left.'))
    agent.abort()
    if (left.signal.aborted) lines.close()
  })
  let code: number = exitCodes.done
  try {
    for await (const line of lines) {
      if (left.signal.aborted) break
      const read = readChatLine(line)
      if (read.type === 'quit') break
      if (read.type === 'print') screen.write(read.text)
      if (read.type !== 'say') continue
      const { stopReason } = await agent.prompt(read.text).result
      if (stopReason !== 'stop') code = exitCodes.failed
    }
    screen.write(`recorded in ${logFile}\n`)
    return left.signal.aborted ? exitCodes.interrupted : code
  } finally {
    ignoreSignals()
    endApprovals()
    unsubscribe()
    lines.close()
    host.stdin.destroy()
  }
}
