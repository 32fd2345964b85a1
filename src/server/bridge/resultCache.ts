/** Results kept of a session, the newest ones: so many commands may be sent again that leave nothing in a log. */
const maxResults = 1_000
/** Of those whose clients have left, for each token: sessions, and the results of all of them. The one left longest ago goes first. */
const maxIdleSessions = 10_000
const maxIdleResults = 100_000

/** How much is remembered. */
export interface CacheLimits {
  readonly results: number
  readonly idleSessions: number
  readonly idleResults: number
}

/** What one session had carried out since the server was started. */
export class SessionResults {
  readonly owner: string
  readonly #max: number
  readonly #results = new Map<string, Promise<unknown>>()
  /** Sockets that are connected under it: an old one may be there still when the next one comes. */
  sockets = 0
  /** When the last of them left. */
  leftAt = 0

  constructor(owner: string, max: number) {
    this.owner = owner
    this.#max = max
  }

  get size(): number {
    return this.#results.size
  }

  /** Carries a command out once: the same id gets the same result. One that was refused did nothing, and may be tried again. */
  once(id: string, run: () => unknown): Promise<unknown> {
    const known = this.#results.get(id)
    if (known !== undefined) return known
    const result = Promise.resolve().then(run)
    this.#results.set(id, result)
    result.catch(() => this.#results.delete(id))
    if (this.#results.size > this.#max) this.#results.delete(this.#results.keys().next().value!)
    return result
  }
}

/**
 * Remembers what sessions had carried out, for as long as they may come back: while somebody is connected, and for some time after.
 * What left a record is found in the agents' logs beyond that. Each token has a room of its own, which no other can fill.
 */
export class ResultCache {
  readonly #keptMs: number
  readonly #limits: CacheLimits
  readonly #sessions = new Map<string, SessionResults>()
  /** Sessions that nobody is connected to, by token, the one left longest ago first. */
  readonly #idle = new Map<string, Map<string, SessionResults>>()

  /** `keptMs`: how long a session that was left is remembered. */
  constructor(
    keptMs: number,
    limits: CacheLimits = { results: maxResults, idleSessions: maxIdleSessions, idleResults: maxIdleResults },
  ) {
    this.#keptMs = keptMs
    this.#limits = limits
  }

  /** Sessions that are remembered. */
  get size(): number {
    return this.#sessions.size
  }

  /** A client goes on with a session, or begins it; `owner` is whose room it takes. */
  enter(sessionId: string, owner: string): SessionResults {
    const session = this.#sessions.get(sessionId) ?? new SessionResults(owner, this.#limits.results)
    this.#sessions.set(sessionId, session)
    this.#idle.get(session.owner)?.delete(sessionId)
    session.sockets += 1
    return session
  }

  /** A client has left. */
  leave(sessionId: string, now: number): void {
    const session = this.#sessions.get(sessionId)
    if (session === undefined) return
    session.sockets -= 1
    if (session.sockets > 0) return
    session.leftAt = now
    const idle = this.#idle.get(session.owner) ?? new Map<string, SessionResults>()
    this.#idle.set(session.owner, idle)
    idle.set(sessionId, session)
    let results = 0
    for (const { size } of idle.values()) results += size
    for (const [id, { size }] of idle) {
      if (idle.size <= this.#limits.idleSessions && results <= this.#limits.idleResults) break
      results -= size
      this.#forget(id, idle)
    }
  }

  /** Forgets sessions that were left long enough ago. */
  expire(now: number): void {
    for (const [owner, idle] of this.#idle) {
      for (const [id, { leftAt }] of idle) {
        if (leftAt + this.#keptMs > now) break
        this.#forget(id, idle)
      }
      if (idle.size === 0) this.#idle.delete(owner)
    }
  }

  #forget(sessionId: string, idle: Map<string, SessionResults>): void {
    idle.delete(sessionId)
    this.#sessions.delete(sessionId)
  }
}
