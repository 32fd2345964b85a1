import type { FileHandle } from 'node:fs/promises'
import { messageOf, RuntimeError } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'
import { checkSequence } from './checkSequence.ts'
import type { LogEnd } from './readLog.ts'

/** Most UTF-16 units of one write that calls are gathered into; one call may be larger. */
const batchChars = 4 * 1024 * 1024

/** What a log file needs of its open file: a write may take fewer bytes than given. */
export type LogFileHandle = Pick<FileHandle, 'write' | 'truncate' | 'close'>

interface Batch {
  text: string
  lastSeq: number
  readonly written: PromiseWithResolvers<void>
}

/**
 * The writing end of one agent's log, used by one writer at a time. Calls of one tick, and calls made while a write is
 * under way, share one write. A failed write is cut off again, and every call in it or waiting behind it rejects.
 */
export class LogFile {
  readonly #agentId: string
  readonly #handle: LogFileHandle
  /** The good part on disk: what reads may show. */
  #size: number
  #lastSeq: number
  /** Last seq that was taken in, written or not. */
  #takenSeq: number
  /** Bytes of a failed write may stand after `#size`. */
  #torn = false
  #waiting: Batch[] = []
  #writing: Promise<void> | undefined

  constructor(agentId: string, handle: LogFileHandle, { size, lastSeq }: LogEnd) {
    this.#agentId = agentId
    this.#handle = handle
    this.#size = size
    this.#lastSeq = lastSeq
    this.#takenSeq = lastSeq
  }

  /** Bytes of whole records, none of a write under way. */
  get size(): number {
    return this.#size
  }

  /** `seq` of the last record written. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /**
   * Appends in the order of calls; resolves when the records, and all before them, were handed to the operating system.
   * The records are read before it returns.
   *
   * Rejects with `STORE_APPEND_FAILED`; then nothing of this call was kept, and the next append starts at `lastSeq + 1`.
   */
  append(records: readonly LogRecord[]): Promise<void> {
    let text = ''
    try {
      if (checkSequence(this.#agentId, records, this.#takenSeq) === 'next')
        for (const record of records) text += `${JSON.stringify(record)}\n`
    } catch (thrown) {
      return Promise.reject(thrown instanceof RuntimeError ? thrown : this.#failed(thrown))
    }
    let batch = this.#waiting.at(-1)
    if (batch === undefined || batch.text.length > batchChars) {
      batch = { text: '', lastSeq: this.#takenSeq, written: Promise.withResolvers() }
      this.#waiting.push(batch)
    }
    if (text !== '') {
      batch.text += text
      batch.lastSeq = this.#takenSeq += records.length
    }
    this.#writing ??= this.#writeAll()
    return batch.written.promise
  }

  /** Waits for what was appended, whether it succeeds or not, and closes the file. */
  async close(): Promise<void> {
    await this.#writing
    await this.#handle.close()
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve() // calls of the same tick share the first write
    for (let batch = this.#waiting.shift(); batch !== undefined; batch = this.#waiting.shift()) {
      try {
        await this.#write(batch)
        batch.written.resolve()
      } catch (thrown) {
        this.#takenSeq = this.#lastSeq
        const error = this.#failed(thrown)
        for (const { written } of [batch, ...this.#waiting.splice(0)]) written.reject(error)
      }
    }
    this.#writing = undefined
  }

  async #write({ text, lastSeq }: Batch): Promise<void> {
    if (text === '') return
    if (this.#torn) await this.#cutTorn()
    const bytes = Buffer.from(text)
    try {
      for (let at = 0; at < bytes.length;) {
        const { bytesWritten } = await this.#handle.write(bytes, at, bytes.length - at, this.#size + at)
        if (bytesWritten === 0) throw new Error('the file takes no more bytes')
        at += bytesWritten
      }
    } catch (thrown) {
      this.#torn = true
      // When this fails as well, the next write tries again first.
      await this.#cutTorn().catch(() => undefined)
      throw thrown
    }
    this.#size += bytes.length
    this.#lastSeq = lastSeq
  }

  async #cutTorn(): Promise<void> {
    await this.#handle.truncate(this.#size)
    this.#torn = false
  }

  #failed(thrown: unknown): RuntimeError {
    return new RuntimeError(
      'STORE_APPEND_FAILED',
      `The log of agent "${this.#agentId}" could not be written after seq ${this.#lastSeq}: ${messageOf(thrown)}.`,
      { cause: thrown },
    )
  }
}
