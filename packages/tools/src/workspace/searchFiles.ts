import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool, type Redaction } from '../../../../src/actors/tools/defineTool.ts'
import { fileProblem } from '../../../../src/actors/files/fileProblem.ts'
import { compileGlob } from '../../../../src/actors/files/matchGlob.ts'
import type { SearchMatch, SearchMessage, SearchRequest } from './searchIn.ts'
import { searchWorkerUrl } from './searchWorkerUrl.ts'
import type { Approval } from './approval.ts'
import type { Workspace } from '../../../../src/actors/files/workspacePath.ts'

const timeoutMs = 20_000
/** Characters of context for redaction: a key may start several lines before the one shown. */
const aroundChars = 8 * 1024

const input = lazily(() =>
  z.object({
    pattern: z.string().min(1).describe('JavaScript regular expression, matched line by line.'),
    path: z
      .string()
      .min(1)
      .optional()
      .describe('File or folder to search, relative to the workspace. Default: all of it.'),
    glob: z.string().min(1).optional().describe('Only files that match, e.g. "*.ts" or "src/**/*.ts".'),
    ignoreCase: z.boolean().optional(),
    limit: z.int().positive().max(1000).optional().describe('Most lines to give. Default 100.'),
  }),
)
export type SearchFilesInput = z.output<ReturnType<typeof input>>

/** Creates `search_files`: finds lines that match a regular expression, in a worker thread that is terminated after 20 s. */
export const searchFilesTool = (
  workspace: Workspace,
  needsApproval: Approval<SearchFilesInput>,
  { clock }: { clock: Clock },
) =>
  defineTool({
    name: 'search_files',
    description:
      'Search the text files of the workspace with a JavaScript regular expression, line by line. Gives "file:line: text", long ' +
      'lines cut. Binary files, files over 5 MB, symbolic links, .git, node_modules and .escapement are left out.',
    input: input(),
    canonical: ({ path, ...given }) =>
      path === undefined ? given : { ...given, path: workspace.spell(path, 'folder') },
    subject: ({ path = '.' }) => ({ path }),
    needsApproval,
    effects: 'none',
    maxOutputChars: 100_000,
    run: async ({ pattern, path = '.', glob, ignoreCase = false, limit = 100 }, { signal, redact }) => {
      const flags = flagsFor(pattern, ignoreCase ? 'i' : '')
      if (glob !== undefined) compileGlob(glob)
      const real = await workspace.locate(path)
      const stats = await stat(real).catch((thrown: unknown) => {
        throw fileProblem(thrown, path)
      })
      const folder = stats.isDirectory() ? real : dirname(real)
      const request: SearchRequest = {
        folder,
        prefix: folder === workspace.root ? '' : `${workspace.show(folder)}/`,
        pattern,
        flags,
        limit,
        around: redact === undefined ? 0 : aroundChars,
        ...(stats.isDirectory() ? {} : { file: basename(real) }),
        ...(glob === undefined ? {} : { glob }),
      }
      return search(request, { signal, clock, redact })
    },
  })

/** Prefers the `u` flag, for `\p{…}`, but accepts a pattern that is valid only without it. */
function flagsFor(pattern: string, flags: string): string {
  try {
    return new RegExp(pattern, `u${flags}`).flags
  } catch {
    // The second attempt reports what is wrong.
  }
  try {
    return new RegExp(pattern, flags).flags
  } catch (thrown) {
    throw new Error(`pattern is not a valid JavaScript regular expression: ${messageOf(thrown)}`, { cause: thrown })
  }
}

async function search(
  request: SearchRequest,
  { signal, clock, redact }: { signal: AbortSignal; clock: Clock; redact: Redaction | undefined },
): Promise<string> {
  signal.throwIfAborted()
  const worker = new Worker(searchWorkerUrl, {
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const lines: string[] = []
  let current = 'the first file'
  worker.on('message', (message: SearchMessage) => {
    if (message.type === 'file') current = message.path
    else if (message.type === 'match') lines.push(lineOf(message, redact))
    else if (message.type === 'failed') reject(new Error(`The search failed: ${message.message}`))
    else resolve(report(request, lines, message))
  })
  worker.on('error', (thrown) =>
    reject(new Error(`The search failed in ${current}: ${messageOf(thrown)}`, { cause: thrown })),
  )
  worker.on('exit', () => reject(new Error(`The search ended unexpectedly in ${current}.`)))
  const cancelTimer = clock.after(timeoutMs, () => {
    const advice =
      'The expression may backtrack without end: simplify it (no nested repetition such as (a+)+), or narrow path or glob.'
    reject(
      new Error([`The search was stopped after ${timeoutMs / 1000} s, in ${current}. ${advice}`, ...lines].join('\n')),
    )
  })
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    return await promise
  } finally {
    cancelTimer()
    signal.removeEventListener('abort', onAbort)
    await worker.terminate()
  }
}

function lineOf({ before, text, part, after }: SearchMatch, redact: Redaction | undefined): string {
  const shown = redact?.text(text, part) ?? text.slice(part.from, part.to)
  return before + shown.toWellFormed() + after
}

function report(request: SearchRequest, lines: readonly string[], done: SearchMessage & { type: 'done' }): string {
  const notes: string[] = []
  if (lines.length === 0) notes.push(`[no match in ${done.files} ${done.files === 1 ? 'file' : 'files'}]`)
  if (done.more)
    notes.push(
      `[truncated: the first ${request.limit} matching lines; narrow the pattern, path or glob, or raise limit]`,
    )
  if (done.tooLarge > 0) notes.push(`[not searched: ${done.tooLarge} files over 5 MB]`)
  return [...lines, ...notes].join('\n')
}
