/** The door "escapement/sessions": the sessions of a store, read from their logs, forked, searched, moved and deleted, without a runtime. */

// Sessions of a store
export { listSessions, summaryOf, type SessionSummary } from '../packages/sessions/src/listSessions.ts'
export { loadSession, type LoadedSession } from '../packages/sessions/src/loadSession.ts'
export { searchSessions } from '../packages/sessions/src/searchSessions.ts'
export { spendOf, type StoreSpend } from '../packages/sessions/src/spend/spendOf.ts'
export type { Spend } from '../packages/wire/src/spend.ts'
export { forkSession } from '../packages/sessions/src/forkSession.ts'
export { copySessions, type CopiedSessions } from '../packages/sessions/src/copySessions.ts'
export { deleteSession } from '../packages/sessions/src/deleteSession.ts'
export { exportSession } from '../packages/sessions/src/exportSession.ts'
export { importSession } from '../packages/sessions/src/importSession.ts'

// A session, as its records tell it
export { sessionOf, SessionProjection } from '../packages/sessions/src/sessionProjection.ts'
export type { Session, SessionCall, SessionRun, Turn } from '../packages/sessions/src/session.ts'
export { readHistory, type History } from './log/readHistory.ts'
export { LoggedRequests, requestsOf, type RequestOutcome } from '../packages/sessions/src/loggedRequests.ts'

// Conversations and requests, as they were
export type { Conversation } from './conversation/tree/conversation.ts'
export { rebuildConversation } from './conversation/tree/rebuildConversation.ts'
export { capturedRequests, type CapturedRequest } from './conversation/request/captureRequest.ts'
export { renderTrunk, type RenderedTrunk } from '../packages/sessions/src/renderTrunk.ts'
export { checkRequest, type Violation } from './conversation/request/checkRequest.ts'
