import { z } from 'zod'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool, type ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import { keepFile, type FileUndo } from './fileReceipt.ts'
import { replaceText } from './replaceText.ts'
import type { Approval } from './approval.ts'
import type { Workspace } from './port.ts'
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
    check: async (given, context) => {
      edited((await textOf(use.of(context), given.path, context)).text, given, context)
    },
    // Not idempotent: the new text may contain the old.
    effects: 'irreversible',
    ...undo?.tool,
    run: async (given, context) => {
      const { path } = given
      const { signal } = context
      const workspace = use.of(context)
      return inTurn(workspace, path, async () => {
        const before = await textOf(workspace, path, context)
        const change = edited(before.text, given, context)
        const after = new TextEncoder().encode(change.content)
        const note =
          undo === undefined ? '' : await keepFile(workspace, { path, after, by: undo.writer(context) }, context)
        await workspace.write(path, after, { signal, expect: before.hash })
        context.changed(path)
        return `Edited ${path}: ${change.count} ${change.count === 1 ? 'replacement' : 'replacements'}.\n${change.excerpt}${note}`
      })
    },
  })

const textOf = (workspace: Workspace, path: string, { signal }: { readonly signal: AbortSignal }) =>
  wholeText(workspace, path, { signal, maxBytes: maxFileBytes })

function edited(
  content: string,
  { path, oldText, newText, all = false }: EditFileInput,
  { redact }: Pick<ToolContext, 'redact'>,
): ReturnType<typeof replaceText> {
  try {
    return replaceText(content, { oldText, newText, all, clean: (text) => redact?.text(text) ?? text })
  } catch (thrown) {
    throw new Error(`${path}: ${messageOf(thrown)}`, { cause: thrown })
  }
}
