import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import type { Run } from '../../../../src/protocol/runs/run.ts'
import { answerPending, type ApprovalPolicy } from './approvals.ts'
import { isWaiting, type ChatAbout, type ChatAgent } from './chatAgent.ts'
import { runChatLine } from './runChatLine.ts'
import { chatCommands, chatHelp, isSlashCommand, readChatLine, type ChatParts } from './slashCommands.ts'
import { recap } from './conversationTree.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import { onStopSignal } from '../signals.ts'
import { coloursFor } from '../terminal/colours.ts'
import { commandCompleter, firstCompleter, pathCompleter } from '../terminal/input/completion.ts'
import type { PickerItem } from '../terminal/input/picker.ts'
import type { InputHistory } from '../terminal/input/historyFile.ts'
import { mayMention, withMentions } from '../terminal/input/mentions.ts'
import { workspaceFiles } from '../terminal/input/workspaceFiles.ts'
import { eventPrinter } from '../terminal/eventPrinter.ts'
import { takesLinks } from '../terminal/links.ts'
import { LiveScreen } from '../terminal/liveScreen.ts'
import { withoutControls } from '../../../charts/src/plainText.ts'
import { StatusLine } from '../terminal/statusLine.ts'

/** An open chat, as passed to the handlers of `TerminalChat`. */
export interface OpenChat {
  /** The input that has not been submitted. */
  readonly typed: string
  clearTyped(): void
  /** Prints a note, in red if `isWrong`. */
  note(text: string, isWrong?: boolean): void
  /** Shows the current status of an agent that is already busy, and asks about waiting calls. */
  catchUp(): void
  /** Lets the person choose from a list; `undefined` if nothing was chosen. */
  pick(title: string, items: readonly PickerItem[]): Promise<number | undefined>
  leave(code: number): void
}

/** Agent and settings of a chat at a terminal. */
export interface TerminalChat {
  readonly agent: ChatAgent
  readonly about: ChatAbout
  /** Prompts the agent. Default: `prompt` of the agent. */
  prompt?(text: string): Run
  /** The first line, after the program's name. */
  readonly headline: string
  readonly isPriced: boolean
  /** Returns the size of the model's context window in tokens, if known. */
  window?(): number | undefined
  /** Returns the current work of each sub-agent. Missing if unknown here. */
  below?(): readonly string[]
  /** Returns the agent's state. Missing if it has none, or if it is unknown here. */
  appState?(): unknown
  /** Effect of Ctrl-C, for `/help` and for the status line. */
  readonly ctrlC: { readonly help: string; readonly hint: string }
  policy(): ApprovalPolicy
  /** Store of typed messages, shared with other runs. Default: only this run's messages. */
  readonly history?: InputHistory
  /** The folder whose files `@path` names, and a note on its location for messages. Default: none, and `@` is plain text. */
  readonly workspace?: { readonly dir: string; readonly where?: string }
  /** Called once the screen is open. */
  begin(chat: OpenChat): void
  /** Called with a message that is sent, which starts or joins a run. */
  said?(text: string): void
  onInterrupt(chat: OpenChat): void
  /** Called for Esc when it does not close anything. */
  onEscape?(chat: OpenChat): void
  /** Called for `/sessions`. Default: no other session can be chosen. */
  onSessions?(chat: OpenChat): Promise<void>
  /** Called for `/quit` and Ctrl-D. Default: leaves the chat. */
  onQuit?(chat: OpenChat): void
  /** Called before the screen is closed. */
  end?(): void
}

/** Maximum number of lines shown of a tree, from its end. `escapement show` prints the whole tree. */
const mostTreeLines = 200

/** Types of lines that are messages to the agent. */
const speech: ReadonlySet<string> = new Set(['say', 'steer', 'followUp'])

/**
 * Runs a chat at a terminal: text above, a status line while the agent works, and the input line below. Returns the exit code.
 */
