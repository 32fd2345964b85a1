import type { FileHandle } from 'node:fs/promises'
import { messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { stored } from '../../../src/protocol/ports/store.ts'
import { countRepeated, otherRecord } from './rules/appendChecks.ts'
import { lineOf } from './checksum.ts'
import { offsetOfLine, readBytes } from './jsonLines.ts'
import type { WriteSync } from './quickWrites.ts'
import type { LogEnd } from './readLog.ts'
import { type SyncPolicy, syncPolicy } from './syncPolicy.ts'

/** Maximum size of a combined write in UTF-16 units. A single call may be larger. */
const batchChars = 4 * 1024 * 1024

/** The part of an open file that a log file needs. A write may take fewer bytes than given. */
export type LogFileHandle = Pick<FileHandle, 'read' | 'write' | 'truncate' | 'datasync' | 'close'> & {
  /** Missing if the file can only be written in the background. */
  readonly writeSync?: WriteSync
  /** Returns true if the file was deleted: further bytes are lost, and no write fails. Missing if that cannot be determined. */
  readonly isDeleted?: () => boolean
}

/** Lines that the file should already have, from line `seq` on. */
interface Repeat {
  readonly seq: number
  readonly lines: readonly string[]
}

const fullLine = (record: LogRecord): string => `${lineOf(JSON.stringify(record))}\n`

interface Batch {
  text: string
  lastSeq: number
  /** Set for a batch of one call that begins with repeated records. */
  readonly repeat: Repeat | undefined
  readonly stored: PromiseWithResolvers<void>
}

/**
 * The writing end of one agent's log, used by one writer at a time. Text that needs no sync is written at once when it is short and nothing
 * else is under way. Other calls of one tick, and calls made while a write or a sync is under way, share one write. Bytes that a failed
 * write or sync left are cut off again, and every call in it or waiting behind it rejects.
 */
export class LogFile {
  readonly #agentId: string
  readonly #handle: LogFileHandle
  readonly #policy: SyncPolicy
  /** The part that is stored as the policy requires, which reads may show. */
  #stored: LogEnd
  /** The part that was written. */
  #written: LogEnd
  /** Last accepted seq, written or not. */
  #takenSeq: number
  /** True if bytes from a failed write or sync may follow the written part. */
  #torn = false
  #waiting: Batch[] = []
  /** Calls that are written and wait for a sync. */
  #unsynced: Batch[] = []
  /** Time of the next sync: together with other files (`asked`), next (`due`), or after each remaining write (`closing`). */
  #sync: 'none' | 'asked' | 'due' | 'closing' = 'none'
  #stopAsking = (): void => {}
  #working: Promise<void> | undefined

  constructor(agentId: string, handle: LogFileHandle, end: LogEnd, policy: SyncPolicy = syncPolicy()) {
    this.#agentId = agentId
    this.#handle = handle
    this.#policy = policy
    this.#stored = this.#written = end
    this.#takenSeq = end.lastSeq
  }

  /** Number of bytes of stored whole records, without any write or sync in progress. */
  get size(): number {
    return this.#stored.size
  }

  /** `seq` of the last record stored. */
  get lastSeq(): number {
    return this.#stored.lastSeq
  }

  /**
   * Appends in the order of calls; resolves when the records, and all before them, are as durable as the policy promises
   * (`stored` when they are already). The records are read before it returns. Those at its beginning that the log has already are
   * held against the file and not written again.
   *
   * Rejects with `STORE_APPEND_FAILED`; then none of this call's records were kept, and the next append starts at `lastSeq + 1`.
   */
  append(records: readonly LogRecord[]): Promise<void> {
    let text = ''
    let repeat: Repeat | undefined
    let repeated: number
    try {
      repeated = countRepeated(this.#agentId, records, this.#takenSeq)
      if (repeated > 0) repeat = { seq: records[0]!.seq, lines: records.slice(0, repeated).map(fullLine) }
      for (let index = repeated; index < records.length; index += 1) text += fullLine(records[index]!)
    } catch (thrown) {
      return Promise.reject(this.#failed(thrown))
    }
    const lastSeq = this.#takenSeq + records.length - repeated
    if (repeat === undefined && this.#writeNow(text, lastSeq)) return stored
    const batch = this.#batchFor(repeat)
    batch.text += text
    batch.lastSeq = this.#takenSeq = lastSeq
    this.#start()
    return batch.stored.promise
  }

  /** Writes a text synchronously if possible. Returns `false` if it has to wait or failed. It is then written in the background, over the remains. */
  #writeNow(text: string, lastSeq: number): boolean {
    const { durability, quick } = this.#policy
    const { writeSync } = this.#handle
    if (durability !== 'os' || writeSync === undefined || this.#working !== undefined || this.#torn) return false
    if (!quick.allows(text)) return false
    const { size } = this.#written
    try {
      this.#checkPlace()
      this.#written = this.#stored = { size: size + quick.write(writeSync, text, size), lastSeq }
    } catch {
      return false
    }
    this.#takenSeq = lastSeq
    return true
  }

  /** Returns the batch that a call joins: the last waiting one, or a new one. */
  #batchFor(repeat: Repeat | undefined): Batch {
    const last = this.#waiting.at(-1)
    if (last !== undefined && repeat === undefined && last.repeat === undefined && last.text.length <= batchChars)
      return last
    const batch = { text: '', lastSeq: this.#takenSeq, repeat, stored: Promise.withResolvers<void>() }
    this.#waiting.push(batch)
    return batch
  }

  /** Stores the appended records without waiting for the syncs of others, and closes the file even if that fails. */
  async close(): Promise<void> {
    this.#stopAsking()
    this.#sync = 'closing'
    this.#start()
    await this.#working
    // Else the next one to open it would take what was refused for records.
    if (this.#torn) await this.#cutTorn().catch(() => undefined)
    await this.#handle.close()
  }

  #start(): void {
    this.#working ??= this.#work()
  }

  /** Writes and syncs, one at a time, until nothing is due. Never rejects: the calls do. */
  async #work(): Promise<void> {
    await Promise.resolve() // calls of the same tick share the first write
    for (;;) {
      if (this.#sync === 'due' || this.#sync === 'closing') await this.#syncWritten()
      const batch = this.#waiting.shift()
      if (batch === undefined) break
      try {
        await this.#write(batch)
        this.#unsynced.push(batch)
        this.#askForSync()
      } catch (thrown) {
        // A call that only repeats records has none that later calls build on.
        if (batch.text === '') {
          batch.stored.reject(this.#failed(thrown))
          continue
        }
        this.#waiting.unshift(batch)
        // First what was written before it: then `lastSeq` is where the next append starts.
        await this.#syncWritten()
        this.#reject(thrown)
      }
    }
    this.#working = undefined
  }

  async #write({ text, lastSeq, repeat }: Batch): Promise<void> {
    if (repeat !== undefined) await this.#checkRepeat(repeat)
    if (text === '') return
    this.#checkPlace()
    if (this.#torn) await this.#cutTorn()
    const { size } = this.#written
    const bytes = Buffer.from(text)
    try {
      for (let at = 0; at < bytes.length;) {
        const { bytesWritten } = await this.#handle.write(bytes, at, bytes.length - at, size + at)
        if (bytesWritten === 0) throw new Error('the file takes no more bytes')
        at += bytesWritten
      }
    } catch (thrown) {
      await this.#takeBack()
      throw thrown
    }
    this.#written = { size: size + bytes.length, lastSeq }
  }

  /** Throws if the file was deleted while it was open. */
  #checkPlace(): void {
    if (this.#handle.isDeleted?.() !== true) return
    throw new Error(
      'its file was deleted, and what is written to it would be lost: put it back from a copy, and open the agent anew',
    )
  }

  /** Throws unless the file has these lines, byte for byte. */
  async #checkRepeat({ seq, lines }: Repeat): Promise<void> {
    let start = await offsetOfLine(this.#handle, seq - 1)
    for (const [index, line] of lines.entries()) {
      const given = Buffer.from(line)
      if (!given.equals(await readBytes(this.#handle, start, start + given.length)))
        throw otherRecord(this.#agentId, seq + index)
      start += given.length
    }
  }

  #askForSync(): void {
    const { durability, rounds } = this.#policy
    if (durability === 'os' || this.#written === this.#stored) return this.#acknowledge()
    if (this.#sync !== 'none') return
    if (durability === 'each') this.#sync = 'due'
    else {
      this.#sync = 'asked'
      this.#stopAsking = rounds.ask(() => {
        this.#sync = 'due'
        this.#start()
      })
    }
  }

  async #syncWritten(): Promise<void> {
    this.#stopAsking()
    if (this.#sync !== 'closing') this.#sync = 'none'
    if (this.#unsynced.length === 0) return
    try {
      await this.#policy.rounds.sync(() => this.#handle.datasync())
      this.#acknowledge()
    } catch (thrown) {
      // The system may hold the lost pages for clean ones now, and a second sync would lie: they are written again.
      this.#written = this.#stored
      await this.#takeBack()
      this.#reject(thrown)
    }
  }

  #acknowledge(): void {
    this.#stored = this.#written
    for (const batch of this.#unsynced.splice(0)) batch.stored.resolve()
  }

  /** Rejects every call that was not stored; the next one starts after the stored records. */
  #reject(thrown: unknown): void {
    this.#takenSeq = this.#written.lastSeq
    const error = this.#failed(thrown)
    for (const batch of [...this.#unsynced.splice(0), ...this.#waiting.splice(0)]) batch.stored.reject(error)
  }

  async #takeBack(): Promise<void> {
    this.#torn = true
    // When this fails as well, the next write tries again first.
    await this.#cutTorn().catch(() => undefined)
  }

  async #cutTorn(): Promise<void> {
    await this.#handle.truncate(this.#written.size)
    this.#torn = false
  }

  #failed(thrown: unknown): RuntimeError {
    if (thrown instanceof RuntimeError) return thrown
    return new RuntimeError(
      'STORE_APPEND_FAILED',
      `The log of agent "${this.#agentId}" could not be written after seq ${this.#written.lastSeq}: ${messageOf(thrown)}.`,
      { cause: thrown },
    )
  }
}
