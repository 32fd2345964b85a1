import { askingTools } from '../../protocol/brakes/brakeTable.ts'
import { noUsage, toolCallsOf, type AssistantMessage, type ToolCallBlock, type Usage } from '../../protocol/messages.ts'
import type { Conversation } from '../tree/conversation.ts'
import type { ConversationNode } from '../tree/node.ts'
import { brakeTools } from './revert/planRevert.ts'

interface Asking {
  readonly node: ConversationNode
  readonly message: AssistantMessage
  readonly call: ToolCallBlock
}

/** Returns the call on the trunk with which the model requested a reshaping. The id of the request is the call's key. */
function askingCall({ path }: Conversation, id: string): Asking | undefined {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = path[depth - 1]!
    const { message } = node
    if (message.role !== 'assistant') continue
    const call = toolCallsOf(message.content).find(
      ({ name, callId }) => askingTools.includes(name) && id.endsWith(`/tool/${callId}`),
    )
    if (call !== undefined) return { node, message, call }
  }
  return undefined
}

/** Returns the last node of the step in which the model asked; `undefined` if that step is no longer on the trunk. */
export function askedAt(conversation: Conversation, id: string): ConversationNode | undefined {
  const asking = askingCall(conversation, id)
  return asking === undefined ? undefined : conversation.stepEnd(asking.node)
}

/**
 * Returns the tokens that the model used to request a reshaping: the call and, if the reply did nothing else, its request too, read from the cache.
 * Several calls of one reply share that usage. It is zero if a person or the runtime asked.
 */
export function usedByAsking(conversation: Conversation, { id, by }: { id: string; by: string }): Usage {
  const asking = by === 'model' ? askingCall(conversation, id) : undefined
  if (asking === undefined) return noUsage
  const { message, call } = asking
  const calls = toolCallsOf(message.content)
  const brakes = calls.filter(({ name }) => brakeTools.has(name) || name === call.name).length
  if (brakes < calls.length)
    return { ...noUsage, output: conversation.counter.message({ ...message, content: [call] }) }
  const { input, cacheRead, cacheWrite, output } = message.usage
  return { ...noUsage, cacheRead: (input + cacheRead + cacheWrite) / brakes, output: output / brakes }
}
