import type { RemoteAgent } from '../../client.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import { say } from './say.ts'

/**
 * Says again what the agent was prompted with last, text and media. Rejects with what the server refuses, and with `INVALID_CONTENT`
 * where nobody prompted it.
 */
export async function retry(agent: RemoteAgent): Promise<void> {
  const { nodes } = await agent.conversation('trunk')
  const said = nodes.findLast(({ message }) => message.role === 'user' && message.source === 'prompt')?.message
  if (said?.role !== 'user') throw new RuntimeError('INVALID_CONTENT', 'there is no prompt to say again')
  await say(agent, 'prompt', [...said.content])
}
