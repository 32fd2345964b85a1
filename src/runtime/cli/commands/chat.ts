import type { Command } from '../command.ts'
import { isInteractive } from '../cliHost.ts'
import { chatInTerminal } from '../chatInTerminal.ts'
import { chatOverPipe } from '../chatOverPipe.ts'
import { chooseModel } from '../models/chooseModel.ts'
import { openSession } from '../openSession.ts'

/** `escapement chat`: a conversation, typed or piped in line by line. */
export const chatCommand: Command = {
  usage: 'chat',
  group: 'work',
  summary: 'talk to an agent that works in a folder',
  options: ['dir', 'model', 'json', 'yes'],
  details: [
    'A line typed while the agent works is given to it between two tool calls. Ctrl-C stops the work,',
    'twice leaves. Piped in, every line is a prompt, answered before the next.',
  ],
  task: 'none',
  async run({ dir = '.', model, json, yes }, host) {
    const isLive = !json && isInteractive(host)
    const choice = await chooseModel({ asked: model, env: host.env, dir: host.cwd(), wordDelayMs: isLive ? 12 : 0 })
    if (choice.notice !== undefined) host.stderr.write(`${choice.notice}\n`)
    const session = await openSession({ dir, choice, needsApproval: () => !yes })
    const options = { host, json, isPriced: choice.isEmbedded, modelId: choice.model.id }
    try {
      return await (isLive ? chatInTerminal(session, options) : chatOverPipe(session, options))
    } finally {
      await session.close()
    }
  },
}
