import { lstat, unlink } from 'node:fs/promises'
import { z } from 'zod'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import type { Approval } from './approval.ts'
import { fileProblem } from '../../../../src/actors/files/fileProblem.ts'
import { keepFile, type FileUndo } from './fileReceipt.ts'
import { inItsFolder } from './inItsFolder.ts'
import { inTurn } from './pathQueue.ts'
import type { Workspace } from '../../../../src/actors/files/workspacePath.ts'

const input = lazily(() => z.object({ path: z.string().min(1).describe('File, relative to the workspace.') }))
export type DeleteFileInput = z.output<ReturnType<typeof input>>

/** Creates `delete_file`: deletes a file that an undo can bring back. */
export const deleteFileTool = (workspace: Workspace, needsApproval: Approval<DeleteFileInput>, undo: FileUndo) =>
  defineTool({
    name: 'delete_file',
    description: 'Delete a file of the workspace. Folders are not deleted.',
    input: input(),
    canonical: (given) => ({ ...given, path: workspace.spell(given.path, 'file') }),
    subject: ({ path }) => ({ path }),
    needsApproval,
    ...undo,
    run: async ({ path }, context) => {
      const real = await workspace.locate(path)
      return inTurn(real, async () => {
        context.signal.throwIfAborted()
        try {
          if ((await lstat(real)).isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
          const note = await keepFile(workspace, { real, after: null }, context)
          await inItsFolder(real, unlink)
          context.changed(workspace.show(real))
          return `Deleted ${path}.${note}`
        } catch (thrown) {
          throw fileProblem(thrown, path)
        }
      })
    },
  })
