import { isDeepStrictEqual } from 'node:util'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { checkStore } from '../../../src/protocol/ports/checkStore.ts'
import { type Store, type StoreLease, isErasable } from '../../../src/protocol/ports/store.ts'
import { putKept, readExport, type ExportedLog, type KeptFile } from './readExport.ts'

/** A log of which the store has only the first `stored` records. */
interface MissingPart extends ExportedLog {
  readonly stored: number
}

/** Number of records that are given to the store at once. */
const batchSize = 1_000

/**
 * Puts a session that `exportSession` made into a store, with the sources it was forked from; returns their ids, the session's last. `lines` is
 * the file's text: its lines, with or without their ends, or pieces that may be split anywhere. Nothing is written before the whole file was
 * read and found sound. Each record is stored as `foreign`: an import is a past, so calls that are open in it end as interrupted when the agent
 * is opened, its decisions count for nothing here, and nothing runs before the first prompt. `missing` names the artifacts that were no longer
 * kept, or that the store cannot keep. A log that is there already is left alone, or gets the records it lacks; after a failure the logs that
 * were new are deleted again, where the store can do that.
 *
 * @throws RuntimeError `FOREIGN_FORMAT` for a file of another program, `LOG_CORRUPT` naming the line, `LOG_VERSION`, `INVALID_OPTION`,
 * `AGENT_EXISTS` when an id has a log that goes another way, `STORE_LOCKED`, and errors of the store.
 */
export async function importSession(
  store: Store,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<{ agentIds: string[]; missing?: string[] }> {
  checkStore(store)
  const { logs, kept } = await readExport(lines)
  const missing: MissingPart[] = []
  for (const log of logs) {
    const stored = await countStored(store, log)
    if (stored < log.records.length) missing.push({ agentId: log.agentId, records: log.records.map(asForeign), stored })
  }
  const lost = await writeAll(store, missing, kept)
  const agentIds = logs.map(({ agentId }) => agentId)
  return lost.length === 0 ? { agentIds } : { agentIds, missing: lost }
}

const asForeign = (record: LogRecord): LogRecord => ({ ...record, foreign: true })

/** Returns the number of these records that the store already has, written there or imported before. */
async function countStored(store: Store, { agentId, records }: ExportedLog): Promise<number> {
  let count = 0
  for await (const stored of store.read(agentId)) {
    if (count === records.length) break
    if (!isDeepStrictEqual(asForeign(stored), asForeign(records[count]!)))
      throw otherLog(agentId, `record ${stored.seq} differs`)
    count += 1
  }
  return count
}

const otherLog = (agentId: string, how: string): RuntimeError =>
  new RuntimeError(
    'AGENT_EXISTS',
    `Agent "${agentId}" has another log in this store: ${how}. Delete it first, or import elsewhere.`,
  )

async function writeAll(store: Store, missing: readonly MissingPart[], kept: readonly KeptFile[]): Promise<string[]> {
  const leases: StoreLease[] = []
  const begun: string[] = []
  const release = (): Promise<unknown> => Promise.all(leases.map((lease) => lease.release()))
  try {
    for (const { agentId, stored } of missing) {
      const lease = await store.open(agentId)
      leases.push(lease)
      if (lease.lastSeq !== stored) throw otherLog(agentId, 'it was written meanwhile')
      if (stored === 0) begun.push(agentId)
    }
    for (const { agentId, stored, records } of missing)
      for (let from = stored; from < records.length; from += batchSize)
        await store.append(agentId, records.slice(from, from + batchSize))
    const lost = await putKept(store, missing, kept)
    await release()
    return lost
  } catch (thrown) {
    // The first failure is the one to report.
    await release().catch(() => undefined)
    if (isErasable(store)) await Promise.allSettled(begun.map((agentId) => store.delete(agentId)))
    throw thrown
  }
}
