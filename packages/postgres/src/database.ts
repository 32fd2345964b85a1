import type { Clock } from '../../../src/protocol/ports/clock.ts'
import { type ErrorCode, RuntimeError } from '../../../src/protocol/errors.ts'
import type { Logger } from '../../../src/protocol/ports/logger.ts'
import { failureWords, isPassing, sqlState, isOutage } from './failures.ts'
import { makePool, types, type OwnPool, type PostgresPool, type PostgresQueries } from './pool.ts'
import { nameOf, withoutPassword, type PostgresPlace } from './address.ts'

/** Tells an operator when a database cannot be reached, and when it answers again: once each. */
class Outage {
  readonly #logger: Logger | undefined
  readonly #name: string
  readonly #words: (thrown: unknown) => string
  #isOut = false

  /** `words`: what went wrong, without a password. */
  constructor(logger: Logger | undefined, name: string, words: (thrown: unknown) => string) {
    this.#logger = logger
    this.#name = name
    this.#words = words
  }

  /** Notes that the database could not be asked. */
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

  /** Tells the logger; its errors are ignored. */
  #tell(fields: object, message: string): void {
    try {
      this.#logger?.warn(fields, message)
    } catch {
      // The runtime warns about its logger itself.
    }
  }
}

/** Lets a limited number of pieces of work run at a time; urgent ones go first, the others in the order in which they came. */
class Turns {
  #free: number
  readonly #urgent: (() => void)[] = []
  readonly #others: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Resolves with the function that ends the turn, once there is one. */
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
  /** How long an answer is waited for, in milliseconds. */
  readonly queryTimeoutMs: number
  /** How long something is tried again that may work later, in milliseconds. */
  readonly retryMs: number
  readonly clock: Clock
  readonly logger: Logger | undefined
}

/** The pause before the first repetition and the longest one, in milliseconds. */
const pauses = { first: 50, longest: 1_000 } as const
/** How long an unused connection is kept, in milliseconds; and by a store that is closed. */
const idle = { open: 30_000, closed: 10 } as const

/** A database reached over a network that may fail: statements have a time limit and are repeated where that may help. */
export class Database {
  /** Name of the database in messages. */
  readonly name: string
  /** In quotes, for statements. */
  readonly schema: string
  /** Turns of the statements at work; one connection is left for those that must not wait. */
  readonly turns: Turns
  readonly #place: PostgresPlace
  readonly #options: DatabaseOptions
  readonly #blanked: (text: string) => string
  readonly #outage: Outage
  #pool: Promise<PostgresPool> | undefined
  /** True once it has answered: until then an error is rather one of the address. */
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

  /** Runs one statement, in its turn, and again while that may help. It must do no harm when it is done twice. */
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

  /** Runs one statement once and at once. */
  async once(text: string, values: readonly unknown[] = [], timeoutMs?: number): Promise<readonly Row[]> {
    return await this.#run(await this.#open(), text, values, timeoutMs)
  }

  /** Does `work` as one transaction, in its turn, and again while that may help. */
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

  /** Asks the database. Until it has answered for the first time, only the caller is told of an error. */
  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (thrown) {
      if (this.#hasAnswered) this.#outage.failed(thrown)
      throw thrown
    }
  }

  /** Does `work` again, for as long as the options say, while it fails with errors that pass. Rejects as it did last. */
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

  /** Ends the pool that it has made; a pool that was given stays open. Statements after that open another one, for a moment. */
  async close(): Promise<void> {
    this.#isClosed = true
    const opened = this.#pool
    this.#pool = undefined
    const pool = await opened?.catch(() => undefined)
    if (pool === undefined) return
    if (typeof this.#place === 'string') await (pool as OwnPool).end()
    else pool.off('error', ignore)
  }

  /** The error of a piece of work that failed, without a password; coded ones stay as they are. */
  failure(code: ErrorCode, what: string, thrown: unknown): RuntimeError {
    if (thrown instanceof RuntimeError) return thrown
    const words = this.#blanked(failureWords(thrown)).replace(/[.]?$/, '.')
    // What a driver throws may hold its connection, with all its options.
    const cause = Object.assign(new Error(words), { code: (thrown as { code?: unknown }).code })
    return new RuntimeError(code, `${this.name}: it could not be ${what}: ${words}`, { cause })
  }
}

function ignore(): void {}
