import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { inTurn } from './pathQueue.ts'
import { fileProblem } from '../../../../src/actors/files/fileProblem.ts'
import { asBefore } from './asBefore.ts'
import { keepFile, type FileUndo } from './fileReceipt.ts'
import { replaceFile } from './replaceFile.ts'
import type { Approval } from './approval.ts'
import type { Workspace } from '../../../../src/actors/files/workspacePath.ts'

const input = lazily(() =>
  z.object({
    path: z.string().min(1).describe('File, relative to the workspace.'),
    content: z.string().describe('The whole new content.'),
  }),
)
export type WriteFileInput = z.output<ReturnType<typeof input>>

/** Creates `write_file`: creates or replaces a whole file, and its folders if necessary. */
export const writeFileTool = (workspace: Workspace, needsApproval: Approval<WriteFileInput>, undo?: FileUndo) =>
  defineTool({
    name: 'write_file',
    description:
      'Create a file of the workspace, or replace one as a whole, as UTF-8; missing folders are created. To change a part ' +
      'of a file use edit_file.',
    input: input(),
    canonical: (given) => ({ ...given, path: workspace.spell(given.path, 'file') }),
    subject: ({ path }) => ({ path }),
    needsApproval,
    effects: 'idempotent',
    ...undo,
    run: async ({ path, content: given }, context) => {
      const { signal } = context
      const real = await workspace.locate(path)
      if (real === workspace.root) throw new Error(`path ${JSON.stringify(path)} is the workspace itself, not a file`)
      return inTurn(real, async () => {
        signal.throwIfAborted()
        try {
          const made = await mkdir(dirname(real), { recursive: true })
          if ((await workspace.locate(path)) !== real)
            throw new Error(`path ${JSON.stringify(path)} changed its place meanwhile; try again`)
          const { content, note: kept } = await asBefore(real, given)
          const note = undo === undefined ? '' : await keepFile(workspace, { real, after: content, made }, context)
          const before = await replaceFile(real, content, signal)
          context.changed(workspace.show(real))
          const now = `${Buffer.byteLength(content)} bytes, ${countLines(content)} lines`
          return before === undefined
            ? `Created ${path}: ${now}.${note}`
            : `Overwrote ${path}: ${now} (was ${before.size} bytes).${kept}${note}`
        } catch (thrown) {
          throw fileProblem(thrown, path)
        }
      })
    },
  })

const countLines = (text: string): number => {
  const ends = text.split('\n').length - 1
  return text === '' || text.endsWith('\n') ? ends : ends + 1
}
