import type { CommandRun } from '../command.ts'
import { isInteractive } from '../cliHost.ts'
import { chatInTerminal, chatOverPipe } from '../localChat.ts'
import { chooseModel } from '../models/chooseModel.ts'
import { openSession } from '../openSession.ts'

/** `escapement chat`: a conversation, typed or piped in line by line. */
export const chatCommand: CommandRun = async ({ dir = '.', model, json, yes }, host) => {
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
}
