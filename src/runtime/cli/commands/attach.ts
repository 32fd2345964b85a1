import { AttachedAgent } from '../attachedAgent.ts'
import { attachInTerminal, farewell } from '../attachInTerminal.ts'
import { chooseAgent } from '../chooseAgent.ts'
import { isInteractive } from '../cliHost.ts'
import type { Command } from '../command.ts'
import { onConnection } from '../onConnection.ts'
import { refuse } from '../sessionLogs.ts'
import { talkOverPipe, type PipedTalk } from '../talkOverPipe.ts'
import { withServer } from '../withServer.ts'

/** `escapement attach <url> [id]`: a chat with an agent of a server. */
export const attachCommand: Command = {
  usage: 'attach <url> [id]',
  group: 'network',
  summary: 'talk to an agent of a server',
  details: [
    'The URL is that of "escapement serve": ws://host:port/bridge, http://host:port or host:port.',
    'Without an id the only agent there is; --spawn starts a new one. A chat as "escapement chat" is,',
    'but leaving it, by Ctrl-C, Ctrl-D or /quit, leaves the agent at work; /abort stops it. A',
    'connection that breaks is made again, and nothing is missed. Piped in, every line is a prompt,',
    'answered before the next; what waits for an approval in such a run is denied, unless --yes.',
  ],
  options: ['token', 'spawn', 'json', 'yes'],
  task: 'optional',
  operand: { name: 'agent id', example: 'ws://127.0.0.1:8080/bridge' },
  before: ['server URL'],
  run: (invocation, host) =>
    withServer(invocation, host, async (server) => {
      const { client, address } = server
      const choice = await chooseAgent(client, invocation)
      if ('refusal' in choice) return refuse(host, choice.refusal, choice.code)
      const agent = await AttachedAgent.find(client, choice.agentId)
      const { json, yes } = invocation
      if (!json && isInteractive(host)) return attachInTerminal(agent, server, { host, yes })
      onConnection(client, (text) => host.stderr.write(`${text}\n`), agent)
      agent.follow()
      const talk: PipedTalk = {
        agent,
        isPriced: false,
        ctrlC: 'leave; the agent goes on',
        farewell: () => farewell(agent, address),
        policy: () => (yes ? 'approve' : agent.isOwnRun ? 'deny' : 'leave'),
        isStopping: () => true,
      }
      return talkOverPipe(talk, host, json)
    }),
}
