import type { CheckpointStore } from './checkpoints.ts'
import type { LogPage, LogQuery } from './logPages.ts'
import type { SearchHit, SearchQuery } from './logSearch.ts'
import type { LogRecord } from '../records.ts'
import type { SnapshotStore } from './snapshots.ts'
import type { TimerIndex } from './timers.ts'

/**
 * Promise that `append` may return if the records are already stored. The runtime recognises it and continues at once. A wrapper that returns its own
 * promise is awaited like any store.
 */
export const stored: Promise<void> = Promise.resolve()

/** The right to append to one agent's log, held by one writer at a time. */
export interface StoreLease {
  readonly agentId: string
  /** `seq` of the last record in the log, 0 when it is empty. */
  readonly lastSeq: number
  /** Bytes of a torn last line that were cut off when the log was opened; 0 if the log was intact. */
  readonly repairedBytes: number
  /**
   * Epoch of the lease, which grows each time this log is opened in any process. A writer gives its lease's epoch when it appends, so
   * a writer that was frozen and wakes up writes nothing. Without epochs the store's leases cannot be taken over.
   */
  readonly epoch?: number
  /** Resolves once the store learns, possibly late, that another writer has taken the log. Never rejects. */
  readonly lost?: Promise<void>
  /** Releases the lease, so that another writer can open the log. Idempotent. */
  release(): Promise<void>
}

/** Options for opening a log. */
export interface LeaseOptions {
  /**
   * Takes the log from the writer that has it. That writer loses its lease, and its appends are refused with `STORE_LEASE_LOST`. This
   * is for code that decides where agents run. A store whose leases have no epoch still refuses with `STORE_LOCKED`.
   */
  readonly takeOver?: boolean | undefined
}

/** The holder of an open log. */
export interface LogHolder {
  /** WebSocket address of the holder's bridge; missing if it announced none. */
  readonly url?: string
  /** Epoch of the holder's lease, if leases have one. */
  readonly epoch?: number
  /** True if the holder is this store, or another part of the process that shares this store. */
  readonly isHere: boolean
  /** Name of the holder, for messages: `process 12 on host since 2026-…`. */
  readonly words: string
}

/** A process that announced the address of its agents. */
export interface LogWorker {
  readonly url: string
  /** Name of the process, for messages. */
  readonly words: string
}

/** State of a log that can be found without reading the log. */
export interface LogStat {
  /** Size of the log in bytes or records. It grows with every record. */
  readonly size: number
  /** Time of the last record, in epoch milliseconds. */
  readonly writtenAt: number
}

/** Current figures of a store. */
export interface StoreFigures {
  /** Time since the store's leases were renewed, in milliseconds. */
  readonly leaseAgeMs?: number
  /** Number of appends stored since the store was opened. */
  readonly appends?: number
  /** Number of appends that wait. */
  readonly queue?: number
}

/**
 * The storage of logs. Contract (run by `storeContract` of `escapement/testing`): `append` keeps the order of calls. It returns a promise that
 * resolves once the records are as durable as the store promises (`stored` if they already are), and rejects with `STORE_NOT_OPEN` without a lease,
 * `STORE_LEASE_LOST` if another writer has opened the log since, or under an `epoch` that is not the lease's, `STORE_CLOSED` after `close`, and
 * `STORE_APPEND_FAILED` if none of this call's records were kept. It is idempotent, because an answer may be lost: records at the beginning of a call
 * that the log already has, with the same content, are skipped; a different record with such a `seq` is refused. It rejects with `RECORD_TOO_LARGE`
 * for a record that it can never store. `read` yields the records with `seq >= fromSeq` in order, at most `limit` of them, and nothing for an unknown
 * agent. It needs no lease. A `fromSeq` below 0 counts from the end, with -1 for the last record, and earlier ones may come before it. `open` rejects
 * with `STORE_LOCKED`, naming the holder, while another lease is held. `list` returns the ids of agents that have a log, sorted. The next seven
 * methods are optional. `stat` returns the state of a log, which changes with every record, or `undefined` if there is none. Lists of sessions read a
 * log again only after its state has changed. `page` lists logs by facts from their first records, and reads few or none of them. `search` finds the
 * records that contain the words, the best first, including all records appended before the call. No text is an error. `announce` publishes, to
 * callers of `holder`, the address of the agents whose logs are open here, until the store is closed or `announce` is called with `undefined`. The
 * last call counts. `holder` returns the holder of an open log, and `undefined` if there is none or if the holder is known to be gone; `open` then
 * lets in the next one. `workers` returns the processes that have announced an address, as far as they are known to be running. `holds` returns
 * synchronously whether this store still keeps others from its logs. It returns `false` once the store has failed to renew its leases for as long as
 * they last, because another store may then have them. With an agent's id and the epoch of its lease, if it has one, it answers for that log. It is
 * asked right before each effect of an agent. After a `false` the effect does not begin, and the agent ends with `STORE_LEASE_LOST`. A store without
 * it cannot lose its logs. `close` is idempotent and releases every lease.
 */
export interface Store {
  append(agentId: string, records: readonly LogRecord[], epoch?: number): Promise<void>
  read(agentId: string, fromSeq?: number, limit?: number): AsyncIterable<LogRecord>
  list(): Promise<readonly string[]>
  stat?(agentId: string): Promise<LogStat | undefined>
  page?(query?: LogQuery): Promise<LogPage>
  search?(query: SearchQuery): Promise<readonly SearchHit[]>
  open(agentId: string, options?: LeaseOptions): Promise<StoreLease>
  announce?(url: string | undefined): Promise<void>
  holder?(agentId: string): Promise<LogHolder | undefined>
  workers?(): Promise<readonly LogWorker[]>
  holds?(agentId?: string, epoch?: number): boolean
  /** Returns the store's figures, for its operators. */
  figures?(): StoreFigures
  /** Store for the original contents of files, for `undo`. Without it the runtime keeps them in memory. */
  readonly snapshots?: SnapshotStore
  /** Store for the folded state of logs, so that opening a long log reads only its end. Without it every opening reads the whole log. */
  readonly checkpoints?: CheckpointStore
  /** Index of the times at which agents want to be woken. Without it, agents that are not live are not woken. */
  readonly timers?: TimerIndex
  close(): Promise<void>
}

/** A store that can also delete logs. */
export interface ErasableStore extends Store {
  /**
   * Removes a log permanently, with its snapshots. Does nothing for an unknown agent. Rejects with
   * `STORE_LOCKED` while a lease is held, and with `STORE_DELETE_FAILED`.
   */
  delete(agentId: string): Promise<void>
}

/** Returns true if a store can delete logs. */
export const isErasable = (store: Store): store is ErasableStore =>
  'delete' in store && typeof store.delete === 'function'
