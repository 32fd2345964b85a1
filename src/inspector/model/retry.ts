import type { RemoteAgent } from '../../client.ts'
import { promptAgain } from '../../conversation/promptAgain.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import { say } from './say.ts'

/**
 * Says again what began the agent's last run, text and media, as the word of whoever said it. Rejects with what the server
 * refuses, and with `INVALID_CONTENT` where nobody prompted it.
 */
export async function retry(agent: RemoteAgent): Promise<void> {
  const { nodes } = await agent.conversation('trunk')
  const said = promptAgain(nodes)
  if (said === undefined) throw new RuntimeError('INVALID_CONTENT', 'there is no prompt to say again')
  const { content, ...from } = said
  await say(agent, 'prompt', content, from)
}
