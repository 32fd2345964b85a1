import { systemClock } from '../protocol/clock.ts'
import { messageOf } from '../protocol/errors.ts'
import type { Run } from '../runs/run.ts'
import { answerPending, type ApprovalPolicy } from './approvals.ts'
import { isWaiting, type ChatAgent } from './chatAgent.ts'
import { chatCommands, chatHelp, isSlashCommand, readChatLine, runChatLine } from './slashCommands.ts'
import { type CliHost, exitCodes } from './cliHost.ts'
import { onStopSignal } from './signals.ts'
import { coloursFor } from './terminal/colours.ts'
import { commandCompleter } from './terminal/input/completion.ts'
import { eventPrinter } from './terminal/eventPrinter.ts'
import { LiveScreen } from './terminal/liveScreen.ts'
import { withoutControls } from '../charts/plainText.ts'
import { StatusLine } from './terminal/statusLine.ts'

/** An open chat, as passed to the handlers of `TerminalChat`. */
export interface OpenChat {
  /** The input that has not been submitted. */
  readonly typed: string
  clearTyped(): void
  /** Prints a note, in red if `isWrong`. */
  note(text: string, isWrong?: boolean): void
  /** Shows the current status of an agent that is already busy, and asks about waiting calls. */
  catchUp(): void
  leave(code: number): void
}

/** The agent of a chat at a terminal, and how chats differ. */
export interface TerminalChat {
  readonly agent: ChatAgent
  /** Default: that of the agent. */
  prompt?(text: string): Run
  /** The first line, after the program's name. */
  readonly headline: string
  readonly isPriced: boolean
  /** What Ctrl-C does, for `/help` and for the status line. */
  readonly ctrlC: { readonly help: string; readonly hint: string }
  policy(): ApprovalPolicy
  /** Called once the screen is open. */
  begin(chat: OpenChat): void
  /** Called with a message that is sent, which starts or joins a run. */
  said?(text: string): void
  onInterrupt(chat: OpenChat): void
  /** Called for Esc, where it closes nothing else. */
  onEscape?(chat: OpenChat): void
  /** Called for `/quit` and Ctrl-D; default: leaves. */
  onQuit?(chat: OpenChat): void
  /** Called before the screen is closed. */
  end?(): void
}

/**
 * Runs a chat at a terminal: text above, a status line while the agent works, and the input line below. Returns the exit code.
 */
export async function runTerminalChat(setup: TerminalChat, host: CliHost): Promise<number> {
  const { agent, isPriced, ctrlC, headline } = setup
  const colours = coloursFor(host.stdout, host.env)
  const screen = new LiveScreen(host)
  const status = new StatusLine(screen, colours, systemClock, ctrlC.hint)
  const print = eventPrinter({ screen, colours, isPriced })
  const unsubscribe = agent.subscribe((event) => {
    print(event)
    if (event.agentId === agent.id) status.see(event)
  })
  const approvals = answerPending(agent, screen, { policy: () => setup.policy() })
  const left = Promise.withResolvers<number>()
  const chat: OpenChat = {
    get typed() {
      return screen.typed
    },
    clearTyped: () => screen.clearTyped(),
    note(text, isWrong = false) {
      const line = isWrong ? colours.red(`! ${withoutControls(text)}`) : colours.dim(`  (${withoutControls(text)})`)
      screen.write(`${screen.isAtLineStart ? '' : '\n'}${line}\n`)
    },
    catchUp() {
      if (!['idle', 'paused', 'stopped'].includes(agent.state)) status.begin(agent.state)
      else status.close()
      approvals.look()
    },
    leave: (code) => left.resolve(code),
  }
  const quit = (): void => (setup.onQuit === undefined ? chat.leave(exitCodes.done) : setup.onQuit(chat))
  /** Reports a run that was refused, for which there are no events. */
  const watch = async ({ result }: Run): Promise<void> => {
    const { runId, error } = await result
    if (runId === '' && error !== undefined) chat.note(`${error.message} (${error.code})`, true)
  }
  const take = async (line: string): Promise<void> => {
    const read = readChatLine(line)
    if (read.type === 'nothing') return
    if (read.type === 'quit') return quit()
    if (read.type === 'help') return screen.write(chatHelp(ctrlC.help, true))
    if (read.type === 'print') return screen.write(read.text)
    if ('text' in read) setup.said?.(read.text)
    if (read.type === 'say' && isWaiting(agent))
      return watch((setup.prompt ?? ((text) => agent.prompt(text)))(read.text))
    const { note, run } = await runChatLine(agent, read.type === 'say' ? { type: 'steer', text: read.text } : read)
    if (note !== undefined) chat.note(note)
    if (run !== undefined) await watch(run)
  }
  const onLine = (line: string): void => void take(line).catch((thrown: unknown) => chat.note(messageOf(thrown), true))
  const onInterrupt = (): void => setup.onInterrupt(chat)
  const ignoreSignals = onStopSignal(host, onInterrupt)
  screen.write(`${colours.bold('escapement')} ${colours.dim(`· ${headline} · /help`)}\n`)
  screen.open({
    prompt: '› ',
    onLine,
    onInterrupt,
    onEscape: () => setup.onEscape?.(chat),
    complete: commandCompleter(chatCommands),
    isCommand: isSlashCommand,
    onEnd: quit,
  })
  setup.begin(chat)
  const code = await left.promise
  setup.end?.()
  ignoreSignals()
  approvals.end()
  unsubscribe()
  status.close()
  screen.close()
  return code
}
