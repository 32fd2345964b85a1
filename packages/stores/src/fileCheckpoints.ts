import { open, readFile, rename, rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { Checkpoint, CheckpointStore } from '../../../src/protocol/ports/checkpoints.ts'
import { hasCode } from '../../../src/protocol/errors.ts'
import { checkAgentId } from '../../../src/protocol/ids.ts'

const headSchema = lazily(() =>
  z.object({
    seq: z.int().positive(),
    form: z.string(),
    digest: z.string(),
    bytes: z.int().nonnegative(),
    crc: z.int().nonnegative(),
  }),
)

/** Maximum length of the first line, which describes the rest with a checksum. A file with a longer first line is not a checkpoint. */
const maxHeadBytes = 4_096
const newline = 0x0a

/**
 * Keeps checkpoints in files, `<agentId>.checkpoint` beside the log. Only the process that holds the log writes them, one after the other, first
 * under a temporary name. Nothing is synced, because the checksum reveals a checkpoint torn by a power cut.
 */
export class FileCheckpoints implements CheckpointStore {
  readonly #fileOf: (agentId: string) => string
  readonly #check: (agentId: string) => void
  /** Writes in progress. */
  readonly #writing = new Map<string, Promise<void>>()

  constructor(fileOf: (agentId: string) => string, check: (agentId: string) => void) {
    this.#fileOf = fileOf
    this.#check = check
  }

  async read(agentId: string): Promise<Checkpoint | undefined> {
    checkAgentId(agentId)
    const bytes = await readFile(this.#fileOf(agentId)).catch((thrown: unknown) => {
      if (hasCode(thrown, 'ENOENT') || hasCode(thrown, 'ENOTDIR')) return undefined
      throw thrown
    })
    if (bytes === undefined) return undefined
    const checkpoint = checkpointIn(bytes)
    if (checkpoint === undefined) throw new Error(`${this.#fileOf(agentId)} is damaged`)
    return checkpoint
  }

  async write(agentId: string, checkpoint: Checkpoint): Promise<void> {
    this.#check(agentId)
    const before = this.#writing.get(agentId)
    const writing = (before ?? Promise.resolve()).then(() => this.#write(agentId, checkpoint))
    const done = writing.catch(() => {})
    this.#writing.set(agentId, done)
    await writing.finally(() => {
      if (this.#writing.get(agentId) === done) this.#writing.delete(agentId)
    })
  }

  async #write(agentId: string, { seq, form, digest, body }: Checkpoint): Promise<void> {
    const file = this.#fileOf(agentId)
    const temporary = `${file}.tmp`
    try {
      // Like the log, it may hold what only this user may read.
      const handle = await open(temporary, 'w', 0o600)
      try {
        const head = { seq, form, digest, bytes: body.length, crc: sumOf({ seq, form, digest, body }) }
        await handle.writev([Buffer.from(`${JSON.stringify(head)}\n`), body])
      } finally {
        await handle.close()
      }
      await rename(temporary, file)
    } catch (thrown) {
      await rm(temporary, { force: true }).catch(() => {})
      throw thrown
    }
  }

  /** Resolves once the current write for an agent has ended, since another process may write next. Never rejects. */
  async settled(agentId: string): Promise<void> {
    await this.#writing.get(agentId)
  }

  /** Removes the checkpoint of an agent. */
  async delete(agentId: string): Promise<void> {
    await this.settled(agentId)
    const file = this.#fileOf(agentId)
    for (const name of [file, `${file}.tmp`]) await rm(name, { force: true })
  }
}

/** Returns the checkpoint in a file; `undefined` if the file is damaged. */
function checkpointIn(bytes: Buffer): Checkpoint | undefined {
  const end = bytes.subarray(0, maxHeadBytes).indexOf(newline)
  if (end < 0) return undefined
  const head = headSchema().safeParse(jsonIn(bytes.toString('utf8', 0, end)))
  if (!head.success) return undefined
  const { bytes: length, crc, ...rest } = head.data
  const checkpoint = { ...rest, body: bytes.subarray(end + 1) }
  return checkpoint.body.length === length && sumOf(checkpoint) === crc ? checkpoint : undefined
}

/** Returns the checksum over all fields of a checkpoint. */
const sumOf = ({ seq, form, digest, body }: Checkpoint): number =>
  crc32(body, crc32(JSON.stringify([seq, form, digest])))

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
