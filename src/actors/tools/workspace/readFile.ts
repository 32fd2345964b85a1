import { z } from 'zod'
import { lazily } from '../../../protocol/lazily.ts'
import type { FileHandle } from 'node:fs/promises'
import { defineTool, type Redaction } from '../defineTool.ts'
import { fileProblem } from './fileProblem.ts'
import { binaryFile, looksBinary, openRegularFile } from './openRegularFile.ts'
import { readLines, type LineWindow } from './readLines.ts'
import type { Approval } from './approval.ts'
import type { Workspace } from './workspacePath.ts'

/** Most bytes of text that one call returns. */
const maxBytes = 50_000

const input = lazily(() =>
  z.object({
    path: z.string().min(1).describe('File, relative to the workspace.'),
    offset: z.int().positive().optional().describe('First line to read, from 1. Default 1.'),
    limit: z.int().positive().optional().describe('Most lines to read. Default: as many as fit.'),
  }),
)
export type ReadFileInput = z.output<ReturnType<typeof input>>

/** Creates `read_file`: returns a file's text unchanged, or a part of it headed by a line that says which. */
export const readFileTool = (workspace: Workspace, needsApproval: Approval<ReadFileInput>) =>
  defineTool({
    name: 'read_file',
    description:
      'Read a UTF-8 text file of the workspace. At most 50 kB come back; a partial answer starts with a line in brackets ' +
      'that says which lines it holds, e.g. [lines 1–200 of 950]: read on with offset. Binary files are refused.',
    input: input(),
    needsApproval,
    effects: 'none',
    maxOutputChars: maxBytes + 1000,
    run: async ({ path, offset = 1, limit = Infinity }, { signal, redact }) => {
      const { handle, size } = await openRegularFile(workspace, path)
      try {
        const lines = await readLines(handle, { first: offset, limit, maxBytes, signal })
        if (looksBinary(lines.start)) throw binaryFile(path, size)
        if (lines.total === 0) return `[${path} is empty]`
        if (offset > lines.total)
          throw new Error(`path ${JSON.stringify(path)} has ${lines.total} lines; offset ${offset} is past its end`)
        const text = decode(lines, path, size)
        return heading(lines) + (redact === undefined ? text : await withoutSecrets(handle, lines, text, redact))
      } catch (thrown) {
        throw fileProblem(thrown, path)
      } finally {
        await handle.close()
      }
    },
  })

function heading({ first, last, total, cut }: LineWindow): string {
  if (cut) return `[line ${first} of ${total}, of which only the first ${maxBytes} bytes are shown]\n`
  return first === 1 && last === total ? '' : `[lines ${first}–${last} of ${total}]\n`
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

/** Bytes read on each side of the lines, so that a key that crosses their edge is recognised: more than the longest key. */
const aroundBytes = 16 * 1024

/** Redacts with the surrounding bytes, since a key may start before the lines shown or end after them. */
async function withoutSecrets(
  handle: FileHandle,
  { at, bytes }: LineWindow,
  text: string,
  redact: Redaction,
): Promise<string> {
  const before = await textAt(handle, Math.max(0, at - aroundBytes), Math.min(at, aroundBytes))
  const after = await textAt(handle, at + bytes.length, aroundBytes)
  return redact.text(before + text + after, { from: before.length, to: before.length + text.length })
}

async function textAt(handle: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
  return buffer.toString('utf8', 0, bytesRead)
}
