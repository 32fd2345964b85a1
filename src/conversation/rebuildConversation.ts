import type { LogRecord } from '../protocol/records.ts'
import { Conversation } from './conversation.ts'
import type { TokenCounter } from './tokenCounter.ts'

/**
 * Folds a log into its conversation: tree, head, compactions and queues. Pure; the same log gives the same conversation.
 *
 * @throws RuntimeError `LOG_CORRUPT` at the first record that does not follow from the ones before it.
 */
export function rebuildConversation(
  records: Iterable<LogRecord>,
  options: { counter?: TokenCounter } = {},
): Conversation {
  const conversation = new Conversation(options.counter)
  for (const record of records) conversation.apply(record)
  return conversation
}
