import type { CommandRun } from '../command.ts'
import { isInteractive } from '../cliHost.ts'
import { chatInTerminal, chatOverPipe } from '../localChat.ts'
import { openWork } from '../openWork.ts'

/** `escapement chat`: a conversation, typed or piped in line by line. */
export const chatCommand: CommandRun = async (invocation, host) => {
  const { session, ...shown } = await openWork(invocation, host)
  const { json, yes } = invocation
  const options = { host, json, yes, ...shown }
  try {
    return await (!json && isInteractive(host) ? chatInTerminal(session, options) : chatOverPipe(session, options))
  } finally {
    await session.close()
  }
}
