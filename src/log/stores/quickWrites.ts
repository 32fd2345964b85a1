import type { Clock } from '../../protocol/ports/clock.ts'

/** Most bytes that are written at once. */
const mostBytes = 64 * 1024

/** A write that takes this many milliseconds is slow: it blocks the whole process meanwhile. */
const slowMs = 5

/** How many writes go through the thread pool after a slow one. */
const detour = 200

/** Writes bytes of a file before it returns; may take fewer than given. */
export type WriteSync = (bytes: Buffer, offset: number, length: number, position: number) => number

/** UTF-8 takes one to three bytes for a UTF-16 unit, so few texts need to be measured. */
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

  /** `clock` tells which writes are slow. */
  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns true if this text is to be written at once; asked once for each. */
  allows(text: string): boolean {
    if (!isShort(text)) return false
    if (this.#left === 0) return true
    this.#left -= 1
    return false
  }

  /** Writes the text at byte `position`, and returns how many bytes it has. Throws when not all of them were taken. */
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