export async function runTerminalChat(setup: TerminalChat, host: CliHost): Promise<number> {
  const { agent, isPriced, ctrlC, headline, history } = setup
  const has: ChatParts = (part) => (part === 'sessions' ? setup.onSessions !== undefined : setup.about.has(part))
  // A dumb terminal does not tell what was pasted, and that must name no files.
  const workspace = host.env['TERM'] === 'dumb' ? undefined : setup.workspace
  const colours = coloursFor(host.stdout, host.env, host.theme)
  const older = (await history?.read().catch(() => [])) ?? []
  const screen = new LiveScreen(host)
  const status = new StatusLine(screen, colours, systemClock, ctrlC.hint, {
    window: () => setup.window?.(),
    below: () => setup.below?.() ?? [],
    appState: () => setup.appState?.(),
  })
  const print = eventPrinter({
    screen,
    colours,
    isPriced,
    resume: '/retry',
    hasLinks: takesLinks(host.env),
    isDumb: host.env['TERM'] === 'dumb',
    isAsking: () => setup.policy() === 'ask',
  })
  const unsubscribe = agent.subscribe((event) => {
    print(event)
    if (event.agentId === agent.id) status.see(event)
  })
  const approvals = answerPending(agent, screen, { policy: () => setup.policy(), colours })
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
    pick: (title, items) => screen.pick(title, items, new AbortController().signal),
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
    if (read.type === 'help') return screen.write(chatHelp({ ctrlC: ctrlC.help, isTyped: true, has }))
    if (read.type === 'print') return screen.write(read.text)
    if (read.type === 'sessions')
      return setup.onSessions === undefined
        ? chat.note('available only in "escapement chat"', true)
        : setup.onSessions(chat)
    if ('text' in read) setup.said?.(read.text)
    if (read.type === 'say' && isWaiting(agent))
      return watch((setup.prompt ?? ((text) => agent.prompt(text)))(read.text))
    const asked = read.type === 'say' ? ({ type: 'steer', text: read.text } as const) : read
    const { note, run, conversation } = await runChatLine(agent, asked, setup.about)
    if (note !== undefined) chat.note(note)
    if (conversation !== undefined)
      screen.write(`${screen.isAtLineStart ? '' : '\n'}${recap(conversation, host, mostTreeLines)}`)
    if (run !== undefined) await watch(run)
  }
  const wrong = (thrown: unknown): void => chat.note(messageOf(thrown), true)
  /** Reading of files named by a line. Later lines wait for it, so that the agent receives all lines in order. */
  let reading: Promise<void> | undefined
  const onLine = (line: string, typed: string): void => {
    const names = workspace !== undefined && mayMention(typed) && speech.has(readChatLine(line).type)
    if (reading === undefined && !names) return void take(line).catch(wrong)
    const own = (reading ?? Promise.resolve()).then(async () => {
      const { text, notes } = names ? await withMentions(line, workspace.dir, typed) : { text: line, notes: [] }
      const where = workspace?.where === undefined ? '' : `, ${workspace.where}`
      for (const note of notes) chat.note(`${note}${where}`)
      if (reading === own) reading = undefined
      void take(text).catch(wrong)
    })
    reading = own
    own.catch(wrong)
  }
  const onInterrupt = (): void => setup.onInterrupt(chat)
  let isTold = false
  /** The last write to the history; texts are kept one after the other. */
  let lastKept: Promise<void> | undefined
  const keepNone = (thrown: unknown): void => {
    if (!isTold) chat.note(`input history is not saved: ${messageOf(thrown)}`, true)
    isTold = true
  }
  const ignoreSignals = onStopSignal(host, onInterrupt)
  screen.write(`${colours.bold('escapement')} ${colours.dim(`· ${headline} · /help`)}\n`)
  const files = workspace === undefined ? undefined : workspaceFiles(workspace.dir, systemClock, () => screen.refresh())
  screen.open({
    prompt: '› ',
    onLine,
    onInterrupt,
    onEscape: () => setup.onEscape?.(chat),
    complete: firstCompleter(
      commandCompleter(chatCommands(has)),
      ...(files === undefined ? [] : [pathCompleter(() => files.paths())]),
    ),
    keep: (line, namesNone) => void (lastKept = history?.keep(line, namesNone).catch(keepNone)),
    isCommand: isSlashCommand,
    onEnd: quit,
  })
  screen.addOlder(older)
  setup.begin(chat)
  const code = await left.promise
  setup.end?.()
  ignoreSignals()
  approvals.end()
  unsubscribe()
  status.close()
  screen.close()
  await lastKept
  return code
}
