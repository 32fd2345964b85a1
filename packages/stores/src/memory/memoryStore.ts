import { isDeepStrictEqual } from 'node:util'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { stored, type ErasableStore, type StoreLease } from '../../../../src/protocol/ports/store.ts'
import { checkAgentId } from '../../../../src/protocol/ids.ts'
import { checkLease, countRepeated, otherRecord, seqFrom } from '../rules/appendChecks.ts'
import { fitting, originIn, pageOf } from '../rules/logPages.ts'
import { ScanSearch } from '../rules/scanSearch.ts'
import { MemorySnapshots } from './memorySnapshots.ts'
import { MemoryTimers } from './memoryTimers.ts'
import type { Checkpoint, CheckpointStore } from '../../../../src/protocol/ports/checkpoints.ts'

/** Keeps checkpoints in memory, lost when the process ends. `check` refuses a writer that may not write. */
class MemoryCheckpoints implements CheckpointStore {
  readonly isVolatile = true
  readonly keepsShared = true
  readonly #check: (agentId: string, epoch: number | undefined) => void
  readonly #checkpoints = new Map<string, Checkpoint>()

  constructor(check: (agentId: string, epoch: number | undefined) => void) {
    this.#check = check
  }

  async read(agentId: string): Promise<Checkpoint | undefined> {
    return this.#checkpoints.get(agentId)
  }

  async write(agentId: string, checkpoint: Checkpoint, epoch?: number): Promise<void> {
    this.#check(agentId, epoch)
    this.#checkpoints.set(agentId, checkpoint)
  }

  /** Removes the checkpoint of an agent. */
  delete(agentId: string): void {
    this.#checkpoints.delete(agentId)
  }
}

class MemoryLease implements StoreLease {
  readonly agentId: string
  readonly repairedBytes = 0
  readonly epoch: number
  readonly #logs: ReadonlyMap<string, readonly LogRecord[]>
  readonly #leases: Map<string, MemoryLease>
  /** Resolves once another writer has the log. */
  readonly lost: Promise<void>
  #lose!: () => void

