import { withheldText } from '../../protocol/text/withheldText.ts'
import type { RecordOf } from '../../protocol/records.ts'
import type { ConversationTree } from './conversationTree.ts'
import { check } from '../../log/fold.ts'
import type { TokenCounter } from '../limits/tokenCounter.ts'

/**
 * Replaces messages that a guard refused by a line, for people and for the model. Only the log has their content. Returns the depth of the first.
 * @throws RuntimeError `LOG_CORRUPT`
 */
export function withhold(record: RecordOf<'guard.decided'>, tree: ConversationTree, counter: TokenCounter): number {
  const { withheld = [] } = record
  const isSaid = withheld.every((id) => tree.node(id)?.message.role === 'user')
  check(record, isSaid ? undefined : 'it withholds what is no message of the user')
  const content = [{ type: 'text', text: withheldText(record) }] as const
  return tree.change(withheld, counter, ({ message, ...node }) =>
    message.role === 'user' ? { ...node, message: { ...message, content } } : { ...node, message },
  )
}
