import type { Clock } from '../../../src/protocol/ports/clock.ts'

/** Maximum number of bytes that are written synchronously. */
const mostBytes = 64 * 1024

/** Duration in milliseconds from which a write counts as slow. It blocks the whole process meanwhile. */
const slowMs = 5

/** Number of writes that go through the thread pool after a slow one. */
const detour = 200

/** Writes bytes to a file synchronously. May take fewer than given. */
export type WriteSync = (bytes: Buffer, offset: number, length: number, position: number) => number

/** Returns true if a text is short. UTF-8 takes one to three bytes per UTF-16 unit, so few texts need to be measured. */
const isShort = (text: string): boolean =>
  text.length <= mostBytes / 3 || (text.length <= mostBytes && Buffer.byteLength(text) <= mostBytes)

/**
 * Writes short texts to the files of one store synchronously: handing them to the operating system takes microseconds, a trip
 * through the thread pool ten times that. After a slow one (a network file system, an overloaded disk) the next few go through the
 * thread pool, so that a slow disk blocks the process for few of its writes.
 */
export class QuickWrites {
  readonly #clock: Clock
  #bytes: Buffer | undefined
  #left = 0

  /** `clock` measures which writes are slow. */
  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns true if this text is to be written synchronously. Must be called once for each text. */
  allows(text: string): boolean {
    if (!isShort(text)) return false
    if (this.#left === 0) return true
    this.#left -= 1
    return false
  }

  /** Writes the text at byte `position`, and returns its number of bytes. Throws if not all of them were taken. */
  write(writeSync: WriteSync, text: string, position: number): number {
    // It is in use only until this returns, so one will do for all files.
    const bytes = (this.#bytes ??= Buffer.allocUnsafeSlow(mostBytes))
    const length = bytes.write(text)
    const begun = this.#clock.now()
    const taken = writeSync(bytes, 0, length, position)
    if (this.#clock.now() - begun >= slowMs) this.#left = detour
    if (taken < length) throw new Error('the file takes no more bytes')
    return length
  }
}