  constructor(
    agentId: string,
    epoch: number,
    logs: ReadonlyMap<string, readonly LogRecord[]>,
    leases: Map<string, MemoryLease>,
  ) {
    this.agentId = agentId
    this.#logs = logs
    this.epoch = epoch
    this.#leases = leases
    this.lost = new Promise((resolve) => (this.#lose = resolve))
  }

  /** Notes that another writer has the log. */
  lose(): void {
    this.#lose()
  }

  get lastSeq(): number {
    return this.#logs.get(this.agentId)?.length ?? 0
  }

  async release(): Promise<void> {
    if (this.#leases.get(this.agentId) === this) this.#leases.delete(this.agentId)
  }
}

/**
 * A store in memory that is lost when the process ends: for tests and agents that need not survive. It keeps the records it is given
 * without copying them. See `Store` for the contract.
 *
 * @example
 * ```ts
 * const store = memoryStore()
 * const runtime = await createRuntime({ store })
 * await runtime.spawn(coder, { id: 'coder-1' })
 * const { status } = await loadSession(store, 'coder-1')
 * ```
 */
export function memoryStore(): ErasableStore {
  /** Seq n is at index n - 1. */
  const logs = new Map<string, LogRecord[]>()
  const leases = new Map<string, MemoryLease>()
  /** Number of times that each log was opened. */
  const epochs = new Map<string, number>()
  const snapshots = new MemorySnapshots()
  let closed = false
  let address: string | undefined

  const refuseWhenClosed = (): void => {
    if (closed) throw new RuntimeError('STORE_CLOSED', 'The memory store is closed.')
  }
  const refuseWhenLeased = (agentId: string): void => {
    if (!leases.has(agentId)) return
    throw new RuntimeError('STORE_LOCKED', `The log of agent "${agentId}" is open in this process (${process.pid}).`)
  }
  const leaseOf = (agentId: string, epoch: number | undefined): MemoryLease => {
    refuseWhenClosed()
    const lease = leases.get(agentId)
    checkLease(agentId, { held: lease?.epoch, newest: epochs.get(agentId) ?? 0 }, epoch)
    return lease!
  }
  const checkpoints = new MemoryCheckpoints(leaseOf)
  const timers = new MemoryTimers(leaseOf)
  const keep = (agentId: string, records: readonly LogRecord[], epoch: number | undefined): void => {
    leaseOf(agentId, epoch)
    const log = logs.get(agentId)
    const repeated = countRepeated(agentId, records, log?.length ?? 0)
    for (let index = 0; index < repeated; index += 1) {
      const record = records[index]!
      if (!isDeepStrictEqual(log?.[record.seq - 1], record)) throw otherRecord(agentId, record.seq)
    }
    // As long as it has to be: many agents never get beyond their first record.
    if (log === undefined) logs.set(agentId, records.slice(repeated))
    else for (let index = repeated; index < records.length; index += 1) log.push(records[index]!)
  }

  return {
    snapshots,
    checkpoints,
    timers,

    append(agentId, records, epoch) {
      try {
        keep(agentId, records, epoch)
        return stored
      } catch (thrown) {
        const error = thrown as RuntimeError
        return Promise.reject(error)
      }
    },

    async *read(agentId, fromSeq = 1, limit = Infinity) {
      checkAgentId(agentId)
      const log = logs.get(agentId) ?? []
      // By index, up to the current length: reading continues while others append, and copies nothing.
      const start = seqFrom(fromSeq, log.length) - 1
      const end = Math.min(log.length, start + limit)
      for (let index = start; index < end; index += 1) {
        const record = log[index]
        if (record !== undefined) yield record
      }
    },

    async list() {
      return [...logs].flatMap(([agentId, log]) => (log.length > 0 ? [agentId] : [])).toSorted()
    },

    async stat(agentId) {
      checkAgentId(agentId)
      const log = logs.get(agentId) ?? []
      const last = log.at(-1)
      return last === undefined ? undefined : { size: log.length, writtenAt: last.time }
    },

    async page(query) {
      const entries = [...logs].flatMap(([id, log]) => {
        const last = log.at(-1)
        return last === undefined ? [] : [{ id, size: log.length, writtenAt: last.time, origin: originIn(log[0]) }]
      })
      return pageOf(entries, query)
    },

    async search(query) {
      const search = new ScanSearch(query)
      if (search.isEmpty) return []
      const isWanted = fitting(query)
      for (const [id, log] of logs)
        if (isWanted({ id, origin: originIn(log[0]) })) for (const record of log) search.look(id, record)
      return search.hits
    },

    async open(agentId, { takeOver = false } = {}) {
      refuseWhenClosed()
      checkAgentId(agentId)
      if (!takeOver) refuseWhenLeased(agentId)
      leases.get(agentId)?.lose()
      const epoch = (epochs.get(agentId) ?? 0) + 1
      epochs.set(agentId, epoch)
      const lease = new MemoryLease(agentId, epoch, logs, leases)
      leases.set(agentId, lease)
      return lease
    },

    holds(agentId, epoch) {
      if (agentId === undefined) return true
      const held = leases.get(agentId)?.epoch
      return held !== undefined && (epoch === undefined || held === epoch)
    },

    async announce(url) {
      refuseWhenClosed()
      address = url
    },

    async workers() {
      return address === undefined ? [] : [{ url: address, words: `this process (${process.pid})` }]
    },

    async holder(agentId) {
      checkAgentId(agentId)
      const lease = leases.get(agentId)
      if (lease === undefined) return undefined
      const url = address === undefined ? {} : { url: address }
      return { ...url, epoch: lease.epoch, isHere: true, words: `this process (${process.pid})` }
    },

    async delete(agentId) {
      refuseWhenClosed()
      checkAgentId(agentId)
      refuseWhenLeased(agentId)
      snapshots.delete(agentId)
      checkpoints.delete(agentId)
      timers.delete(agentId)
      logs.delete(agentId)
    },

    async close() {
      closed = true
      leases.clear()
    },
  }
}
