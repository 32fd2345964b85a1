import { mkdir, readdir, stat, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type ErrorCode, messageOf, RuntimeError, hasCode } from '../../../src/protocol/errors.ts'
import { checkAgentId, isAgentId } from '../../../src/protocol/ids.ts'
import type { LogPage, LogQuery } from '../../../src/protocol/ports/logPages.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { ErasableStore, LogHolder, LogStat, StoreLease } from '../../../src/protocol/ports/store.ts'
import { FileCheckpoints } from './fileCheckpoints.ts'
import { FileSnapshots } from './fileSnapshots.ts'
import { FileTimers } from './fileTimers.ts'
import { type FileLock, holderOf, lockFile } from './lockFile.ts'
import type { LogFile } from './logFile.ts'
import { openLog } from './openLog.ts'
import { readLog } from './readLog.ts'
import { type ListedLog, ReadPages } from './readPages.ts'
import { syncFolder } from './syncFolder.ts'
import { type FileStoreOptions, type SyncPolicy, syncPolicy } from './syncPolicy.ts'

const extension = '.jsonl'

/** Stores of the files beside a log, which the log's holder writes. */
type Beside = readonly [FileSnapshots, FileCheckpoints, FileTimers]

class FileLease implements StoreLease {
  readonly agentId: string
  readonly repairedBytes: number
  readonly log: LogFile
  readonly #lock: FileLock
  readonly #beside: Beside
  readonly #onReleased: () => void
  #released: Promise<void> | undefined

  constructor(parts: {
    agentId: string
    repairedBytes: number
    log: LogFile
    lock: FileLock
    beside: Beside
    onReleased: () => void
  }) {
    this.agentId = parts.agentId
    this.repairedBytes = parts.repairedBytes
    this.log = parts.log
    this.#lock = parts.lock
    this.#beside = parts.beside
    this.#onReleased = parts.onReleased
  }

  get lastSeq(): number {
    return this.log.lastSeq
  }

  get open(): boolean {
    return this.#released === undefined
  }

  announce(url: string | undefined): Promise<void> {
    return this.#lock.announce(url)
  }

  release(): Promise<void> {
    this.#released ??= this.#release()
    return this.#released
  }

  async #release(): Promise<void> {
    try {
      await this.log.close()
    } finally {
      const [snapshots, checkpoints, timers] = this.#beside
      await snapshots.forget(this.agentId)
      await checkpoints.settled(this.agentId)
      await timers.settled(this.agentId)
      await this.#lock.release()
      this.#onReleased()
    }
  }
}

