import { RuntimeError } from '../../../../src/protocol/errors.ts'

/** Maximum number of results kept per session, the newest ones. Commands that leave no record can be repeated that far back. */
const maxResults = 1_000
/** Limits per token for sessions without a client: their number, and their results together. The longest idle goes first. */
const maxIdleSessions = 10_000
const maxIdleResults = 100_000

/** Limits of the cache, and a listener for discarded sessions. */
export interface CacheLimits {
  readonly results: number
  readonly idleSessions: number
  readonly idleResults: number
  /** Called when a session can no longer be continued. */
  forgotten(sessionId: string): void
}

const defaults: CacheLimits = {
  results: maxResults,
  idleSessions: maxIdleSessions,
  idleResults: maxIdleResults,
  forgotten: () => {},
}

/** Results of one session's commands since the server started. */
export class SessionResults {
  readonly owner: string
  /** True if the session ends with its last connection. */
  readonly isPassing: boolean
  readonly #max: number
  readonly #results = new Map<string, Promise<unknown>>()
  /** Number of sockets connected under the session. An old one may still be open when the next one connects. */
  sockets = 0
  /** Time at which the last socket closed, in epoch milliseconds. */
  leftAt = 0

  constructor(owner: string, max: number, isPassing = false) {
    this.owner = owner
    this.isPassing = isPassing
    this.#max = max
  }

  get size(): number {
    return this.#results.size
  }

  /** Runs a command once: the same id gets the same result. A command that was refused did nothing and may be retried. */
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
 * Keeps the results of each session's commands while a client is connected and for some time after, so that a repeated command is
 * answered but not executed again. Later, commands that left a record are found in the agents' logs. Each token has its own limits.
 */
export class ResultCache {
  readonly #keptMs: number
  readonly #limits: CacheLimits
  readonly #sessions = new Map<string, SessionResults>()
  /** Sessions without a client, by token, the longest idle first. */
  readonly #idle = new Map<string, Map<string, SessionResults>>()

  /** Takes `keptMs`, the time for which a session without a client is kept, in milliseconds. */
  constructor(keptMs: number, limits: Partial<CacheLimits> = {}) {
    this.#keptMs = keptMs
    this.#limits = { ...defaults, ...limits }
  }

  /** Number of sessions kept. */
  get size(): number {
    return this.#sessions.size
  }

  /** Checks that a session belongs to an owner. @throws RuntimeError `BRIDGE_SESSION` for a session of another owner */
  checkOwner(sessionId: string, owner: string): void {
    const session = this.#sessions.get(sessionId)
    if (session !== undefined && session.owner !== owner)
      throw new RuntimeError('BRIDGE_SESSION', `The session "${sessionId}" is somebody else's.`)
  }

  /** Starts or continues a client's session. `owner` is the token whose limits apply. `isPassing`: the session ends with its last connection. */
  enter(sessionId: string, owner: string, isPassing = false): SessionResults {
    const session = this.#sessions.get(sessionId) ?? new SessionResults(owner, this.#limits.results, isPassing)
    this.#sessions.set(sessionId, session)
    this.#idle.get(session.owner)?.delete(sessionId)
    session.sockets += 1
    return session
  }

  /** Notes that one of a session's sockets has closed. */
  leave(sessionId: string, now: number): void {
    const session = this.#sessions.get(sessionId)
    if (session === undefined) return
    session.sockets -= 1
    if (session.sockets > 0) return
    if (session.isPassing) {
      this.#sessions.delete(sessionId)
      return this.#limits.forgotten(sessionId)
    }
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

  /** Drops sessions that have been idle long enough. */
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
    this.#limits.forgotten(sessionId)
  }
}
