import type { Clock } from '../../../src/protocol/ports/clock.ts'
import { type ErrorCode, RuntimeError } from '../../../src/protocol/errors.ts'
import type { Logger } from '../../../src/protocol/ports/logger.ts'
import { failureWords, isPassing, sqlState, isOutage } from './failures.ts'
import { makePool, types, type OwnPool, type PostgresPool, type PostgresQueries } from './pool.ts'
import { nameOf, withoutPassword, type PostgresPlace } from './address.ts'

/** Logs once when a database becomes unreachable, and once when it answers again. */
class Outage {
  readonly #logger: Logger | undefined
  readonly #name: string
  readonly #words: (thrown: unknown) => string
  #isOut = false

  /** `words` describes an error, without a password. */
  constructor(logger: Logger | undefined, name: string, words: (thrown: unknown) => string) {
    this.#logger = logger
    this.#name = name
    this.#words = words
  }

  /** Notes that a request to the database failed. */
  failed(thrown: unknown): void {
    if (this.#isOut || !isOutage(thrown)) return
    this.#isOut = true
    this.#tell({ error: this.#words(thrown) }, `${this.#name} cannot be reached; it is tried again.`)
  }

  /** Notes that the database has answered. */
  ended(): void {
    if (!this.#isOut) return
    this.#isOut = false
    this.#tell({}, `${this.#name} answers again.`)
  }

  /** Writes a line to the logger, whose errors are ignored. */
  #tell(fields: object, message: string): void {
    try {
      this.#logger?.warn(fields, message)
    } catch {
      // The runtime warns about its logger itself.
    }
  }
}

/** Limits the number of simultaneous operations. Urgent ones go first, the others in order of arrival. */
class Turns {
  #free: number
  readonly #urgent: (() => void)[] = []
  readonly #others: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Resolves, once there is a turn, with the function that ends it. */
  async take(isUrgent = false): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => (isUrgent ? this.#urgent : this.#others).push(resolve))
    return () => this.#next()
  }

  #next(): void {
    const next = this.#urgent.shift() ?? this.#others.shift()
    if (next === undefined) this.#free += 1
    else next()
  }
}

export type Row = { readonly [column: string]: unknown }

/** Runs a statement on one connection. */
export type Run = (text: string, values?: readonly unknown[], timeoutMs?: number) => Promise<readonly Row[]>

export interface DatabaseOptions {
  readonly schema: string
  readonly connections: number
  /** Time limit of an answer, in milliseconds. */
  readonly queryTimeoutMs: number
  /** Time for which operations that may succeed later are retried, in milliseconds. */
  readonly retryMs: number
  readonly clock: Clock
  readonly logger: Logger | undefined
}

/** The first and the longest pause between retries, in milliseconds. */
const pauses = { first: 50, longest: 1_000 } as const
/** Time for which an unused connection is kept, in milliseconds: by an open store and by a closed one. */
const idle = { open: 30_000, closed: 10 } as const

/** A database on a network that may fail. Statements have a time limit and are retried where that may help. */
export class Database {
  /** Name of the database in messages. */
  readonly name: string
  /** Quoted name of the schema, for statements. */
  readonly schema: string
  /** Turns of normal statements. One connection is left for urgent ones. */
  readonly turns: Turns
  readonly #place: PostgresPlace
  readonly #options: DatabaseOptions
  readonly #blanked: (text: string) => string
  readonly #outage: Outage
  #pool: Promise<PostgresPool> | undefined
  /** True once the database has answered. Before that, an error is more likely caused by the address. */
  #hasAnswered = false
  #isClosed = false

  constructor(place: PostgresPlace, options: DatabaseOptions) {
    this.#place = place
    this.#options = options
    this.name = nameOf(place, options.schema)
    this.schema = `"${options.schema}"`
    this.turns = new Turns(Math.max(1, options.connections - 1))
    const blanked = withoutPassword(place)
    this.#blanked = blanked
    this.#outage = new Outage(options.logger, this.name, (thrown) => blanked(failureWords(thrown)))
  }

  /** Runs one statement in its turn, and retries it where that may help. It must be safe to run twice. */
  query(text: string, values: readonly unknown[] = [], timeoutMs?: number): Promise<readonly Row[]> {
    return this.patiently(async () => {
      const end = await this.turns.take()
      try {
        return await this.once(text, values, timeoutMs)
      } finally {
        end()
      }
    })
  }

