import { tell, wrappedFor } from '../terminal/wordWrap.ts'
import { createInterface } from 'node:readline'
import { withoutControls } from '../../../charts/src/plainText.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import type { Run } from '../../../../src/protocol/runs/run.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import { answerPending, type ApprovalPolicy } from './approvals.ts'
import type { ChatAbout, ChatAgent } from './chatAgent.ts'
import { runChatLine } from './runChatLine.ts'
import { chatHelp, readChatLine, type ChatParts } from './slashCommands.ts'
import { recap } from './conversationTree.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import { onStopSignal } from '../signals.ts'
import { coloursFor } from '../terminal/colours.ts'
import { eventPrinter } from '../terminal/eventPrinter.ts'
import { safeJson } from '../terminal/safeJson.ts'
import { plainScreen } from '../terminal/screen.ts'

/** Agent and settings of a chat over a pipe. */
export interface PipedChat {
  readonly agent: ChatAgent
  readonly about: ChatAbout
  /** Prompts the agent. Default: `prompt` of the agent. */
  prompt?(text: string): Run
  readonly isPriced: boolean
  /** Effect of Ctrl-C, for `/help`. */
  readonly ctrlC: string
  /** Returns the last line. */
  farewell(): string
  policy(): ApprovalPolicy
  /** Called for Ctrl-C; returns true if the chat is to be left at once. */
  isStopping(): boolean
}

/**
 * Runs a chat whose lines come from a pipe or file. Each line is a prompt and is answered before the next. Ends with the input. Errors go
 * to standard error. Returns the exit code.
 */
export async function runPipedChat(chat: PipedChat, host: CliHost, json: boolean): Promise<number> {
  const { agent, isPriced } = chat
  const has: ChatParts = (part) => part !== 'sessions' && chat.about.has(part)
  const screen = plainScreen(json ? host.stderr : host.stdout)
  const print = eventPrinter({
    screen,
    colours: coloursFor(host.stdout, host.env, host.theme),
    isPriced,
    resume: '/retry',
  })
  const unsubscribe = agent.subscribe((event) => (json ? void host.stdout.write(`${safeJson(event)}\n`) : print(event)))
  const approvals = answerPending(agent, screen, { policy: () => chat.policy() })
  const lines = createInterface({ input: host.stdin, crlfDelay: Infinity })
  const left = Promise.withResolvers<undefined>()
  let isLeft = false
  const ignoreSignals = onStopSignal(host, () => {
    if (!chat.isStopping()) return
    isLeft = true
    left.resolve(undefined)
    lines.close()
  })
  let code: number = exitCodes.done
  const failed = (text: string): void => {
    tell(host.stderr, `escapement: ${withoutControls(text)}\n`)
    code = exitCodes.failed
  }
  /** Waits for a run, unless the chat is left first. */
  const finish = async (result: Promise<RunResult>): Promise<void> => {
    const ended = await Promise.race([result, left.promise])
    if (ended === undefined) return
    if (ended.stopReason !== 'stop') code = exitCodes.failed
    if (ended.runId === '' && ended.error !== undefined) failed(`${ended.error.message} (${ended.error.code})`)
  }
  const take = async (line: string): Promise<boolean> => {
    const read = readChatLine(line)
    if (read.type === 'quit') return false
    if (read.type === 'help') screen.write(chatHelp({ ctrlC: chat.ctrlC, isTyped: false, has }))
    else if (read.type === 'print') screen.write(read.text)
    else if (read.type === 'sessions') screen.write('  /sessions needs a terminal.\n')
    else if (read.type === 'say') await finish((chat.prompt ?? ((text) => agent.prompt(text)))(read.text).result)
    else if (read.type !== 'nothing') {
      const { note, run, decided, conversation } = await runChatLine(agent, read, chat.about)
      if (conversation !== undefined) screen.write(recap(conversation, host, Infinity))
      if (note !== undefined) screen.write(`  (${withoutControls(note)})\n`)
      if (run !== undefined) await finish(run.result)
      await Promise.race([decided, left.promise])
    }
    return true
  }
  try {
    for await (const line of lines) {
      if (isLeft) break
      const isOpen = await take(line).catch((thrown: unknown) => {
        failed(messageOf(thrown))
        return true
      })
      if (!isOpen) break
    }
    screen.write(wrappedFor(json ? host.stderr : host.stdout, `${chat.farewell()}\n`))
    return isLeft ? exitCodes.interrupted : code
  } finally {
    ignoreSignals()
    approvals.end()
    unsubscribe()
    lines.close()
    host.stdin.destroy()
  }
}
