import type { RemoteAgent } from '../../../../../bridge/src/client/index.ts'
import { promptAgain } from '../../../../../sessions/src/promptAgain.ts'
import { RuntimeError } from '../../../../../../src/protocol/errors.ts'
import { say } from './say.ts'

/**
 * Continues the agent's last run after a failure. If that is not possible, as when something has happened since, it sends the prompt again,
 * text and media, with its original sender. Rejects with the server's refusal, and with `INVALID_CONTENT` if the agent was never prompted.
 */
export async function retry(agent: RemoteAgent): Promise<void> {
  try {
    return await say(agent, 'resume', [])
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'NOT_PAUSED')) throw thrown
  }
  const { nodes } = await agent.conversation('trunk')
  const said = promptAgain(nodes)
  if (said === undefined) throw new RuntimeError('INVALID_CONTENT', 'there is no prompt to repeat')
  const { content, ...from } = said
  await say(agent, 'prompt', content, from)
}
