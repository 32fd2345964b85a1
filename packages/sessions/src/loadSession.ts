import type { ConversationView } from '../../../src/conversation/tree/conversationView.ts'
import { rebuildConversation } from '../../../src/conversation/tree/rebuildConversation.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { readHistory, type History } from '../../../src/log/readHistory.ts'
import type { Session } from './session.ts'
import { outlineOf } from '../../../src/log/outline.ts'
import { sessionOf } from './sessionProjection.ts'

/** A session with its records. */
export interface LoadedSession extends Session, Pick<History, 'past' | 'records'> {
  /** Conversation after the log's last record. For a fork it includes the shared past. */
  readonly conversation: ConversationView
}

/**
 * Reads a whole session. Needs no lease, so the agent may be running, here or elsewhere.
 *
 * @throws RuntimeError `INVALID_ID`, `AGENT_NOT_FOUND`, `LOG_CORRUPT`, `LOG_VERSION`, `STORE_READ_FAILED`
 */
export async function loadSession(store: Store, agentId: string): Promise<LoadedSession> {
  const { past, records } = await readHistory(store, agentId)
  const { title } = outlineOf(records, past)
  const conversation = rebuildConversation(records, { past })
  const session = { ...sessionOf(records), ...(title === undefined ? {} : { title }) }
  return { ...session, id: agentId, conversation, past, records }
}
