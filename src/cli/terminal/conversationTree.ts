import type { ConversationView } from '../../conversation/conversation.ts'
import type { LogRecord } from '../../protocol/records.ts'
import { conversationModel } from '../../charts/conversationModel.ts'
import { conversationText } from '../../charts/conversationText.ts'
import type { Colours } from './colours.ts'

/**
 * A conversation as a tree, oldest step first, like `git log --graph`: the trunk at the left, abandoned branches dimmed and
 * beside the step they left from, notes below their step. No line takes more than `columns`. The records of its log, where they
 * are at hand, tell of sub-agents and of compactions no longer in force.
 */
export const conversationTree = (
  conversation: Pick<ConversationView, 'trunk' | 'abandoned'>,
  paint: Colours,
  columns = Infinity,
  records: Iterable<LogRecord> = [],
): string[] => conversationText(conversationModel({ conversation, records }), { paint, columns })
