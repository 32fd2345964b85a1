import { isDeepStrictEqual } from 'node:util'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'

/** Number of records that are given to a store at once. */
const batchSize = 500

/** Relation between a log in one store and the log with the same id in another. */
export type Likeness = 'same' | 'shorter' | 'other'

/**
 * Compares the log in `to` with the one in `from`. `shorter`: it is a beginning of that log, or missing; `other`: it differs, or is longer.
 * `known`: the number of its records in `to`.
 */
export async function likeness(from: Store, to: Store, agentId: string): Promise<{ is: Likeness; known: number }> {
  const theirs = to.read(agentId)[Symbol.asyncIterator]()
  let known = 0
  try {
    for await (const record of from.read(agentId)) {
      const other = await theirs.next()
      if (other.done === true) return { is: 'shorter', known }
      if (!isDeepStrictEqual(plain(other.value), plain(record))) return { is: 'other', known }
      known += 1
    }
    return { is: (await theirs.next()).done === true ? 'same' : 'other', known }
  } finally {
    await theirs.return?.()
  }
}

/** Returns a record as a store that keeps JSON text would read it back. */
const plain = (record: LogRecord): unknown => JSON.parse(JSON.stringify(record))

/** Result of copying a log. */
export interface CopiedLog {
  /** Number of records that the other store did not have. */
  readonly records: number
  /** Number of file contents that the other store cannot keep. */
  readonly lost: number
}

/**
 * Copies a log, with the file contents kept beside it, to another store. A log that was partly copied before is completed.
 *
 * @throws RuntimeError `AGENT_EXISTS` when there is another log of this id, and errors of the stores.
 */
export async function copyLog(from: Store, to: Store, agentId: string): Promise<CopiedLog> {
  const before = await likeness(from, to, agentId)
  if (before.is === 'other')
    throw new RuntimeError(
      'AGENT_EXISTS',
      `Agent "${agentId}" has another log there: it is not the same from record ${before.known + 1} on. Nothing of it was written.`,
    )
  const lease = await to.open(agentId)
  try {
    if (lease.lastSeq !== before.known)
      throw new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" was written there meanwhile.`)
    let records = 0
    let batch: LogRecord[] = []
    const write = async (): Promise<void> => {
      if (batch.length > 0) await to.append(agentId, batch, lease.epoch)
      records += batch.length
      batch = []
    }
    for await (const record of from.read(agentId, before.known + 1)) {
      batch.push(record)
      if (batch.length === batchSize) await write()
    }
    await write()
    return { records, lost: await copyContents(from, to, agentId) }
  } finally {
    await lease.release()
  }
}

/** Yields the ids of all contents that records of a log name. */
async function* contentsIn(store: Store, agentId: string): AsyncGenerator<string, void, undefined> {
  const seen = new Set<string>()
  for await (const record of store.read(agentId)) {
    if (record.type !== 'tool.end') continue
    for (const [id] of JSON.stringify(record).matchAll(/\b[0-9a-f]{64}\b/g)) {
      if (seen.has(id)) continue
      seen.add(id)
      yield id
    }
  }
}

async function copyContents(from: Store, to: Store, agentId: string): Promise<number> {
  let lost = 0
  for await (const id of contentsIn(from, agentId)) {
    const bytes = await from.snapshots?.get(agentId, id)
    if (bytes === undefined || (await to.snapshots?.get(agentId, id)) !== undefined) continue
    const isKept = (await to.snapshots?.put(agentId, bytes).catch(() => undefined)) !== undefined
    if (!isKept) lost += 1
  }
  return lost
}

/** Returns true if another store has all of a log, and everything that is kept beside it. */
export async function isCopied(from: Store, to: Store, agentId: string): Promise<boolean> {
  if ((await likeness(from, to, agentId)).is !== 'same') return false
  for await (const id of contentsIn(from, agentId)) {
    const bytes = await from.snapshots?.get(agentId, id)
    if (bytes === undefined) continue
    const copy = await to.snapshots?.get(agentId, id)
    if (copy === undefined || Buffer.compare(bytes, copy) !== 0) return false
  }
  return true
}
