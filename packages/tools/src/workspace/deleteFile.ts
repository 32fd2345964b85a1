import { z } from 'zod'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import type { Approval } from './approval.ts'
import { keepFile, type FileUndo } from './fileReceipt.ts'
import { readPart } from './textFile.ts'
import { inTurn, type WorkspaceUse } from './workspaceUse.ts'

const input = lazily(() => z.object({ path: z.string().min(1).describe('File, relative to the workspace.') }))
export type DeleteFileInput = z.output<ReturnType<typeof input>>

/** Creates `delete_file`: deletes a file that an undo can bring back. */
export const deleteFileTool = (use: WorkspaceUse, needsApproval: Approval<DeleteFileInput>, undo: FileUndo) =>
  defineTool({
    name: 'delete_file',
    description: 'Delete a file of the workspace. Folders are not deleted.',
    input: input(),
    canonical: (given) => ({ ...given, path: use.spell(given.path, 'file') }),
    subject: ({ path }) => ({ path }),
    needsApproval,
    check: async ({ path }, context) => {
      await readPart(use.of(context), path, { signal: context.signal, maxBytes: 1 })
    },
    ...undo.tool,
    run: async ({ path }, context) => {
      const { signal } = context
      const workspace = use.of(context)
      return inTurn(workspace, path, async () => {
        await readPart(workspace, path, { signal, maxBytes: 1 })
        const note = await keepFile(workspace, { path, after: null, by: undo.writer(context) }, context)
        await workspace.remove(path, { signal })
        context.changed(path)
        return `Deleted ${path}.${note}`
      })
    },
  })
