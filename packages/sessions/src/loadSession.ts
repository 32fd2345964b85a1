import type { ConversationView } from '../../../src/conversation/tree/conversationView.ts'
import { rebuildConversation } from '../../../src/conversation/tree/rebuildConversation.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { readHistory, type History } from '../../../src/log/readHistory.ts'
import type { Session } from './session.ts'
import { outlineOf } from '../../../src/log/outline.ts'
import { sessionOf } from './sessionProjection.ts'

/** A session with the records that it is made of. */
export interface LoadedSession extends Session, Pick<History, 'past' | 'records'> {
  /** Conversation at the log's last record; for a fork with the past it shares. */
  readonly conversation: ConversationView
}

/**
 * Reads a session whole. Needs no lease: it may be running, here or elsewhere.
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
