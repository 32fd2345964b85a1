import type { Tag } from '../../protocol/braking.ts'
import type { Message } from '../../protocol/messages.ts'
import type { ConversationNode } from '../../conversation/tree/node.ts'

/** Fields that few nodes have. */
type Rest = Pick<
  ConversationNode,
  'rebasedFrom' | 'copiedFrom' | 'isIrreversible' | 'reversible' | 'isPolling' | 'ranWith'
>

/**
 * The two most frequent kinds of messages, without fields that are always the same: a prompt of one text, and the
 * result of a call that succeeded with one text.
 */
type ShortMessage = string | readonly [callId: string, toolName: string, text: string]

/** A node as JSON without the names of fields that every node has, which take longer to read than the messages. Its tags are kept elsewhere. */
export type NodeRow = readonly [
  id: ConversationNode['id'],
  parentId: ConversationNode['parentId'],
  runId: string,
  turnIndex: number,
  stepId: ConversationNode['stepId'],
  tokens: number,
  pathTokens: number,
  depth: number,
  message: Message | ShortMessage,
  rest?: Rest,
]

/** Returns the row of a node; shares its objects. */
export function rowOf(node: ConversationNode): NodeRow {
  const { id, parentId, message, runId, turnIndex, stepId, tokens, pathTokens, depth, tags: _, ...rest } = node
  const row = [id, parentId, runId, turnIndex, stepId, tokens, pathTokens, depth, shortened(message)] as const
  return Object.values(rest).some((value) => value !== undefined) ? [...row, rest] : row
}

/** Returns the node of a row, with its tags. */
export function nodeOf(row: NodeRow, tags: readonly Tag[]): ConversationNode {
  const [id, parentId, runId, turnIndex, stepId, tokens, pathTokens, depth, said, rest] = row
  const message = lengthened(said)
  const node = { id, parentId, message, runId, turnIndex, stepId, tokens, pathTokens, depth, tags }
  return rest === undefined ? node : { ...node, ...rest }
}

/** Returns true if an object has just these fields, in this order, in which requests show them. */
const hasJust = (value: object, fields: string): boolean => Object.keys(value).join() === fields

/** Returns a message in short form. A message that `lengthened` would not restore exactly stays as it is. */
function shortened(message: Message): Message | ShortMessage {
  const [block] = message.content
  if (message.role === 'assistant' || block?.type !== 'text' || message.content.length > 1) return message
  if (!hasJust(block, 'type,text')) return message
  if (message.role === 'user')
    return message.source === 'prompt' && hasJust(message, 'role,content,source') ? block.text : message
  const { callId, toolName, isError } = message
  return !isError && hasJust(message, 'role,callId,toolName,content,isError') ? [callId, toolName, block.text] : message
}

function lengthened(said: NodeRow[8]): Message {
  if (typeof said === 'string') return { role: 'user', content: [{ type: 'text', text: said }], source: 'prompt' }
  if (!isShort(said)) return said
  const [callId, toolName, text] = said
  return { role: 'toolResult', callId, toolName, content: [{ type: 'text', text }], isError: false }
}

const isShort = (said: Message | ShortMessage): said is ShortMessage => Array.isArray(said)
