import type { FileHandle } from 'node:fs/promises'

type Readable = Pick<FileHandle, 'read'>

/**
 * Maximum length of a log line in bytes, without its newline: 256 MiB. Any single message fits as JSON. The writer refuses a longer line; the reader
 * treats it as damage and does not load it.
 */
export const maxLineBytes = 256 * 1024 * 1024

const newline = 0x0a
const blockBytes = 256 * 1024

function withoutLines(bytes: Buffer, count: number): { readonly left: Buffer; readonly skipped: number } {
  let start = 0
  let skipped = 0
  while (skipped < count) {
    const at = bytes.indexOf(newline, start)
    if (at < 0) return { left: bytes.subarray(bytes.length), skipped }
    start = at + 1
    skipped += 1
  }
  return { left: bytes.subarray(start), skipped }
}

/** A line that arrives in parts. Its parts are dropped once it exceeds the limit. */
class BegunLine {
  readonly #maxBytes: number
  #parts: Buffer[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isTooLong(): boolean {
    return this.#bytes > this.#maxBytes
  }

  add(part: Buffer): void {
    this.#bytes += part.length
    if (this.isTooLong) this.#parts = []
    else if (part.length > 0) this.#parts.push(part)
  }

  /** Returns the whole line, or `undefined` if it was too long, and begins the next. */
  end(): Buffer | undefined {
    const parts = this.#parts
    const { isTooLong } = this
    this.#parts = []
    this.#bytes = 0
    if (isTooLong) return undefined
    return parts.length === 1 ? parts[0] : Buffer.concat(parts)
  }
}

/** Options for the lines to read. */
interface LineRange {
  /** Offset of the first line; default 0. */
  readonly start?: number
  readonly end: number
  readonly skip: number
  readonly maxBytes?: number
}

/**
 * Reads the lines of a file up to byte `end`, a block at a time. Each array holds the lines completed by a block, without newlines, with `undefined`
 * for a line of more than `maxBytes`, which is never loaded. Skips the first `skip` lines and leaves out bytes after the last newline.
 */
export async function* readLines(
  file: Readable,
  { start: from = 0, end, skip, maxBytes = maxLineBytes }: LineRange,
): AsyncGenerator<readonly (Buffer | undefined)[], void, undefined> {
  let toSkip = skip
  const begun = new BegunLine(maxBytes)
  let block: Buffer | undefined
  for (let position = from; position < end;) {
    const length = Math.min(blockBytes, end - position)
    block ??= Buffer.allocUnsafe(length)
    const { bytesRead } = await file.read(block, 0, length, position)
    if (bytesRead === 0) return
    position += bytesRead
    const { left, skipped } = withoutLines(block.subarray(0, bytesRead), toSkip)
    toSkip -= skipped
    const lines: (Buffer | undefined)[] = []
    let start = 0
    for (let at = left.indexOf(newline); at >= 0; at = left.indexOf(newline, start)) {
      begun.add(left.subarray(start, at))
      lines.push(begun.end())
      start = at + 1
    }
    begun.add(left.subarray(start))
    // Lines are slices of their block, so only a block without any is reused.
    if (lines.length > 0 || !begun.isTooLong) block = undefined
    if (lines.length > 0) yield lines
  }
}

/** Returns the offset after the first `count` lines; the end of the file if it has fewer. */
export async function offsetOfLine(file: Readable, count: number): Promise<number> {
  let position = 0
  for (let left = count; left > 0;) {
    const block = await readBytes(file, position, position + blockBytes)
    if (block.length === 0) break
    const rest = withoutLines(block, left)
    left -= rest.skipped
    position += block.length - rest.left.length
  }
  return position
}

/** Returns the offset at which the last `count` lines before `end` begin; 0 if there are not more. `end` follows a newline. */
export async function offsetFromEnd(file: Readable, end: number, count: number): Promise<number> {
  let left = count + 1
  for (let before = end; before > 0;) {
    const start = Math.max(0, before - blockBytes)
    const block = await readBytes(file, start, before)
    for (let at = block.lastIndexOf(newline); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(newline, at - 1)) {
      left -= 1
      if (left === 0) return start + at + 1
    }
    before = start
  }
  return 0
}

/** Returns the offset of the last newline before byte `before`, or -1. Reads backwards, so it is fast for a long file. */
export async function lastNewline(file: Readable, before: number): Promise<number> {
  for (let end = before; end > 0;) {
    const start = Math.max(0, end - blockBytes)
    const at = (await readBytes(file, start, end)).lastIndexOf(newline)
    if (at >= 0) return start + at
    end = start
  }
  return -1
}

/** Returns the bytes from `start` to `end`, exclusive; fewer if the file is shorter. */
export async function readBytes(file: Readable, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(end - start)
  let length = 0
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, start + length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return bytes.subarray(0, length)
}
