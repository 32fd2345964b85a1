import { toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { RecordOf } from '../../protocol/records.ts'
import type { LogStat, Store } from '../../protocol/store.ts'
import { createdRecord } from '../../sessions/readHistory.ts'
import { SessionProjection } from '../../sessions/sessionProjection.ts'
import { summaryOf, type SessionSummary } from '../../sessions/listSessions.ts'
import type { Reach, ReachedAgent } from './roles.ts'

/** Logs whose reading can continue where it ended; the others are read from the start when they grow. */
const maxFolds = 32

/** A log and its size; a store without `stat` has its logs read. */
interface LogEntry {
  readonly id: string
  readonly stat: LogStat | undefined
}

/** What the first record of a log says. */
interface Origin extends ReachedAgent {
  /** Id of the agent that it is a fork of. */
  readonly forkedFrom?: string
}

/** Which sessions a client asks for. */
export type Wanted = (agent: Origin) => boolean

interface Ancestry {
  /** Whose it is; `undefined`: the log has no first record, or none that can be read. */
  readonly agent: Origin | undefined
  readonly size: number
}

interface Fold {
  readonly projection: SessionProjection
  /** `seq` of the record to go on with. */
  next: number
}

interface Summary {
  readonly stat: LogStat
  readonly summary: SessionSummary | undefined
}

const originOf = (id: string, { path, metadata, forkedFrom }: RecordOf<'agent.created'>): Origin => ({
  id,
  path,
  metadata,
  ...(forkedFrom === undefined ? {} : { forkedFrom: forkedFrom.agentId }),
})

const isSame = (one: LogStat | undefined, other: LogStat | undefined): boolean =>
  one !== undefined && one.size === other?.size && one.writtenAt === other.writtenAt

/**
 * The sessions of a store as the clients of one server list them. Only logs within a client's reach are read, those of the page it
 * asks for, and again only once they have changed: on from where they ended. One is read at a time, however many ask.
 */
export class SessionIndex {
  readonly #store: Store
  readonly #ancestries = new Map<string, Ancestry>()
  readonly #summaries = new Map<string, Summary>()
  readonly #folds = new Map<string, Fold>()
  #last: Promise<unknown> = Promise.resolve()
  /** A listing of the store that has not started yet: requests until then share it. */
  #listing: Promise<readonly LogEntry[]> | undefined

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Ids of the sessions that are wanted, the one written last first. `bySight`: what one is must be known to tell. Rejects
   * as `Store.list` does.
   */
  async ids(wanted: Wanted, bySight = false): Promise<readonly string[]> {
    this.#listing ??= this.#inTurn(() => {
      this.#listing = undefined
      return this.#list()
    })
    const entries = await this.#listing
    const within: LogEntry[] = []
    for (const entry of entries) {
      const unknown = { id: entry.id, path: [], metadata: undefined }
      // Most tokens reach everything or nothing of it by its own id: what it is below need not be known.
      if ((!bySight && wanted(unknown)) || wanted((await this.#inTurn(() => this.#agentOf(entry))) ?? unknown))
        within.push(entry)
    }
    if (this.#store.stat === undefined) return await this.#byLastRecord(within)
    return within.map(({ id }) => id)
  }

  /** A session, as its log tells; `undefined` when there is none, or it is out of reach. One that cannot be read has an `error`. */
  async summary(id: string, reach: Reach): Promise<SessionSummary | undefined> {
    const summary = await this.#inTurn(() => this.#summarise(id))
    return summary !== undefined && reach({ metadata: undefined, ...summary }) ? summary : undefined
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  async #list(): Promise<readonly LogEntry[]> {
    const ids = await this.#store.list()
    const entries = await Promise.all(ids.map(async (id) => ({ id, stat: await this.#statOf(id) })))
    const there = new Set(ids)
    for (const known of [this.#ancestries, this.#summaries, this.#folds])
      for (const id of known.keys()) if (!there.has(id)) known.delete(id)
    return entries.toSorted((a, b) => (b.stat?.writtenAt ?? 0) - (a.stat?.writtenAt ?? 0))
  }

  async #statOf(id: string): Promise<LogStat | undefined> {
    return await this.#store.stat?.(id).catch(() => undefined)
  }

  async #agentOf({ id, stat }: LogEntry): Promise<Origin | undefined> {
    const size = stat?.size ?? 0
    const known = this.#ancestries.get(id)
    // A log only grows, unless it was replaced.
    if (known !== undefined && (known.agent === undefined ? size === known.size : size >= known.size))
      return known.agent
    const created = await createdRecord(this.#store, id).catch(() => undefined)
    const agent = created === undefined ? undefined : originOf(id, created)
    if (agent !== undefined || stat !== undefined) this.#ancestries.set(id, { agent, size })
    return agent
  }

  async #summarise(id: string): Promise<SessionSummary | undefined> {
    // Before it is read, so that later records change it.
    const stat = await this.#statOf(id)
    const known = this.#summaries.get(id)
    if (known !== undefined && isSame(stat, known.stat)) return known.summary
    const isLonger = stat !== undefined && known !== undefined && stat.size > known.stat.size
    const summary = await this.#read(id, (isLonger ? this.#folds.get(id) : undefined) ?? newFold())
    if (stat !== undefined) this.#summaries.set(id, { stat, summary })
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

  async #byLastRecord(entries: readonly LogEntry[]): Promise<readonly string[]> {
    const found: { readonly id: string; readonly updatedAt: number }[] = []
    for (const { id } of entries) {
      const summary = await this.#inTurn(() => this.#summarise(id))
      if (summary !== undefined) found.push(summary)
    }
    return found.toSorted((a, b) => b.updatedAt - a.updatedAt).map(({ id }) => id)
  }
}

const newFold = (): Fold => ({ projection: new SessionProjection(), next: 1 })
