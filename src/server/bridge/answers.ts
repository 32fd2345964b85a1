/** Answers kept of a session, the newest ones: so many commands may be sent again that leave nothing in a log. */
const mostAnswers = 1_000
/** Of those whose clients have left, for each token: sessions, and the answers of all of them. The one left longest ago goes first. */
const mostLeft = 10_000
const mostLeftAnswers = 100_000

/** How much is remembered. */
export interface AnswerRoom {
  readonly answers: number
  readonly left: number
  readonly leftAnswers: number
}

/** What one session had carried out since the server was started. */
export class SessionAnswers {
  readonly owner: string
  readonly #most: number
  readonly #known = new Map<string, Promise<unknown>>()
  /** Sockets that are connected under it: an old one may be there still when the next one comes. */
  sockets = 0
  /** When the last of them left. */
  leftAt = 0

  constructor(owner: string, most: number) {
    this.owner = owner
    this.#most = most
  }

  get size(): number {
    return this.#known.size
  }

  /** Carries a command out once: the same id gets the same answer. One that was refused did nothing, and may be tried again. */
  once(id: string, run: () => unknown): Promise<unknown> {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const answer = Promise.resolve().then(run)
    this.#known.set(id, answer)
    answer.catch(() => this.#known.delete(id))
    if (this.#known.size > this.#most) this.#known.delete(this.#known.keys().next().value!)
    return answer
  }
}

/**
 * Remembers what sessions had carried out, for as long as they may come back: while somebody is connected, and for some time after.
 * What left a record is found in the agents' logs beyond that. Each token has a room of its own, which no other can fill.
 */
export class Answers {
  readonly #keptMs: number
  readonly #room: AnswerRoom
  readonly #sessions = new Map<string, SessionAnswers>()
  /** Sessions that nobody is connected to, by token, the one left longest ago first. */
  readonly #left = new Map<string, Map<string, SessionAnswers>>()

  /** `keptMs`: how long a session that was left is remembered. */
  constructor(
    keptMs: number,
    room: AnswerRoom = { answers: mostAnswers, left: mostLeft, leftAnswers: mostLeftAnswers },
  ) {
    this.#keptMs = keptMs
    this.#room = room
  }

  /** Sessions that are remembered. */
  get size(): number {
    return this.#sessions.size
  }

  /** A client goes on with a session, or begins it; `owner` is whose room it takes. */
  enter(sessionId: string, owner: string): SessionAnswers {
    const session = this.#sessions.get(sessionId) ?? new SessionAnswers(owner, this.#room.answers)
    this.#sessions.set(sessionId, session)
    this.#left.get(session.owner)?.delete(sessionId)
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
    const left = this.#left.get(session.owner) ?? new Map<string, SessionAnswers>()
    this.#left.set(session.owner, left)
    left.set(sessionId, session)
    let answers = 0
    for (const { size } of left.values()) answers += size
    for (const [id, { size }] of left) {
      if (left.size <= this.#room.left && answers <= this.#room.leftAnswers) break
      answers -= size
      this.#forget(id, left)
    }
  }

  /** Forgets sessions that were left long enough ago. */
  expire(now: number): void {
    for (const [owner, left] of this.#left) {
      for (const [id, { leftAt }] of left) {
        if (leftAt + this.#keptMs > now) break
        this.#forget(id, left)
      }
      if (left.size === 0) this.#left.delete(owner)
    }
  }

  #forget(sessionId: string, left: Map<string, SessionAnswers>): void {
    left.delete(sessionId)
    this.#sessions.delete(sessionId)
  }
}
