import { stat } from 'node:fs/promises'
import { z } from 'zod'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { fileProblem } from '../../../../src/actors/files/fileProblem.ts'
import { compileGlob } from '../../../../src/actors/files/matchGlob.ts'
import { walkFiles } from '../../../../src/actors/files/walkFiles.ts'
import type { Approval } from './approval.ts'
import type { Workspace } from '../../../../src/actors/files/workspacePath.ts'

/** Most files visited; any beyond that are not even counted. */
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
export const listFilesTool = (workspace: Workspace, needsApproval: Approval<ListFilesInput>) =>
  defineTool({
    name: 'list_files',
    description:
      'List the files of the workspace or of one folder, recursively, one path a line, sorted. .git, node_modules and .escapement are left ' +
      'out unless path is inside them; symbolic links are marked (link) and not followed.',
    input: input(),
    canonical: ({ path, ...given }) =>
      path === undefined ? given : { ...given, path: workspace.spell(path, 'folder') },
    subject: ({ path = '.' }) => ({ path }),
    needsApproval,
    effects: 'none',
    maxOutputChars: 100_000,
    run: async ({ path = '.', pattern, limit = 500 }, { signal }) => {
      const folder = await workspace.locate(path)
      const stats = await stat(folder).catch((thrown: unknown) => {
        throw fileProblem(thrown, path)
      })
      if (!stats.isDirectory()) throw new Error(`path ${JSON.stringify(path)} is a file, not a folder; use read_file`)
      const matches = pattern === undefined ? () => true : compileGlob(pattern)
      const prefix = folder === workspace.root ? '' : `${workspace.show(folder)}/`
      const shown: string[] = []
      let found = 0
      let visited = 0
      for await (const file of walkFiles(folder, signal)) {
        if (++visited > maxVisited) break
        const name = prefix + file.path
        if (!matches(name) && !matches(file.path)) continue
        if (++found <= limit) shown.push(file.isLink ? `${name} (link)` : name)
      }
      if (found === 0) return pattern === undefined ? `[no files in ${path}]` : `[no files match ${pattern} in ${path}]`
      if (found > shown.length || visited > maxVisited) {
        const total = visited > maxVisited ? `more than ${found}` : `${found}`
        shown.push(`[truncated: ${shown.length} of ${total} files; narrow it with path or pattern, or raise limit]`)
      }
      return shown.join('\n')
    },
  })
