import { withoutControls } from '../../../charts/src/plainText.ts'
import type { Client } from '../../../bridge/src/client/client.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import type { AttachedAgent } from './attachedAgent.ts'

/** Reports a lost and a restored connection, and errors that no caller awaits. `back` is called once the agent's state is known again. */
export function onConnection(
  client: Client,
  say: (text: string, isWrong: boolean) => unknown,
  agent: AttachedAgent,
  back: () => void = () => {},
): void {
  client.onError(({ code, message }) => {
    // The caller that closed it reports why.
    if (client.status !== 'closed') say(withoutControls(`${message} (${code})`), true)
  })
  client.onStatus((status) => {
    if (status === 'reconnecting') say('connection lost; reconnecting…', false)
    if (status !== 'open') return
    say('back', false)
    void agent.refresh().then(back, (thrown: unknown) => say(withoutControls(messageOf(thrown)), true))
  })
}
