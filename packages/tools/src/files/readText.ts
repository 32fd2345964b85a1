import type { Redaction, ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import { fileProblem } from './fileProblem.ts'
import { binaryFile, looksBinary, openRegularFile } from './openRegularFile.ts'
import { type ByteSource, readLines, type LineWindow } from './readLines.ts'
import type { Workspace } from './workspacePath.ts'

/** Maximum number of bytes of text that one call returns. */
export const maxTextBytes = 50_000

/** The requested lines, counted from 1. */
export interface AskedLines {
  readonly offset: number
  readonly limit: number
  /** The line at which the actual text begins. Earlier lines do not count as left out. Default 1. */
  readonly begin?: number
}

/**
 * Reads lines of a UTF-8 file, unchanged. A partial result begins with a line that names its range. Secrets are blanked. Contract: rejects with an
 * error written for the model.
 */
export async function readText(
  workspace: Workspace,
  path: string,
  asked: AskedLines,
  context: Pick<ToolContext, 'signal' | 'redact'>,
): Promise<string> {
  const { handle, size } = await openRegularFile(workspace, path)
  try {
    return await textOf({ path, size, handle }, asked, context)
  } catch (thrown) {
    throw fileProblem(thrown, path)
  } finally {
    await handle.close()
  }
}

/** Reads lines as `readText`, from a file that is already open. */
export async function textOf(
  { path, size, handle }: { readonly path: string; readonly size: number; readonly handle: ByteSource },
  { offset, limit, begin = 1 }: AskedLines,
  { signal, redact }: Pick<ToolContext, 'signal' | 'redact'>,
): Promise<string> {
  const lines = await readLines(handle, { first: offset, limit, maxBytes: maxTextBytes, signal })
  if (looksBinary(lines.start)) throw binaryFile(path, size)
  if (lines.total < begin) return `[${path} is empty]`
  if (offset > lines.total)
    throw new Error(`path ${JSON.stringify(path)} has ${lines.total} lines; offset ${offset} is past its end`)
  const text = decode(lines, path, size)
  return heading(lines, begin) + (redact === undefined ? text : await withoutSecrets(handle, lines, text, redact))
}

function heading({ first, last, total, cut }: LineWindow, begin: number): string {
  if (cut) return `[line ${first} of ${total}, of which only the first ${maxTextBytes} bytes are shown]\n`
  return first === begin && last === total ? '' : `[lines ${first}–${last} of ${total}]\n`
}

function decode({ bytes, cut }: LineWindow, path: string, size: number): string {
  try {
    // `stream` drops a character that was cut in half.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut })
    if (text.includes('\0')) throw new Error('NUL')
    return text
  } catch {
    throw binaryFile(path, size)
  }
}

/** Number of bytes read on each side of the lines, so that a key that crosses their edge is recognized: more than the longest key. */
const aroundBytes = 16 * 1024

/** Redacts with the surrounding bytes, since a key may start before the lines shown or end after them. */
async function withoutSecrets(
  handle: ByteSource,
  { at, bytes }: LineWindow,
  text: string,
  redact: Redaction,
): Promise<string> {
  const before = await textAt(handle, Math.max(0, at - aroundBytes), Math.min(at, aroundBytes))
  const after = await textAt(handle, at + bytes.length, aroundBytes)
  return redact.text(before + text + after, { from: before.length, to: before.length + text.length })
}

async function textAt(handle: ByteSource, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
  return buffer.toString('utf8', 0, bytesRead)
}