class FileStore implements ErasableStore {
  readonly snapshots: FileSnapshots
  readonly checkpoints: FileCheckpoints
  readonly timers: FileTimers
  readonly #dir: string
  readonly #policy: SyncPolicy
  readonly #leases = new Map<string, FileLease>()
  readonly #pages = new ReadPages({
    listed: (ids) => this.#listed(ids),
    read: (agentId, fromSeq, limit) => this.read(agentId, fromSeq, limit),
  })
  /** Opens and deletes in progress. */
  readonly #locking = new Set<Promise<unknown>>()
  /** Address at which the agents of this store are reached. */
  #url: string | undefined
  #closed: Promise<void> | undefined

  constructor(dir: string, policy: SyncPolicy) {
    this.#dir = dir
    this.#policy = policy
    const isSynced = policy.durability !== 'os'
    this.checkpoints = new FileCheckpoints(
      (agentId) => join(dir, `${agentId}.checkpoint`),
      (agentId) => this.#leaseOf(agentId),
    )
    this.timers = new FileTimers(join(dir, 'due'), (agentId) => this.#leaseOf(agentId))
    this.snapshots = new FileSnapshots((agentId) => join(dir, `${agentId}.snapshots`), {
      ...policy.snapshots,
      isSynced,
    })
  }

  append(agentId: string, records: readonly LogRecord[]): Promise<void> {
    try {
      return this.#leaseOf(agentId).log.append(records)
    } catch (thrown) {
      const error = thrown as RuntimeError
      return Promise.reject(error)
    }
  }

  /** @throws RuntimeError `STORE_CLOSED`, `STORE_NOT_OPEN` */
  #leaseOf(agentId: string): FileLease {
    if (this.#closed !== undefined) throw this.#closedError()
    const lease = this.#leases.get(agentId)
    if (lease?.open === true) return lease
    throw new RuntimeError('STORE_NOT_OPEN', `The log of agent "${agentId}" is not open.`)
  }

  read(agentId: string, fromSeq = 1, limit = Infinity): AsyncIterable<LogRecord> {
    checkAgentId(agentId)
    // Our own writer knows where whole records end; bytes after that may yet be taken back.
    const log = this.#leases.get(agentId)?.log
    return readLog(this.#fileOf(agentId), { fromSeq, end: log?.size ?? Infinity, limit, lastSeq: log?.lastSeq })
  }

  async list(): Promise<readonly string[]> {
    return (await this.#listed()).map(({ id }) => id).toSorted()
  }

  page(query?: LogQuery): Promise<LogPage> {
    return this.#pages.page(query)
  }

  async #listed(wanted?: readonly string[]): Promise<readonly ListedLog[]> {
    try {
      const ids = (wanted ?? (await this.#names())).filter(isAgentId)
      const stats = await Promise.all(ids.map((id) => stat(this.#fileOf(id)).catch(() => undefined)))
      return ids.flatMap((id, index) => {
        const found = stats[index]
        if (found?.isFile() !== true || found.size === 0) return []
        return [{ id, stat: { size: found.size, writtenAt: found.mtimeMs } }]
      })
    } catch (thrown) {
      if (hasCode(thrown, 'ENOENT')) return []
      throw new RuntimeError('STORE_READ_FAILED', `${this.#dir} could not be listed: ${messageOf(thrown)}.`, {
        cause: thrown,
      })
    }
  }

  async #names(): Promise<readonly string[]> {
    const logs = (await readdir(this.#dir)).filter((name) => name.endsWith(extension))
    return logs.map((name) => name.slice(0, -extension.length))
  }

  async stat(agentId: string): Promise<LogStat | undefined> {
    checkAgentId(agentId)
    try {
      const { size, mtimeMs } = await stat(this.#fileOf(agentId))
      return size === 0 ? undefined : { size, writtenAt: mtimeMs }
    } catch (thrown) {
      if (hasCode(thrown, 'ENOENT')) return undefined
      const what = `${this.#fileOf(agentId)} could not be looked at: ${messageOf(thrown)}.`
      throw new RuntimeError('STORE_READ_FAILED', what, { cause: thrown })
    }
  }

  async announce(url: string | undefined): Promise<void> {
    if (this.#closed !== undefined) throw this.#closedError()
    this.#url = url
    await Promise.allSettled(this.#locking)
    await Promise.all([...this.#leases.values()].map((lease) => lease.announce(this.#url)))
  }

  async holder(agentId: string): Promise<LogHolder | undefined> {
    checkAgentId(agentId)
    const holder = await holderOf(this.#lockOf(agentId))
    return holder && { ...holder, isHere: this.#leases.get(agentId)?.open === true }
  }

  open(agentId: string): Promise<StoreLease> {
    return this.#lock(agentId, 'STORE_OPEN_FAILED', 'opened', () => this.#open(agentId))
  }

  delete(agentId: string): Promise<void> {
    return this.#lock(agentId, 'STORE_DELETE_FAILED', 'deleted', () => this.#delete(agentId))
  }

  /** Runs an operation that takes the lock of a log; `close` waits for it. */
  async #lock<T>(agentId: string, code: ErrorCode, done: string, work: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw this.#closedError()
    checkAgentId(agentId)
    const working = work()
    this.#locking.add(working)
    try {
      return await working
    } catch (thrown) {
      if (thrown instanceof RuntimeError) throw thrown
      const what = `${this.#fileOf(agentId)} could not be ${done}: ${messageOf(thrown)}.`
      throw new RuntimeError(code, what, { cause: thrown })
    } finally {
      this.#locking.delete(working)
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#locking)
    const released = await Promise.allSettled([...this.#leases.values()].map((lease) => lease.release()))
    for (const outcome of released) if (outcome.status === 'rejected') throw outcome.reason
  }

  async #open(agentId: string): Promise<StoreLease> {
    const file = this.#fileOf(agentId)
    await this.#makeFolder()
    const lock = await lockFile(this.#lockOf(agentId), this.#url)
    try {
      const { log, repairedBytes } = await openLog(agentId, file, this.#policy)
      const lease: FileLease = new FileLease({
        agentId,
        repairedBytes,
        log,
        lock,
        beside: [this.snapshots, this.checkpoints, this.timers],
        onReleased: () => {
          if (this.#leases.get(agentId) === lease) this.#leases.delete(agentId)
        },
      })
      this.#leases.set(agentId, lease)
      return lease
    } catch (thrown) {
      await lock.release()
      throw thrown
    }
  }

  async #delete(agentId: string): Promise<void> {
    const file = this.#fileOf(agentId)
    // Before the lock: no lock file is left behind for a log that does not exist.
    if (!(await isThere(file))) return
    const lock = await lockFile(this.#lockOf(agentId))
    try {
      await this.snapshots.delete(agentId)
      await this.checkpoints.delete(agentId)
      await this.timers.delete(agentId)
      await unlink(file)
      if (this.#policy.durability !== 'os') await syncFolder(this.#dir)
    } catch (thrown) {
      if (!hasCode(thrown, 'ENOENT')) throw thrown
    } finally {
      await lock.release()
    }
  }

  async #makeFolder(): Promise<void> {
    try {
      const made = await mkdir(this.#dir, { recursive: true })
      if (made === undefined || this.#policy.durability === 'os') return
      for (let dir = this.#dir; dir.length >= made.length; dir = dirname(dir)) await syncFolder(dirname(dir))
    } catch (thrown) {
      if (!hasCode(thrown, 'EEXIST') && !hasCode(thrown, 'ENOTDIR')) throw thrown
      throw new RuntimeError('STORE_OPEN_FAILED', `${this.#dir} is not a folder, or lies in a file.`, { cause: thrown })
    }
  }

  #fileOf(agentId: string): string {
    return join(this.#dir, agentId + extension)
  }

  #lockOf(agentId: string): string {
    return join(this.#dir, `${agentId}.lock`)
  }

  #closedError(): RuntimeError {
    return new RuntimeError('STORE_CLOSED', `The file store of ${this.#dir} is closed.`)
  }
}

async function isThere(file: string): Promise<boolean> {
  try {
    await stat(file)
    return true
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return false
    throw thrown
  }
}

/**
 * A store in a folder, created if missing. `<agentId>.jsonl` is an agent's log, one record per line with a checksum as its last field, and
 * `<agentId>.lock` exists beside it while a process is writing. `<agentId>.checkpoint` holds the state folded from a long log,
 * `<agentId>.snapshots` files as the agent found them, if its tools keep them, and `due/` the times at which agents want to be woken. See
 * `Store` for the contract. `durability` determines when a record counts as stored: by default once the operating system has it, so it survives
 * the process, even `kill -9`, but not a power cut.
 *
 * Opening cuts off a torn or damaged last line (`lease.repairedBytes`) and checks nothing before it; `read` finds a bad line further
 * up (`LOG_CORRUPT`, naming file and line). Reading works in any process at any time, even after `close`. `delete` removes the log
 * and the snapshots, but not the copies that repairs made.
 *
 * @throws RuntimeError `INVALID_OPTION` if `dir` is blank or an option is wrong. All other problems with the folder are reported by
 * `open` (`STORE_OPEN_FAILED`) and `read` (`STORE_READ_FAILED`).
 * @example
 * ```ts
 * const store = fileStore('.escapement', { durability: 'batch' })
 * const runtime = await createRuntime({ store })
 * await runtime.close() // closes the store too
 * ```
 */
export function fileStore(dir: string, options?: FileStoreOptions): ErasableStore {
  if (typeof dir !== 'string' || dir.trim() === '')
    throw new RuntimeError('INVALID_OPTION', `fileStore needs the path of a folder, not ${JSON.stringify(dir)}.`)
  return new FileStore(resolve(dir), syncPolicy(options))
}
