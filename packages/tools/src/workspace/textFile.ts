import { createHash } from 'node:crypto'
import { binaryFile, looksBinary, missingFile } from '../files/openRegularFile.ts'
import type { ByteSource } from '../files/readLines.ts'
import { baseName, folderOf } from './paths.ts'
import type { Workspace, WorkspaceFile } from './port.ts'

/** Number of bytes of a file that are read at a time. */
const windowBytes = 4 * 1024 * 1024

/** Reads a part of a file. Rejects with an error for the model if the file is missing, naming similar files. */
export async function readPart(
  workspace: Workspace,
  path: string,
  options: { readonly signal: AbortSignal; readonly maxBytes: number },
): Promise<WorkspaceFile> {
  return (await workspace.read(path, options)) ?? Promise.reject(await missing(workspace, path, options.signal))
}

async function missing(workspace: Workspace, path: string, signal: AbortSignal): Promise<Error> {
  const folder = folderOf(path)
  let names: string[] | undefined = []
  try {
    for await (const entry of workspace.list(folder, { signal, limit: 10_000, deep: false })) names.push(entry.path)
  } catch {
    signal.throwIfAborted()
    names = undefined
  }
  return missingFile(path, { folder, name: baseName(path), names })
}

/** Returns a source of bytes for a file of any size, read in windows. Each window is from one state of the file. */
export async function byteSource(
  workspace: Workspace,
  path: string,
  signal: AbortSignal,
): Promise<ByteSource & { readonly size: number }> {
  const first = await readPart(workspace, path, { signal, maxBytes: windowBytes })
  let window = { at: 0, bytes: first.bytes }
  let next = 0
  const windowAt = async (at: number, maxBytes: number): Promise<Uint8Array> => {
    const isIn = at >= window.at && at < window.at + window.bytes.length
    if (!isIn && at < first.size) {
      const part = await workspace.read(path, { signal, maxBytes, offset: at })
      window = { at, bytes: part?.bytes ?? new Uint8Array() }
    }
    return window.bytes.subarray(at - window.at)
  }
  return {
    size: first.size,
    async read(buffer, offset, length, position) {
      const at = position ?? next
      const piece = (
        at < first.size ? await windowAt(at, position === null ? windowBytes : length) : new Uint8Array()
      ).subarray(0, length)
      buffer.set(piece, offset)
      if (position === null) next += piece.length
      return { bytesRead: piece.length, buffer }
    },
  }
}

/** Reads a whole UTF-8 file of at most `maxBytes`, with its hash. Rejects with an error for the model. */
export async function wholeText(
  workspace: Workspace,
  path: string,
  { signal, maxBytes }: { readonly signal: AbortSignal; readonly maxBytes: number },
): Promise<{ readonly text: string; readonly hash: string }> {
  const { bytes, size } = await readPart(workspace, path, { signal, maxBytes })
  if (size > maxBytes)
    throw new Error(`path ${JSON.stringify(path)} is too large to edit (${size} bytes, at most ${maxBytes})`)
  if (looksBinary(bytes)) throw binaryFile(path, size)
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { text, hash: hashOf(bytes) }
  } catch {
    throw binaryFile(path, size)
  }
}

export const hashOf = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export interface FileNow {
  readonly hash: string
  readonly mode: number
  readonly size: number
  /** Content of the file; left out if the file is larger than requested. */
  readonly bytes?: Uint8Array
}

/** Returns the state of a file; `null` if there is none. Rejects for anything but a regular file. */
export async function fileNow(
  workspace: Workspace,
  path: string,
  { signal, maxBytes }: { readonly signal: AbortSignal; readonly maxBytes: number },
): Promise<FileNow | null> {
  const first = await workspace.read(path, { signal, maxBytes: Math.max(maxBytes, windowBytes) })
  if (first === null) return null
  const { bytes, size, mode } = first
  if (size <= maxBytes) return { hash: hashOf(bytes), mode, size, bytes }
  const hash = createHash('sha256').update(bytes)
  for (let at = bytes.length; at < size;) {
    const part = await workspace.read(path, { signal, maxBytes: windowBytes, offset: at })
    if (part === null || part.bytes.length === 0) break
    hash.update(part.bytes)
    at += part.bytes.length
  }
  return { hash: hash.digest('hex'), mode, size }
}
