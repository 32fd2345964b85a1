import { loadSession, type LoadedSession } from '../../../sessions/src/loadSession.ts'
import { checkSession, type SessionLogs } from './sessionLogs.ts'

/** Reads a whole session. @throws RuntimeError as `checkSession` and `loadSession`. */
export async function readSession(logs: SessionLogs, id: string): Promise<LoadedSession> {
  await checkSession(logs, id)
  return loadSession(logs.store, id)
}
