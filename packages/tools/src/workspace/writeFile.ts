import { z } from 'zod'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { asBefore, shownBytes } from './asBefore.ts'
import { keepFile, type FileUndo } from './fileReceipt.ts'
import type { Approval } from './approval.ts'
import type { Workspace, WorkspaceFile } from './port.ts'
import { inTurn, type WorkspaceUse } from './workspaceUse.ts'

const input = lazily(() =>
  z.object({
    path: z.string().min(1).describe('File, relative to the workspace.'),
    content: z.string().describe('The whole new content.'),
  }),
)
export type WriteFileInput = z.output<ReturnType<typeof input>>

/** Creates `write_file`: creates or replaces a whole file, and its folders if necessary. */
export const writeFileTool = (use: WorkspaceUse, needsApproval: Approval<WriteFileInput>, undo?: FileUndo) =>
  defineTool({
    name: 'write_file',
    description:
      'Create a file of the workspace, or replace one as a whole, as UTF-8; missing folders are created. To change a part ' +
      'of a file use edit_file.',
    input: input(),
    canonical: (given) => ({ ...given, path: use.spell(given.path, 'file') }),
    subject: ({ path }) => ({ path }),
    needsApproval,
    check: async ({ path }, context) => {
      await replaced(use.of(context), path, context.signal)
    },
    effects: 'idempotent',
    ...undo?.tool,
    run: async ({ path, content: given }, context) => {
      const { signal } = context
      const workspace = use.of(context)
      return inTurn(workspace, path, async () => {
        const before = await replaced(workspace, path, signal)
        const { content, note: kept } = asBefore(before?.bytes ?? new Uint8Array(), given)
        const bytes = new TextEncoder().encode(content)
        const note =
          undo === undefined ? '' : await keepFile(workspace, { path, after: bytes, by: undo.writer(context) }, context)
        await workspace.write(path, bytes, { signal })
        context.changed(path)
        const now = `${bytes.length} bytes, ${countLines(content)} lines`
        return before === null
          ? `Created ${path}: ${now}.${note}`
          : `Overwrote ${path}: ${now} (was ${before.size} bytes).${kept}${note}`
      })
    },
  })

/** Returns the file that is about to be written; `null` for a new one. Rejects if the path cannot be a file. */
async function replaced(workspace: Workspace, path: string, signal: AbortSignal): Promise<WorkspaceFile | null> {
  if (path === '.') throw new Error(`path ${JSON.stringify(path)} is the workspace itself, not a file`)
  return workspace.read(path, { signal, maxBytes: shownBytes })
}

const countLines = (text: string): number => {
  const ends = text.split('\n').length - 1
  return text === '' || text.endsWith('\n') ? ends : ends + 1
}
