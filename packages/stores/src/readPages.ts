import type { LogEntry, LogOrigin, LogPage, LogQuery } from '../../../src/protocol/ports/logPages.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { LogStat } from '../../../src/protocol/ports/store.ts'
import { asksForOrigins, fitting, originIn, pageAmong } from './rules/logPages.ts'

/** A log and its state; the state is `undefined` if the log has to be read for it. */
export interface ListedLog {
  readonly id: string
  readonly stat: LogStat | undefined
}

/** The logs from which pages are made. */
export interface ReadableLogs {
  /** Returns every log, or the existing logs with these ids. Rejects if the store cannot list them. */
  listed(ids?: readonly string[]): Promise<readonly ListedLog[]>
  read(agentId: string, fromSeq?: number, limit?: number): AsyncIterable<LogRecord>
}

interface Known {
  readonly origin: LogOrigin | undefined
  readonly size: number
}

/**
 * Creates pages for a store that can only list and read logs. First records are read if a query needs them, otherwise only those of the page.
 * They are read again only if a log was replaced. One log is read at a time for all callers.
 */
export class ReadPages {
  readonly #logs: ReadableLogs
  readonly #known = new Map<string, Known>()
  #last: Promise<unknown> = Promise.resolve()
  /** A listing of the store that has not started yet. Requests until then share it. */
  #looking: Promise<readonly ListedLog[]> | undefined

  constructor(logs: ReadableLogs) {
    this.#logs = logs
  }

  /** Returns a page. Rejects if the store cannot list its logs. A log that cannot be read is in the page without its origin. */
  async page(query: LogQuery = {}): Promise<LogPage> {
    const within: LogEntry[] = []
    const needsOrigins = asksForOrigins(query)
    const isWanted = fitting(query)
    for (const listed of await this.#listed(query)) {
      const origin = needsOrigins ? await this.#inTurn(() => this.#originOf(listed)) : undefined
      if (needsOrigins && !isWanted({ id: listed.id, origin })) continue
      const stat = listed.stat ?? (await this.#inTurn(() => this.#statOf(listed.id)))
      if (stat !== undefined) within.push({ id: listed.id, ...stat, origin })
    }
    const page = pageAmong(within, query)
    if (needsOrigins) return page
    const logs: LogEntry[] = []
    for (const { id, size, writtenAt } of page.logs) {
      const origin = await this.#inTurn(() => this.#originOf({ id, stat: { size, writtenAt } }))
      logs.push({ id, size, writtenAt, origin })
    }
    return { ...page, logs }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  #listed({ ids }: LogQuery): Promise<readonly ListedLog[]> {
    if (ids !== undefined) return this.#inTurn(() => this.#logs.listed(ids))
    this.#looking ??= this.#inTurn(() => {
      this.#looking = undefined
      return this.#look()
    })
    return this.#looking
  }

  async #look(): Promise<readonly ListedLog[]> {
    const listed = await this.#logs.listed()
    const there = new Set(listed.map(({ id }) => id))
    for (const id of this.#known.keys()) if (!there.has(id)) this.#known.delete(id)
    return listed
  }

  async #originOf({ id, stat }: ListedLog): Promise<LogOrigin | undefined> {
    const size = stat?.size ?? 0
    const known = this.#known.get(id)
    // A log only grows, unless it was replaced.
    if (known !== undefined && (known.origin === undefined ? size === known.size : size >= known.size))
      return known.origin
    const origin = await this.#readOrigin(id)
    if (origin !== undefined || stat !== undefined) this.#known.set(id, { origin, size })
    return origin
  }

  async #readOrigin(id: string): Promise<LogOrigin | undefined> {
    try {
      for await (const record of this.#logs.read(id, 1, 1)) return originIn(record)
    } catch {
      // It is listed all the same.
    }
    return undefined
  }

  /** Returns the state of a log from its records; `undefined` if it has none. */
  async #statOf(id: string): Promise<LogStat | undefined> {
    let stat: LogStat | undefined
    try {
      for await (const { seq, time } of this.#logs.read(id)) stat = { size: seq, writtenAt: time }
      return stat
    } catch {
      return stat ?? { size: 0, writtenAt: 0 }
    }
  }
}
