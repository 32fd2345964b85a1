import { tell } from '../terminal/wordWrap.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isRemembered } from '../../../../src/protocol/remembered.ts'
import type { RemoteConversation, RemoteNode } from '../../../bridge/src/client/answers.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { sharedPolicy } from './approvals.ts'
import type { AttachedAgent } from './attachedAgent.ts'
import type { ChatOptions } from './localChat.ts'
import { exitCodes } from '../cliHost.ts'
import { runTerminalChat, type OpenChat } from './runTerminalChat.ts'
import { onConnection } from './onConnection.ts'
import { Redactor } from '../../../redaction/src/redactor.ts'
import { historyFile } from '../terminal/input/historyFile.ts'
import { coloursFor } from '../terminal/colours.ts'
import { resumedBy } from '../terminal/eventPrinter.ts'
import { recap } from './conversationTree.ts'
import { pauseText } from '../terminal/sessionText.ts'
import { oneLine } from '../../../charts/src/plainText.ts'
import type { ReachedServer } from '../sessions/withServer.ts'

/** Runs a terminal chat with an agent on a server. The agent keeps working when the chat is left. */
export async function attachInTerminal(
  agent: AttachedAgent,
  { client, address }: ReachedServer,
  { host, yes = false }: Pick<ChatOptions, 'host' | 'yes'>,
): Promise<number> {
  const head = (await agent.remote.snapshot()).head
  let isLeaving = false
  // Only where the command line has kept something already.
  const folder = join(host.cwd(), '.escapement')
  const redactor = new Redactor({})
  const isObserver = !client.may('talk')
  /** Messages sent from here, which are already on the screen. */
  const said: string[] = []
  const leave = (chat: OpenChat): void => {
    if (!agent.hasUndelivered) return chat.leave(exitCodes.done)
    isLeaving = true
    chat.note('leaving once the server has your message; Ctrl-C to leave now')
    void agent.delivered().then(() => chat.leave(exitCodes.done))
  }
  host.stdout.write(recap(trunkUpTo(await agent.remote.conversation(), head), host))
  const code = await runTerminalChat(
    {
      agent,
      about: agent.aboutAt(address),
      headline: `${agent.id} · ${address}${isObserver ? ' · read-only: the token lacks the right "talk"' : ''}`,
      isPriced: false,
      window: () => agent.window,
      appState: () => agent.appState,
      ctrlC: { help: 'leave; the agent keeps running', hint: 'Ctrl-C to leave' },
      ...(existsSync(folder) ? { history: historyFile(join(folder, 'history'), (text) => redactor.text(text)) } : {}),
      // The server has other files, or none.
      workspace: { dir: host.cwd(), where: 'read on this machine' },
      policy: () => (isObserver ? 'leave' : sharedPolicy(agent.isOwnRun, true, yes)),
      said: (text) => void said.push(text.trim()),
      begin(chat) {
        agent.subscribe((event) => showOthers(event, { agent, chat, said }))
        onConnection(
          client,
          (text, isWrong) => chat.note(text, isWrong),
          agent,
          () => chat.catchUp(),
        )
        agent.follow()
        const why = whyAtRest(agent)
        if (why !== undefined) chat.note(why)
        chat.catchUp()
      },
      onInterrupt(chat) {
        if (isLeaving) chat.leave(exitCodes.interrupted)
        else if (chat.typed !== '') chat.clearTyped()
        else leave(chat)
      },
      onEscape(chat) {
        if (agent.state === 'idle') return
        if (!agent.isOwnRun) return chat.note('started elsewhere; /abort stops it')
        void agent.abort().then(
          () => chat.note('stopped'),
          (thrown: unknown) => chat.note(messageOf(thrown), true),
        )
      },
      onQuit: leave,
    },
    host,
  )
  tell(host.stdout, `${coloursFor(host.stdout, host.env, host.theme).dim(farewell(agent, address))}\n`)
  return code
}

/** Returns the reason why an agent rests, unless it waits for a decision. */
export function whyAtRest({ pause, failure }: Pick<AttachedAgent, 'pause' | 'failure'>): string | undefined {
  if (pause !== null && pause.type !== 'approvals') return `paused: ${pauseText(pause)}; /resume continues`
  if (failure === undefined) return undefined
  const words = resumedBy(oneLine(failure), '/retry')
  return `the last run failed: ${words.includes('/retry') ? words : `${words} /retry continues it.`}`
}

/** Returns the last line, for a person who leaves. */
export const farewell = ({ id, state }: Pick<AttachedAgent, 'id' | 'state'>, address: string): string => {
  const isAtWork = !['idle', 'paused', 'stopped'].includes(state)
  return `detached${isAtWork ? '; the run continues' : ''}; reattach with: escapement attach ${address} ${id}`
}

/** Returns the trunk up to a head. Later steps arrive as events. */
function trunkUpTo({ nodes }: RemoteConversation, head: number | null) {
  const trunk: RemoteNode[] = nodes.filter(({ id }) => head !== null && id <= head)
  return { trunk: () => trunk, abandoned: () => [] }
}

interface ChatContext {
  readonly agent: AttachedAgent
  readonly chat: OpenChat
  readonly said: string[]
}

/** Shows messages that others send to the agent, and shows when it is stopped. */
function showOthers(event: AgentEvent, { agent, chat, said }: ChatContext): void {
  if (event.agentId !== agent.id) return
  if (event.type === 'agent.stopped') {
    chat.note('the agent was stopped for good')
    return chat.leave(exitCodes.done)
  }
  if (event.type !== 'message.added') return
  const { provenance } = event.message
  if (provenance?.type === 'report' || isRemembered(provenance)) return
  const text = textOf(event.message.content)
  const at = said.indexOf(text.trim())
  if (at === -1) chat.note(`${event.message.source}: ${oneLine(text)}`)
  else said.splice(at, 1)
}
