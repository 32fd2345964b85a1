import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat, unlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../../src/protocol/errors.ts'
import type { SnapshotLimits, SnapshotStore } from '../../../src/protocol/ports/snapshots.ts'
import { checkSnapshotSize, isSnapshotId, SnapshotIndex, snapshotId } from './rules/snapshotLimits.ts'

interface Kept {
  readonly index: Promise<SnapshotIndex>
  /** Settles with the newest `put`. Calls of `put` run one after another. */
  last: Promise<unknown>
}

export interface FileSnapshotOptions extends SnapshotLimits {
  /** True if contents are synced to disk before a file is changed. */
  readonly isSynced: boolean
}

/**
 * Keeps contents in files named by their hash, in one folder per agent. Only the process that holds the agent's log writes there. A file's
 * modification time is the time of its last use.
 */
export class FileSnapshots implements SnapshotStore {
  readonly maxFileBytes: number
  readonly #folderOf: (agentId: string) => string
  readonly #options: FileSnapshotOptions
  readonly #agents = new Map<string, Kept>()

  constructor(folderOf: (agentId: string) => string, options: FileSnapshotOptions) {
    this.#folderOf = folderOf
    this.#options = options
    this.maxFileBytes = options.maxFileBytes
  }

  async put(agentId: string, bytes: Uint8Array): Promise<string> {
    checkSnapshotSize(bytes, this)
    // It is written later, and whose bytes they are may use them for something else.
    const given = bytes.slice()
    const folder = this.#folderOf(agentId)
    const kept = this.#agents.get(agentId) ?? { index: readIndex(folder), last: Promise.resolve() }
    this.#agents.set(agentId, kept)
    const done = kept.last.then(() => this.#put(folder, kept, given))
    kept.last = done.catch(() => {})
    return await done
  }

  async #put(folder: string, { index: read }: Kept, bytes: Uint8Array): Promise<string> {
    const index = await read
    const id = snapshotId(bytes)
    const file = join(folder, id)
    if (!(index.has(id) && (await isTouched(file)))) await this.#write(folder, file, bytes)
    index.use(id, bytes.length)
    for (let old = index.excess(this.#options); old !== undefined; old = index.excess(this.#options)) {
      index.drop(old)
      await rm(join(folder, old), { force: true })
    }
    return id
  }

  async #write(folder: string, file: string, bytes: Uint8Array): Promise<void> {
    // Like the log, it may hold what only this user may read.
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const temporary = `${file}.${randomUUID()}.tmp`
    try {
      const handle = await open(temporary, 'wx', 0o600)
      try {
        await handle.writeFile(bytes)
        if (this.#options.isSynced) await handle.datasync()
      } finally {
        await handle.close()
      }
      await rename(temporary, file)
    } catch (thrown) {
      await unlink(temporary).catch(() => {})
      throw thrown
    }
  }

  async get(agentId: string, id: string): Promise<Uint8Array | undefined> {
    if (!isSnapshotId(id)) return undefined
    try {
      const bytes = await readFile(join(this.#folderOf(agentId), id))
      return snapshotId(bytes) === id ? bytes : undefined
    } catch (thrown) {
      if (hasCode(thrown, 'ENOENT') || hasCode(thrown, 'ENOTDIR')) return undefined
      throw thrown
    }
  }

  /** Forgets everything about an agent whose log is released, since another process may write next. */
  async forget(agentId: string): Promise<void> {
    const kept = this.#agents.get(agentId)
    this.#agents.delete(agentId)
    await kept?.last
  }

  /** Removes the contents that are kept for an agent. */
  async delete(agentId: string): Promise<void> {
    await this.forget(agentId)
    await rm(this.#folderOf(agentId), { recursive: true, force: true })
  }
}

async function isTouched(file: string): Promise<boolean> {
  const now = new Date()
  return utimes(file, now, now).then(
    () => true,
    () => false,
  )
}

async function readIndex(folder: string): Promise<SnapshotIndex> {
  const index = new SnapshotIndex()
  const names = await readdir(folder).catch(() => [])
  const found = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name)
      if (!isSnapshotId(name)) return unlink(file).catch(() => {})
      const stats = await stat(file).catch(() => undefined)
      return stats === undefined ? undefined : { name, size: stats.size, usedAt: stats.mtimeMs }
    }),
  )
  const known = found.filter((one) => one !== undefined)
  for (const { name, size } of known.toSorted((a, b) => a.usedAt - b.usedAt)) index.use(name, size)
  return index
}
