import { tell } from '../terminal/wordWrap.ts'
import { sharedPolicy } from '../chat/approvals.ts'
import { AttachedAgent } from '../chat/attachedAgent.ts'
import { attachInTerminal, farewell } from '../chat/attachInTerminal.ts'
import { isInteractive, exitCodes, type CliHost } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { onConnection } from '../chat/onConnection.ts'
import { refuse } from '../sessions/sessionLogs.ts'
import { runPipedChat, type PipedChat } from '../chat/runPipedChat.ts'
import { withServer } from '../sessions/withServer.ts'
import type { Client } from '../../../bridge/src/client/client.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { agentItems, firstAgents, listedAgents, type ListEntry } from '../chat/agentList.ts'
import { atTerminal } from '../terminal/atTerminal.ts'
import { checkAgentId } from '../../../../src/protocol/ids.ts'
import type { Invocation } from '../commandLine.ts'
import { oneLine } from '../../../charts/src/plainText.ts'

/** `escapement attach <url> [id]`: chats with an agent on a server. */
export const attachCommand: CommandRun = (invocation, host) =>
  withServer(invocation, host, async (server) => {
    const { client, address } = server
    const { json, yes } = invocation
    const isTyped = !json && isInteractive(host)
    const choice = await chooseAgent(client, invocation, isTyped ? host : undefined)
    if (choice === undefined) return exitCodes.done
    if ('refusal' in choice) return refuse(host, choice.refusal, choice.code)
    const agent = await AttachedAgent.find(client, choice.agentId)
    if (isTyped) return attachInTerminal(agent, server, { host, yes })
    onConnection(client, (text) => tell(host.stderr, `${text}\n`), agent)
    agent.follow()
    const chat: PipedChat = {
      agent,
      about: agent.aboutAt(address),
      isPriced: false,
      ctrlC: 'leave; the agent keeps running',
      farewell: () => farewell(agent, address),
      policy: () => sharedPolicy(agent.isOwnRun, false, yes),
      isStopping: () => true,
    }
    return runPipedChat(chat, host, json)
  })

/** The chosen agent, or the reason why there is none. */
type AgentChoice =
  | { readonly agentId: string }
  | { readonly refusal: string; readonly code: (typeof exitCodes)['failed' | 'usage'] }

const mostListed = 20
/** Maximum number of agents offered to a person. */
const mostOffered = 500
const pickTitle = 'Attach to (type to search, Enter, Esc):'

/**
 * Chooses the named agent, a newly spawned one, the only one there is, or the one that a person at a terminal picks; `undefined` if none is
 * picked. `terminal`: missing if nobody can be asked. Rejects with `INVALID_ID` and as `client.spawn`.
 */
async function chooseAgent(
  client: Client,
  { before: [address = ''], task: id, spawn }: Pick<Invocation, 'before' | 'task' | 'spawn'>,
  terminal: CliHost | undefined,
): Promise<AgentChoice | undefined> {
  if (id !== undefined) checkAgentId(id)
  if (spawn !== undefined) return { agentId: (await client.spawn(spawn, id === undefined ? {} : { id })).id }
  if (id !== undefined) return { agentId: id }
  const { agents: all, total } = await firstAgents(client, terminal === undefined ? mostListed : mostOffered)
  const agents = listedAgents(all)
  const [only] = agents
  if (only !== undefined && total === 1) return { agentId: only.agentId }
  if (only !== undefined && terminal !== undefined) {
    const index = await atTerminal(terminal, (pick) => pick(pickTitle, agentItems(agents, systemClock.now())))
    return index === undefined ? undefined : { agentId: agents[index]!.agentId }
  }
  const attach = `escapement attach ${address}`
  if (total === 0) return { refusal: noAgent(client, attach), code: exitCodes.failed }
  const more = total > agents.length ? [`  … ${total - agents.length} more`] : []
  const lines = [
    `There are ${total} agents. Name one, like: ${attach} ${only!.agentId}`,
    ...agents.map(agentLine),
    ...more,
  ]
  return { refusal: lines.join('\n'), code: exitCodes.usage }
}

const agentLine = ({ agentId, name, words }: ListEntry): string => `  ${agentId}  ${name} · ${oneLine(words)}`

function noAgent(client: Client, attach: string): string {
  const none = `No agent is running there. A stored one is opened by its id: ${attach} <id>`
  const { definitions } = client
  if (!client.may('spawn') || definitions.length === 0) return none
  const [only = ''] = definitions
  const names = definitions.length === 1 ? '' : ` (definitions: ${definitions.map(oneLine).join(', ')})`
  return `${none}\nA new one: ${attach} --spawn ${definitions.length === 1 ? oneLine(only) : '<definition>'}${names}`
}
