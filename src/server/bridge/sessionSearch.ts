import { defaultSearchLimit, type SearchHit } from '../../protocol/logSearch.ts'
import type { SessionEntry } from '../../protocol/frames.ts'
import type { Store } from '../../protocol/store.ts'
import { searchSessions } from '../../sessions/searchSessions.ts'
import type { AgentAccess } from './agentAccess.ts'
import { sessionEntry } from './listPages.ts'
import type { WantedSessions } from './sessionIndex.ts'

/** How many records are looked through for those that a function of the application chooses. */
const mostHits = 1_000

/** The searches of the clients of one server, one at a time: a store without an index reads its logs for each. */
export class SessionSearch {
  readonly #store: Store
  #last: Promise<unknown> = Promise.resolve()

  constructor(store: Store) {
    this.#store = store
  }

  /** Rejects as `searchSessions` does. */
  hits(text: string, { query, choose }: Omit<WantedSessions, 'running'>, limit: number): Promise<readonly SearchHit[]> {
    const found = this.#last.then(() =>
      searchSessions(this.#store, { ...query, text, limit: choose === undefined ? limit : mostHits }),
    )
    this.#last = found.catch(() => {})
    return found
  }
}

/** What a client is told: records, and the sessions that they are of. */
interface Found {
  readonly hits: readonly SearchHit[]
  readonly sessions: readonly SessionEntry[]
}

/** Where something was said, in what a client may see. */
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
