import { chatAtTerminal, pastSessions, pickAtTerminal } from '../chat/chatSessions.ts'
import { exitCodes, isInteractive, type CliHost } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { chatOverPipe } from '../chat/localChat.ts'
import { openPast } from '../sessions/openPast.ts'
import { openWork } from '../sessions/openWork.ts'
import { refuse } from '../sessions/sessionLogs.ts'

/** `escapement chat`: holds a conversation, typed or piped in line by line. */
export const chatCommand: CommandRun = async (invocation, host) => {
  const { json, yes } = invocation
  const isTyped = !json && isInteractive(host)
  const chosen = await chooseSession(invocation, host, isTyped)
  if (typeof chosen === 'number') return chosen
  if (isTyped) return chatAtTerminal(invocation, host, chosen.id)
  const work = await (chosen.id === undefined ? openWork(invocation, host) : openPast(invocation, host, chosen.id))
  if ('refusal' in work) return refuse(host, work.refusal, work.code)
  try {
    return await chatOverPipe(work.session, { host, json, yes, ...work })
  } finally {
    await work.session.close()
  }
}

/** Returns the session to continue, nothing for a new one, or an exit code if there is nothing to do. */
async function chooseSession(
  invocation: Invocation,
  host: CliHost,
  isTyped: boolean,
): Promise<{ readonly id?: string } | number> {
  if (!invocation.continue && !invocation.pick) return {}
  if (invocation.continue && invocation.pick)
    return refuse(host, 'Use either --continue (the newest session) or --pick, not both.', exitCodes.usage)
  if (invocation.pick && !isTyped)
    return refuse(host, '--pick needs a terminal. Take the newest session with --continue.', exitCodes.usage)
  const sessions = await pastSessions(invocation, host)
  const [newest] = sessions
  if (newest === undefined)
    return refuse(host, 'There is no session to continue in this folder. Start one: escapement chat')
  if (invocation.continue) return { id: newest.id }
  const id = await pickAtTerminal(sessions, host)
  return id === undefined ? exitCodes.done : { id }
}
