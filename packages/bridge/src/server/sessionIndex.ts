import type { Metadata } from '../../../../src/protocol/metadata.ts'
import { toErrorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { LogEntry, LogQuery } from '../../../../src/protocol/ports/logPages.ts'
import type { LogStat, Store } from '../../../../src/protocol/ports/store.ts'
import { allLogs, pagesOf, type Pages } from '../../../stores/src/logPages.ts'
import { SessionProjection } from '../../../sessions/src/sessionProjection.ts'
import { summaryOf, type SessionSummary } from '../../../sessions/src/listSessions.ts'
import type { Reach } from './roles.ts'

/** Maximum number of logs whose reading can continue where it ended; others are read from the start when they grow. */
const maxFolds = 32

/** Maximum number of summaries that are kept, so that logs which have not changed need not be read again. */
const maxSummaries = 5_000

const only = (query: LogQuery, ids: ReadonlySet<string>): LogQuery => ({
  ...query,
  ids: query.ids === undefined ? [...ids] : query.ids.filter((id) => ids.has(id)),
})

/** Number of logs that are requested first, and maximum number per request. */
const firstPage = 50
const mostLogs = 1_000

/** Query of a client for sessions. */
export interface AskedSessions {
  /** Only sessions with all of these values. */
  readonly metadata?: Metadata
  /** Only forks of this agent's own log. */
  readonly forkedFrom?: string
  /** Only sessions whose agents run here or, with `false`, whose agents do not. */
  readonly running?: boolean
  /** Only sessions of agents without a parent. */
  readonly isRoot?: boolean
}

/** Query for sessions, limited to those within a client's reach. */
export interface WantedSessions {
  readonly query: Omit<LogQuery, 'after' | 'limit' | 'total'>
  /** Filter for the sessions that the query finds. */
  readonly choose?: ((log: LogEntry) => boolean) | undefined
  /** Only sessions that run here, or only those that do not. */
  readonly running?: { readonly isWanted: boolean; readonly ids: ReadonlySet<string> } | undefined
}

/** Position and size of a page. */
interface Place {
  /** Id of the last session on the previous page. Its state may have changed since. */
  readonly after?: string | undefined
  readonly limit: number
}

interface Fold {
  readonly projection: SessionProjection
  /** `seq` of the record to continue with. */
  next: number
}

interface Summary {
  readonly stat: LogStat
  readonly summary: SessionSummary | undefined
}

const isSame = (one: LogStat | undefined, other: LogStat | undefined): boolean =>
  one !== undefined && one.size === other?.size && one.writtenAt === other.writtenAt

/**
 * The sessions of a store, as the clients of one server list them. The store's pages list the sessions. Logs
 * are read only for the page that a client asks for, and again only after they have changed, from where the
 * last reading ended. One log is read at a time, however many clients ask.
 */
export class SessionIndex {
  readonly #store: Store
  readonly #pages: Pages
  readonly #summaries = new Map<string, Summary>()
  readonly #folds = new Map<string, Fold>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(store: Store) {
    this.#store = store
    this.#pages = pagesOf(store)
  }

  /** Stores known facts about a log in a certain state, so that it need not be read for lists. */
  know(id: string, stat: LogStat, summary: SessionSummary): void {
    this.#summaries.set(id, { stat, summary })
  }

  /**
   * Returns the ids of the requested sessions, the most recently written first; `undefined` if `after` is not one of them. Rejects as the store's
   * pages do.
   */
  async ids(wanted: WantedSessions, { after, limit }: Place): Promise<readonly string[] | undefined> {
    const from = after === undefined ? undefined : await this.#find(wanted, after)
    if (from === undefined && after !== undefined) return undefined
    const ids: string[] = []
    if (limit > 0)
      for await (const id of this.#walk(wanted, limit, from)) {
        ids.push(id)
        if (ids.length === limit) break
      }
    return ids
  }

  /** Yields the same ids without a limit, for callers that select from them. */
  async *idsAfter(wanted: WantedSessions, after?: string): AsyncGenerator<string, void, undefined> {
    const from = after === undefined ? undefined : await this.#find(wanted, after)
    if (after === undefined || from !== undefined) yield* this.#walk(wanted, firstPage, from)
  }

  /** Returns the number of requested sessions. */
  async count(wanted: WantedSessions): Promise<number> {
    const { query, choose, running } = wanted
    if (choose !== undefined) {
      let count = 0
      for await (const _ of this.#walk(wanted, mostLogs)) count += 1
      return count
    }
    const countOf = async (asked: LogQuery): Promise<number> =>
      (await this.#pages({ ...asked, limit: 0, total: true })).total ?? 0
    if (running === undefined) return await countOf(query)
    const here = running.ids.size === 0 ? 0 : await countOf(only(query, running.ids))
    return running.isWanted ? here : Math.max(0, (await countOf(query)) - here)
  }

  async *#walk(
    { query, choose, running }: WantedSessions,
    limit: number,
    after?: LogEntry,
  ): AsyncGenerator<string, void, undefined> {
    const asked = running?.isWanted === true ? only(query, running.ids) : query
    for await (const log of allLogs(this.#pages, { ...asked, limit, ...(after === undefined ? {} : { after }) }))
      if (choose?.(log) !== false && (running === undefined || running.ids.has(log.id) === running.isWanted))
        yield log.id
  }

  async #find({ query, choose }: WantedSessions, id: string): Promise<LogEntry | undefined> {
    const [log] = (await this.#pages({ ...query, ids: [id], limit: 1 })).logs
    return log === undefined || choose?.(log) === false ? undefined : log
  }

  /** Returns a session from its log; `undefined` if there is none or it is out of reach. A session that cannot be read has an `error`. */
  async summary(id: string, reach: Reach): Promise<SessionSummary | undefined> {
    const summary = await this.#inTurn(() => this.#summarise(id))
    return summary !== undefined && reach({ metadata: undefined, ...summary }) ? summary : undefined
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  async #statOf(id: string): Promise<LogStat | undefined> {
    return await this.#store.stat?.(id).catch(() => undefined)
  }

  async #summarise(id: string): Promise<SessionSummary | undefined> {
    // Before it is read, so that later records change it.
    const stat = await this.#statOf(id)
    const known = this.#summaries.get(id)
    if (known !== undefined && isSame(stat, known.stat)) return known.summary
    const isLonger = stat !== undefined && known !== undefined && stat.size > known.stat.size
    const summary = await this.#read(id, (isLonger ? this.#folds.get(id) : undefined) ?? newFold())
    this.#summaries.delete(id)
    if (stat !== undefined) this.#summaries.set(id, { stat, summary })
    if (this.#summaries.size > maxSummaries) this.#summaries.delete(this.#summaries.keys().next().value!)
    return summary
  }

  async #read(id: string, fold: Fold): Promise<SessionSummary | undefined> {
    this.#folds.delete(id)
    let error: ErrorInfo | undefined
    try {
      for await (const record of this.#store.read(id, fold.next)) {
        fold.projection.apply(record)
        fold.next = record.seq + 1
      }
    } catch (thrown) {
      error = toErrorInfo(thrown, 'STORE_READ_FAILED')
    }
    if (error === undefined && fold.next === 1) return undefined
    if (error === undefined) this.#folds.set(id, fold)
    if (this.#folds.size > maxFolds) this.#folds.delete(this.#folds.keys().next().value!)
    // Under the id it was found by, whatever its records say.
    return { ...summaryOf(fold.projection.session), id, ...(error === undefined ? {} : { error }) }
  }
}

const newFold = (): Fold => ({ projection: new SessionProjection(), next: 1 })
