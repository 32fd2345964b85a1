import type { FileHandle } from 'node:fs/promises'

type Readable = Pick<FileHandle, 'read'>

const newline = 0x0a
const blockBytes = 64 * 1024

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

/**
 * Reads the lines of a file up to byte `end`, a block at a time: each array holds the lines that became whole with it.
 * The first `skip` lines are passed over undecoded; what follows the last newline is left out.
 */
export async function* readLines(
  file: Readable,
  { end, skip }: { readonly end: number; readonly skip: number },
): AsyncGenerator<readonly string[], void, undefined> {
  let toSkip = skip
  let begun: Buffer[] = []
  for (let position = 0; position < end;) {
    const block = Buffer.allocUnsafe(Math.min(blockBytes, end - position))
    const { bytesRead } = await file.read(block, 0, block.length, position)
    if (bytesRead === 0) return
    position += bytesRead
    const { left, skipped } = withoutLines(block.subarray(0, bytesRead), toSkip)
    toSkip -= skipped
    const last = left.lastIndexOf(newline)
    if (last < 0) {
      begun.push(left)
      continue
    }
    const lines = Buffer.concat([...begun, left.subarray(0, last)])
    begun = [left.subarray(last + 1)]
    yield lines.toString('utf8').split('\n')
  }
}

/** Offset of the byte after the first `count` lines; the end of the file when it has fewer. */
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

/** Offset of the last newline before byte `before`, or -1. Reads backwards, so the end of a long file is found at once. */
export async function lastNewline(file: Readable, before: number): Promise<number> {
  for (let end = before; end > 0;) {
    const start = Math.max(0, end - blockBytes)
    const at = (await readBytes(file, start, end)).lastIndexOf(newline)
    if (at >= 0) return start + at
    end = start
  }
  return -1
}

/** The bytes from `start` to before `end`; fewer when the file is shorter. */
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
