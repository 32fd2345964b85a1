import { z } from 'zod'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { inTurn } from './pathQueue.ts'
import { fileProblem } from '../../../../src/actors/files/fileProblem.ts'
import { binaryFile, looksBinary, openRegularFile } from '../../../../src/actors/files/openRegularFile.ts'
import { keepFile, type FileUndo } from './fileReceipt.ts'
import { replaceFile } from './replaceFile.ts'
import { replaceText } from './replaceText.ts'
import type { Approval } from './approval.ts'
import type { Workspace } from '../../../../src/actors/files/workspacePath.ts'

const maxFileBytes = 10 * 1024 * 1024

const input = lazily(() =>
  z.object({
    path: z.string().min(1).describe('File, relative to the workspace.'),
    oldText: z.string().describe('Text to replace, exactly as it is in the file, white space included.'),
    newText: z.string().describe('Text to put in its place.'),
    all: z.boolean().optional().describe('Replace every occurrence. Default false: it must occur exactly once.'),
  }),
)
export type EditFileInput = z.output<ReturnType<typeof input>>

/** Creates `edit_file`: replaces exact text in a file and shows the changed lines. */
export const editFileTool = (workspace: Workspace, needsApproval: Approval<EditFileInput>, undo?: FileUndo) =>
  defineTool({
    name: 'edit_file',
    description:
      'Replace text in a UTF-8 file of the workspace. oldText must occur exactly once unless all is true: include enough ' +
      'surrounding lines. Line endings are kept as the file has them. Files up to 10 MB.',
    input: input(),
    canonical: (given) => ({ ...given, path: workspace.spell(given.path, 'file') }),
    subject: ({ path }) => ({ path }),
    needsApproval,
    // Not idempotent: the new text may contain the old.
    effects: 'irreversible',
    ...undo,
    run: async ({ path, oldText, newText, all = false }, context) => {
      const { signal } = context
      const real = await workspace.locate(path)
      return inTurn(real, async () => {
        signal.throwIfAborted()
        const change = edited(await readText(workspace, path, real), path, {
          oldText,
          newText,
          all,
          clean: (text) => context.redact?.text(text) ?? text,
        })
        const after = change.content
        const note = undo === undefined ? '' : await keepFile(workspace, { real, after }, context)
        await replaceFile(real, after, signal).catch((thrown: unknown) => {
          throw fileProblem(thrown, path)
        })
        context.changed(workspace.show(real))
        return `Edited ${path}: ${change.count} ${change.count === 1 ? 'replacement' : 'replacements'}.\n${change.excerpt}${note}`
      })
    },
  })

function edited(
  content: string,
  path: string,
  edit: Parameters<typeof replaceText>[1],
): ReturnType<typeof replaceText> {
  try {
    return replaceText(content, edit)
  } catch (thrown) {
    throw new Error(`${path}: ${messageOf(thrown)}`, { cause: thrown })
  }
}

async function readText(workspace: Workspace, path: string, expected: string): Promise<string> {
  const { handle, size, real } = await openRegularFile(workspace, path)
  try {
    if (real !== expected) throw new Error(`path ${JSON.stringify(path)} changed its place meanwhile; try again`)
    if (size > maxFileBytes)
      throw new Error(`path ${JSON.stringify(path)} is too large to edit (${size} bytes, at most ${maxFileBytes})`)
    const bytes = await handle.readFile()
    if (looksBinary(bytes)) throw binaryFile(path, size)
    return decode(bytes, path)
  } catch (thrown) {
    throw fileProblem(thrown, path)
  } finally {
    await handle.close()
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw binaryFile(path, bytes.length)
  }
}
