/** A source of bytes with the `read` of an open file: `position: null` continues after the last such read. */
export interface ByteSource {
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number | null,
  ): Promise<{ readonly bytesRead: number; readonly buffer: Buffer }>
}

/** The bytes of some lines of a file, and their position. Lines count from 1; `last` is `first - 1` if there are none. */
export interface LineWindow {
  readonly bytes: Uint8Array
  /** Offset of the bytes in the file. */
  readonly at: number
  readonly first: number
  readonly last: number
  /** Number of lines in the file. A newline at the end does not start another. */
  readonly total: number
  /** True if line `last` alone did not fit, and `bytes` holds only its beginning. */
  readonly cut: boolean
  /** The file's first bytes, at least 8 kB if it is that long, to tell text from binary data. */
  readonly start: Uint8Array
}

const chunkBytes = 256 * 1024
const newline = 10

/**
 * Reads up to `limit` lines from line `first`, limited to those that fit in `maxBytes`. The rest of the file is
 * counted but never loaded. Contract: rejects with the signal's reason when it aborts. Does not close the handle.
 */
export async function readLines(
  handle: ByteSource,
  { first, limit, maxBytes, signal }: { first: number; limit: number; maxBytes: number; signal: AbortSignal },
): Promise<LineWindow> {
  const chunk = Buffer.allocUnsafe(chunkBytes)
  const kept = new KeptLines(maxBytes)
  let start: Uint8Array | undefined
  let line = 1
  let atLineStart = true
  let position = 0
  let keptAt = 0
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(chunk, 0, chunkBytes, null)
    if (bytesRead === 0) break
    const read = chunk.subarray(0, bytesRead)
    start ??= Uint8Array.from(read.subarray(0, 8192))
    for (let at = 0; at < bytesRead;) {
      const found = read.indexOf(newline, at)
      const end = found === -1 ? bytesRead : found + 1
      if (line < first) keptAt = position + end
      else if (line - first < limit) kept.add(read.subarray(at, end), found !== -1)
      atLineStart = found !== -1
      if (atLineStart) line++
      at = end
    }
    position += bytesRead
  }
  const { bytes, lines, cut } = kept.end()
  return {
    bytes,
    at: keptAt,
    first,
    last: first + lines - 1,
    total: atLineStart ? line - 1 : line,
    cut,
    start: start ?? new Uint8Array(),
  }
}

/** Collects whole lines up to a number of bytes. If the first line is longer, it collects only its beginning. */
class KeptLines {
  readonly #maxBytes: number
  readonly #pieces: Uint8Array[] = []
  #size = 0
  #whole = 0
  #lines = 0
  #full = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(piece: Uint8Array, endsLine: boolean): void {
    if (this.#full) return
    const room = this.#maxBytes - this.#size
    this.#full = piece.length > room
    const fits = Uint8Array.from(piece.subarray(0, room))
    this.#pieces.push(fits)
    this.#size += fits.length
    if (endsLine && !this.#full) {
      this.#whole = this.#size
      this.#lines++
    }
  }

  end(): { bytes: Uint8Array; lines: number; cut: boolean } {
    const all = Buffer.concat(this.#pieces)
    if (!this.#full) return { bytes: all, lines: this.#lines + (this.#size > this.#whole ? 1 : 0), cut: false }
    return this.#lines > 0
      ? { bytes: all.subarray(0, this.#whole), lines: this.#lines, cut: false }
      : { bytes: all, lines: 1, cut: true }
  }
}
