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
   * Epoch of the lease, which grows with every opening of this log in any process. A writer names the epoch of its lease when it appends, so a writer
   * that was frozen and wakes up writes nothing. Without epochs the store's leases cannot be taken over.
   */
  readonly epoch?: number
  /** Resolves once the store learns, possibly late, that another writer has taken the log. Never rejects. */
  readonly lost?: Promise<void>
  /** Lets another writer in. Idempotent. */
  release(): Promise<void>
}

/** Options of opening a log. */
export interface LeaseOptions {
  /**
   * Takes the log from a writer that has it. That writer loses its lease, and its appends are refused with `STORE_LEASE_LOST`. This is for code that
   * decides where agents run. A store whose leases have no epoch refuses with `STORE_LOCKED` even so.
   */
  readonly takeOver?: boolean | undefined
}

/** The holder of an open log. */
export interface LogHolder {
  /** WebSocket address of the holder's bridge; missing if it announced none. */
  readonly url?: string
  /** Epoch of its lease, if leases have one. */
  readonly epoch?: number
  /** True if the holder is this store, or another part of the process that shares it. */
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

/** State of a log that is known without reading it. */
export interface LogStat {
  /** Size of the log in bytes or records. It grows with every record. */
  readonly size: number
  /** Time of the last record, in epoch milliseconds. */
  readonly writtenAt: number
}

/** Figures of a store, at this moment. */
export interface StoreFigures {
  /** Milliseconds since its leases were renewed. */
  readonly leaseAgeMs?: number
  /** Appends stored since it was opened. */
  readonly appends?: number
  /** Appends that wait. */
  readonly queue?: number
}

/**
 * The storage of logs. Contract (run by `storeContract` of `escapement/testing`): `append` keeps the order of calls, returns a promise that resolves
 * once the records are as durable as the store promises (`stored` when they are already), and rejects with `STORE_NOT_OPEN` without a lease,
 * `STORE_LEASE_LOST` when the log was opened by another writer since, or under an `epoch` that is not the lease's, `STORE_CLOSED` after `close`,
 * `STORE_APPEND_FAILED` when none of this call's records were kept. It is idempotent, as an answer may be lost: records at the beginning of a call
 * that the log has already, with the same content, are skipped; a different record with such a `seq` is refused. It rejects with `RECORD_TOO_LARGE`
 * for a record it can never store. `read` yields the records with `seq >= fromSeq` in order, `limit` of them at most, nothing for an unknown agent,
 * and needs no lease; a `fromSeq` below 0 counts from the end, -1 being the last record, and earlier ones may come before it. `open` rejects with `STORE_LOCKED`, naming the holder, while another lease is out. `list` returns the ids of agents that have a
 * log, sorted. `stat`, which is optional, returns the state of a log, which changes with every record, or `undefined` if there is none: lists of
 * sessions read a log again only after it has changed. `page`, which is optional, lists logs by facts from their first records, and reads none or few
 * of them. `search`, which is optional, finds the records in which something was said, the best first, with all records appended before the call; no
 * text is an error. `announce`, which is optional, publishes to callers of `holder` where the agents are reached whose logs are open here, for as
 * long as the store is open or until it is called with `undefined`; the last call counts. `holder`, which is optional, returns the holder of an open
 * log, and `undefined` where there is none, or where the holder is known to be gone: then `open` lets in the next one. `workers`, which is optional,
 * returns those that have announced an address, as far as they are known to be there. `holds`, which is optional, says at once whether this store
 * still keeps others from its logs: `false` while it has not been able to renew its leases for as long as they last, so that another store may have
 * them; with an agent's id and the epoch of its lease, if that has one, whether it does so from that log. It is asked right before each effect of an
 * agent, which does not begin after a `false`: the agent ends there with `STORE_LEASE_LOST`. A store without it cannot lose its logs. `close` is
 * idempotent and releases every lease.
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
  /** Figures for whoever operates it. */
  figures?(): StoreFigures
  /** Keeps the original content of files, for `undo`. Without it the runtime keeps them in memory. */
  readonly snapshots?: SnapshotStore
  /** Keeps the folded state of logs, so that opening a long log reads only its end. Without it every opening reads the whole log. */
  readonly checkpoints?: CheckpointStore
  /** Knows which agents want to be woken when. Without it nobody wakes an agent that is not live. */
  readonly timers?: TimerIndex
  close(): Promise<void>
}

/** A store that can also delete logs. */
export interface ErasableStore extends Store {
  /**
   * Removes a log permanently, with its snapshots; does nothing for an unknown agent. Rejects with `STORE_LOCKED` while a lease is out,
   * `STORE_DELETE_FAILED`.
   */
  delete(agentId: string): Promise<void>
}

/** Returns true if a store can delete logs. */
export const isErasable = (store: Store): store is ErasableStore =>
  'delete' in store && typeof store.delete === 'function'
