import type { RemoteAgent } from '../../client.ts'
import { promptAgain } from '../../conversation/promptAgain.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import { say } from './say.ts'

/**
 * Goes on with the agent's last run where that failed. If it cannot, as when something has happened since, what began it is said again,
 * text and media, as the word of whoever said it. Rejects with what the server refuses, and with `INVALID_CONTENT` where nobody
 * prompted the agent.
 */
export async function retry(agent: RemoteAgent): Promise<void> {
  try {
    return await say(agent, 'resume', [])
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'NOT_PAUSED')) throw thrown
  }
  const { nodes } = await agent.conversation('trunk')
  const said = promptAgain(nodes)
  if (said === undefined) throw new RuntimeError('INVALID_CONTENT', 'there is no prompt to say again')
  const { content, ...from } = said
  await say(agent, 'prompt', content, from)
}
