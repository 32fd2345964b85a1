import { noUsage, toolCallsOf, type Usage } from '../protocol/messages.ts'
import type { Conversation } from './conversation.ts'
import { brakeTools } from './revert.ts'

/**
 * What the model used to ask for a reshaping: the call and, where a reply did nothing but ask, its request too, read from the cache.
 * Several calls of one reply share that. Nothing when a person or the runtime asked.
 */
export function usedByAsking(conversation: Conversation, { id, by }: { id: string; by: string }): Usage {
  if (by !== 'model') return noUsage
  for (const { message } of conversation.path.toReversed()) {
    if (message.role !== 'assistant') continue
    const calls = toolCallsOf(message.content)
    const asking = calls.filter(({ name }) => brakeTools.has(name))
    const call = asking.find(({ callId }) => id.endsWith(`/tool/${callId}`))
    if (call === undefined) continue
    if (asking.length < calls.length)
      return { ...noUsage, output: conversation.counter.message({ ...message, content: [call] }) }
    const { input, cacheRead, cacheWrite, output } = message.usage
    const share = 1 / asking.length
    return { ...noUsage, cacheRead: (input + cacheRead + cacheWrite) * share, output: output * share }
  }
  return noUsage
}
