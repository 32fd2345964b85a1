import { z } from 'zod'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { keepFile, type FileUndo } from './fileReceipt.ts'
import { replaceText } from './replaceText.ts'
import type { Approval } from './approval.ts'
import { wholeText } from './textFile.ts'
import { inTurn, type WorkspaceUse } from './workspaceUse.ts'

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
export const editFileTool = (use: WorkspaceUse, needsApproval: Approval<EditFileInput>, undo?: FileUndo) =>
  defineTool({
    name: 'edit_file',
    description:
      'Replace text in a UTF-8 file of the workspace. oldText must occur exactly once unless all is true: include enough ' +
      'surrounding lines. Line endings are kept as the file has them. Files up to 10 MB.',
    input: input(),
    canonical: (given) => ({ ...given, path: use.spell(given.path, 'file') }),
    subject: ({ path }) => ({ path }),
    needsApproval,
    // Not idempotent: the new text may contain the old.
    effects: 'irreversible',
    ...undo?.tool,
    run: async ({ path, oldText, newText, all = false }, context) => {
      const { signal } = context
      const workspace = use.of(context)
      return inTurn(workspace, path, async () => {
        const before = await wholeText(workspace, path, { signal, maxBytes: maxFileBytes })
        const change = edited(before.text, path, {
          oldText,
          newText,
          all,
          clean: (text) => context.redact?.text(text) ?? text,
        })
        const after = new TextEncoder().encode(change.content)
        const note = undo === undefined ? '' : await keepFile(workspace, { path, after, tree: undo.tree }, context)
        await workspace.write(path, after, { signal, expect: before.hash })
        context.changed(path)
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
