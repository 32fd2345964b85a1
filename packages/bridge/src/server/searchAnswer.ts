import type { SessionEntry } from '../../../wire/src/frames.ts'
import { defaultSearchLimit, type SearchHit } from '../../../../src/protocol/ports/logSearch.ts'
import type { AgentAccess } from './agentAccess.ts'
import { sessionEntry } from './listPages.ts'

/** Answer to a search: records, and the sessions that have them. */
interface Found {
  readonly hits: readonly SearchHit[]
  readonly sessions: readonly SessionEntry[]
}

/** Finds records that match a text, among those that a client may see. */
export async function searchFor(
  access: AgentAccess,
  text: string,
  { limit = defaultSearchLimit, ...among }: Parameters<AgentAccess['hits']>[2] & { readonly limit?: number },
): Promise<Found> {
  const hits: SearchHit[] = []
  const sessions = new Map<string, SessionEntry | undefined>()
  for (const hit of await access.hits(text, limit, among)) {
    const { agentId } = hit
    if (!sessions.has(agentId)) {
      // Nothing of what is out of reach.
      const session = await access.session(agentId)
      sessions.set(agentId, session === undefined ? undefined : sessionEntry(session, await access.sourceOf(session)))
    }
    if (sessions.get(agentId) !== undefined) hits.push(hit)
    if (hits.length === limit) break
  }
  return { hits, sessions: [...sessions.values()].filter((session) => session !== undefined) }
}
