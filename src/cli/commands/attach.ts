import { AttachedAgent } from '../attachedAgent.ts'
import { attachInTerminal, farewell } from '../attachInTerminal.ts'
import { chooseAgent } from '../chooseAgent.ts'
import { isInteractive } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { onConnection } from '../onConnection.ts'
import { refuse } from '../sessionLogs.ts'
import { runPipedChat, type PipedChat } from '../runPipedChat.ts'
import { withServer } from '../withServer.ts'

/** `escapement attach <url> [id]`: a chat with an agent of a server. */
export const attachCommand: CommandRun = (invocation, host) =>
  withServer(invocation, host, async (server) => {
    const { client, address } = server
    const choice = await chooseAgent(client, invocation)
    if ('refusal' in choice) return refuse(host, choice.refusal, choice.code)
    const agent = await AttachedAgent.find(client, choice.agentId)
    const { json, yes } = invocation
    if (!json && isInteractive(host)) return attachInTerminal(agent, server, { host, yes })
    onConnection(client, (text) => host.stderr.write(`${text}\n`), agent)
    agent.follow()
    const chat: PipedChat = {
      agent,
      isPriced: false,
      ctrlC: 'leave; the agent goes on',
      farewell: () => farewell(agent, address),
      policy: () => (yes ? 'approve' : agent.isOwnRun ? 'deny' : 'leave'),
      isStopping: () => true,
    }
    return runPipedChat(chat, host, json)
  })
