import { z } from 'zod'
import { hasCode } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { compileGlob } from '../../../../src/actors/parts/permissions/matchGlob.ts'
import { ignoredFolders } from '../files/walkFiles.ts'
import type { Approval } from './approval.ts'
import { inFolder } from './paths.ts'
import type { WorkspaceEntry } from './port.ts'
import type { WorkspaceUse } from './workspaceUse.ts'

/** Maximum number of files visited; any beyond that are not even counted. */
const maxVisited = 200_000

const input = lazily(() =>
  z.object({
    path: z.string().min(1).optional().describe('Folder to list, relative to the workspace. Default: all of it.'),
    pattern: z
      .string()
      .min(1)
      .optional()
      .describe('Glob, e.g. "*.ts" (a name in any folder) or "src/**/*.{ts,tsx}" (a path).'),
    limit: z.int().positive().max(5000).optional().describe('Most files to list. Default 500.'),
  }),
)
export type ListFilesInput = z.output<ReturnType<typeof input>>

/** Creates `list_files`: lists the files of a folder recursively, sorted, as paths the other tools accept. */
export const listFilesTool = (use: WorkspaceUse, needsApproval: Approval<ListFilesInput>) =>
  defineTool({
    name: 'list_files',
    description:
      'List the files of the workspace or of one folder, recursively, one path a line, sorted. .git, node_modules and .escapement are left ' +
      'out unless path is inside them; symbolic links are marked (link) and not followed.',
    input: input(),
    canonical: ({ path, ...given }) => (path === undefined ? given : { ...given, path: use.spell(path, 'folder') }),
    subject: ({ path = '.' }) => ({ path }),
    needsApproval,
    effects: 'none',
    maxOutputChars: 100_000,
    run: async ({ path = '.', pattern, limit = 500 }, context) => {
      const matches = pattern === undefined ? () => true : compileGlob(pattern)
      const shown: string[] = []
      let found = 0
      let visited = 0
      for (const entry of await entriesIn(use, path, context)) {
        if (++visited > maxVisited) break
        const name = inFolder(path, entry.path)
        if (!matches(name) && !matches(entry.path)) continue
        if (++found <= limit) shown.push(entry.type === 'link' ? `${name} (link)` : name)
      }
      if (found === 0) return pattern === undefined ? `[no files in ${path}]` : `[no files match ${pattern} in ${path}]`
      if (found > shown.length || visited > maxVisited) {
        const total = visited > maxVisited ? `more than ${found}` : `${found}`
        shown.push(`[truncated: ${shown.length} of ${total} files; narrow it with path or pattern, or raise limit]`)
      }
      return shown.join('\n')
    },
  })

/** Returns the files and links below a folder, sorted by path: one more than are visited, if there are more. */
async function entriesIn(
  use: WorkspaceUse,
  path: string,
  context: Parameters<WorkspaceUse['of']>[0] & { readonly signal: AbortSignal },
): Promise<readonly WorkspaceEntry[]> {
  const options = { signal: context.signal, limit: maxVisited + 1, deep: true, skip: ignoredFolders }
  const found: WorkspaceEntry[] = []
  try {
    for await (const entry of use.of(context).list(path, options)) found.push(entry)
  } catch (thrown) {
    throw hasCode(thrown, 'WORKSPACE_KIND')
      ? new Error(`path ${JSON.stringify(path)} is a file, not a folder; use read_file`, { cause: thrown })
      : thrown
  }
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
