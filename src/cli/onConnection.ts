import type { Client } from '../client/client.ts'
import { messageOf } from '../protocol/errors.ts'
import type { AttachedAgent } from './attachedAgent.ts'

/**
 * Says when the connection is lost and made again, and what goes wrong that nobody waits for; `back` is called once it is known
 * anew what the agent is like.
 */
export function onConnection(
  client: Client,
  say: (text: string, isWrong: boolean) => unknown,
  agent: AttachedAgent,
  back: () => void = () => {},
): void {
  client.onError(({ code, message }) => {
    // Why it is closed is said by whoever closed it.
    if (client.status !== 'closed') say(`${message} (${code})`, true)
  })
  client.onStatus((status) => {
    if (status === 'reconnecting') say('connection lost; reconnecting…', false)
    if (status !== 'open') return
    say('back', false)
    void agent.refresh().then(back, (thrown: unknown) => say(messageOf(thrown), true))
  })
}