  /** Runs one statement immediately, without retries. */
  async once(text: string, values: readonly unknown[] = [], timeoutMs?: number): Promise<readonly Row[]> {
    return await this.#run(await this.#open(), text, values, timeoutMs)
  }

  /** Runs `work` as one transaction in its turn, and retries it where that may help. */
  transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    return this.patiently(async () => {
      const end = await this.turns.take()
      try {
        return await this.#transaction(work)
      } finally {
        end()
      }
    })
  }

  async #transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const client = await this.#asked(async () => (await this.#open()).connect())
    const run: Run = (text, values, timeoutMs) => this.#run(client, text, values, timeoutMs)
    // A connection that breaks says so, and a statement that it has under way too.
    client.on('error', ignore)
    let isBroken = false
    try {
      await run('BEGIN')
      const result = await work(run)
      await run('COMMIT')
      return result
    } catch (thrown) {
      await run('ROLLBACK').catch(() => (isBroken = true))
      throw thrown
    } finally {
      client.off('error', ignore)
      client.release(isBroken)
    }
  }

  async #run(
    queries: PostgresQueries,
    text: string,
    values: readonly unknown[] = [],
    timeoutMs = this.#options.queryTimeoutMs,
  ): Promise<readonly Row[]> {
    // Without a name, so that it may go to any connection that a pooler has.
    const query = { text, values: [...values], types, query_timeout: timeoutMs }
    const { rows } = await this.#asked(() => queries.query(query))
    this.#hasAnswered = true
    this.#outage.ended()
    return rows as readonly Row[]
  }

  /** Sends a request to the database. Until its first answer, errors go only to the caller. */
  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (thrown) {
      if (this.#hasAnswered) this.#outage.failed(thrown)
      throw thrown
    }
  }

  /** Retries `work` for up to `retryMs` while it fails with transient errors. Rejects with the last error. */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    const { clock, retryMs } = this.#options
    const since = clock.now()
    for (let pause: number = pauses.first; ; pause = Math.min(2 * pause, pauses.longest)) {
      try {
        return await work()
      } catch (thrown) {
        this.#hasAnswered ||= sqlState(thrown) !== undefined
        if (!this.#hasAnswered || !isPassing(thrown) || clock.now() - since >= retryMs) throw thrown
        await new Promise<void>((resolve) => clock.after(pause, resolve))
      }
    }
  }

  #open(): Promise<PostgresPool> {
    this.#pool ??= this.#connect()
    this.#pool.catch(() => (this.#pool = undefined))
    return this.#pool
  }

  async #connect(): Promise<PostgresPool> {
    const { connections, queryTimeoutMs } = this.#options
    const idleMs = this.#isClosed ? idle.closed : idle.open
    if (typeof this.#place !== 'string') {
      // A store that is closed leaves nothing there.
      if (!this.#isClosed) this.#place.on('error', ignore)
      return this.#place
    }
    const pool = await makePool({ url: this.#place, connections, queryTimeoutMs, idleMs })
    // A connection that breaks while nobody uses it would end the process otherwise.
    pool.on('error', ignore)
    return pool
  }

  /** Closes the store's own pool. The application's pool stays open. Later statements open another pool briefly. */
  async close(): Promise<void> {
    this.#isClosed = true
    const opened = this.#pool
    this.#pool = undefined
    const pool = await opened?.catch(() => undefined)
    if (pool === undefined) return
    if (typeof this.#place === 'string') await (pool as OwnPool).end()
    else pool.off('error', ignore)
  }

  /** Returns the error for a failed operation, without a password. A `RuntimeError` is returned unchanged. */
  failure(code: ErrorCode, what: string, thrown: unknown): RuntimeError {
    if (thrown instanceof RuntimeError) return thrown
    const words = this.#blanked(failureWords(thrown)).replace(/[.]?$/, '.')
    // What a driver throws may hold its connection, with all its options.
    const cause = Object.assign(new Error(words), { code: (thrown as { code?: unknown }).code })
    return new RuntimeError(code, `${this.name}: it could not be ${what}: ${words}`, { cause })
  }
}

function ignore(): void {}
