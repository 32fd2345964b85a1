import { RuntimeError } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'
import { Conversation } from './conversation.ts'
import type { TokenCounter } from '../limits/tokenCounter.ts'

const none: readonly never[] = Object.freeze([])

/**
 * Folds a log into its conversation: tree, head, compactions and queues. For a fork, `past` is the past that it shares with its source, from
 * `readHistory`. Pure and deterministic.
 * @throws RuntimeError `LOG_CORRUPT` at the first record that does not follow from earlier ones
 */
export function rebuildConversation(
  records: Iterable<LogRecord>,
  options: { readonly counter?: TokenCounter; readonly past?: Iterable<LogRecord> } = {},
): Conversation {
  const conversation = new Conversation(options.counter)
  for (const part of [options.past ?? none, records]) {
    for (const record of part) {
      if (record.type === 'agent.created' && record.forkedFrom !== undefined) beginFork(conversation, record.forkedFrom)
      conversation.apply(record)
    }
  }
  return conversation
}

function beginFork(conversation: Conversation, { agentId, seq }: { agentId: string; seq: number }): void {
  const { lastSeq } = conversation
  if (lastSeq === seq) return conversation.beginLog()
  const what = `This is the log of a fork, which goes on after record ${seq} of agent "${agentId}"`
  throw new RuntimeError('LOG_CORRUPT', `${what}, but what comes before it ends with record ${lastSeq}.`)
}
