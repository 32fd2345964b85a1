import { tell } from '../terminal/wordWrap.ts'
import { childrenOf } from './childrenOf.ts'
import { join } from 'node:path'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { savingsOf } from '../../../sessions/src/savings/savings.ts'
import { readHistory } from '../../../../src/log/readHistory.ts'
import { approvalPolicy } from './approvals.ts'
import { doubleStop } from '../signals.ts'
import { exitCodes, type CliHost } from '../cliHost.ts'
import { runTerminalChat, type OpenChat } from './runTerminalChat.ts'
import { resumeHint, type Session } from '../sessions/openSession.ts'
import { forkSession } from '../../../sessions/src/forkSession.ts'
import type { ChatAbout } from './chatAgent.ts'
import { Redactor } from '../../../redaction/src/redactor.ts'
import { historyFile } from '../terminal/input/historyFile.ts'
import { coloursFor } from '../terminal/colours.ts'
import { runPipedChat } from './runPipedChat.ts'

export interface ChatOptions {
  readonly host: CliHost
  readonly json: boolean
  readonly isPriced: boolean
  readonly modelId: string
  /** True to approve all calls that need an approval. */
  readonly yes?: boolean
}

/** Options of a chat at a terminal. */
export interface TerminalChatOptions extends ChatOptions {
  /** Called once the screen is open. */
  begin(chat: OpenChat): void
  /** Called for `/sessions`. */
  onSessions(chat: OpenChat): Promise<void>
}

/** Returns the facts and log commands that a chat needs about an agent in this process. */
const aboutSession = (session: Session, host: CliHost): ChatAbout => ({
  has: (part) => {
    if (part === 'policies') return session.agent.policies.length > 0
    if (part === 'fold') return session.agent.braking.fold
    return part !== 'models' || session.definition.turns.models.size > 0
  },
  conversation: () => Promise.resolve(session.agent.conversation),
  spent: () => Promise.resolve(session.agent.spent),
  async savings() {
    await session.agent.durable()
    return savingsOf((await readHistory(session.store, session.agent.id)).records)
  },
  async fork(step) {
    const { agent, store } = session
    await agent.durable()
    const { agentId } = await forkSession(store, agent.id, step)
    return resumeHint({ ...session, agent: { id: agentId } }, host)
  },
})

/** Runs a chat at a terminal with an agent in this process. */
export async function chatInTerminal(
  session: Session,
  { host, isPriced, modelId, yes = false, begin, onSessions }: TerminalChatOptions,
): Promise<number> {
  const { agent, dir, place, logFile, prompt } = session
  const isDouble = doubleStop(systemClock)
  const redactor = new Redactor(session.redact ?? {})
  const code = await runTerminalChat(
    {
      agent,
      about: aboutSession(session, host),
      prompt,
      headline: `${modelId} · ${dir}`,
      isPriced,
      window: () => session.definition.compaction?.policy.contextWindow,
      below: () => childrenOf(session.agent),
      appState: () => session.agent.appState,
      ctrlC: { help: 'stop the agent; twice, leave', hint: 'Esc to stop' },
      policy: () => approvalPolicy(true, yes),
      history: historyFile(join(place.folder ?? join(dir, '.escapement'), 'history'), (text) => redactor.text(text)),
      workspace: { dir },
      begin,
      onSessions,
      onInterrupt(chat) {
        const wasBusy = agent.state !== 'idle'
        if (isDouble()) chat.leave(exitCodes.interrupted)
        else if (wasBusy) chat.note('stopped; Ctrl-C again to leave')
        else if (chat.typed !== '') chat.clearTyped()
        else chat.leave(exitCodes.done)
        agent.abort()
      },
      onEscape(chat) {
        if (agent.state === 'idle') return
        chat.note('stopped')
        agent.abort()
      },
      end() {
        // A paused run stays paused, for `escapement resume`.
        if (agent.state !== 'idle' && agent.state !== 'paused') agent.abort()
      },
    },
    host,
  )
  const { dim } = coloursFor(host.stdout, host.env, host.theme)
  tell(host.stdout, `${dim(`recorded in ${logFile}`)}\n${dim(resumeHint(session, host))}\n`)
  return code
}

/** Runs a chat over a pipe with an agent in this process. */
export function chatOverPipe(session: Session, { host, json, isPriced, yes = false }: ChatOptions): Promise<number> {
  const { agent, logFile, prompt } = session
  const isDouble = doubleStop(systemClock)
  const chat = {
    agent,
    about: aboutSession(session, host),
    prompt,
    isPriced,
    ctrlC: 'stop the agent; twice, leave',
    farewell: () => `recorded in ${logFile}`,
    policy: () => approvalPolicy(false, yes),
    isStopping() {
      const isLast = isDouble() || agent.state === 'idle'
      agent.abort()
      return isLast
    },
  }
  return runPipedChat(chat, host, json)
}
