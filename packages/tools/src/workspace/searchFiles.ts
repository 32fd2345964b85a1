import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { hasCode, messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool, type Redaction } from '../../../../src/actors/tools/defineTool.ts'
import { compileGlob } from '../../../../src/actors/parts/permissions/matchGlob.ts'
import { baseName, folderOf } from './paths.ts'
import type { Workspace } from './port.ts'
import type { SearchedFile, SearchMatch, SearchMessage, SearchRequest } from './searchIn.ts'
import { filesOf } from './searchSources.ts'
import { searchWorkerUrl } from './searchWorkerUrl.ts'
import type { Approval } from './approval.ts'
import type { WorkspaceUse } from './workspaceUse.ts'

const timeoutMs = 20_000
/** Number of characters of context for redaction: a key may start several lines before the one shown. */
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
  use: WorkspaceUse,
  needsApproval: Approval<SearchFilesInput>,
  { clock }: { clock: Clock },
) =>
  defineTool({
    name: 'search_files',
    description:
      'Search the text files of the workspace with a JavaScript regular expression, line by line. Gives "file:line: text", long ' +
      'lines cut. Binary files, files over 5 MB, symbolic links, .git, node_modules and .escapement are left out.',
    input: input(),
    canonical: ({ path, ...given }) => (path === undefined ? given : { ...given, path: use.spell(path, 'folder') }),
    subject: ({ path = '.' }) => ({ path }),
    needsApproval,
    effects: 'none',
    maxOutputChars: 100_000,
    run: async ({ pattern, path = '.', glob, ignoreCase = false, limit = 100 }, context) => {
      const { signal, redact } = context
      const flags = flagsFor(pattern, ignoreCase ? 'i' : '')
      if (glob !== undefined) compileGlob(glob)
      const workspace = use.of(context)
      const isFile = await isFileAt(workspace, path, signal)
      const folder = isFile ? folderOf(path) : path
      const request: SearchRequest = {
        ...(use.folder === undefined ? {} : { folder: join(use.folder, folder) }),
        prefix: folder === '.' ? '' : `${folder}/`,
        pattern,
        flags,
        limit,
        around: redact === undefined ? 0 : aroundChars,
        ...(isFile ? { file: baseName(path) } : {}),
        ...(glob === undefined ? {} : { glob }),
      }
      return search(request, { workspace, path, isFile, signal, clock, redact })
    },
  })

/** True for a file, false for a folder. Rejects with an error for the model if neither exists. */
async function isFileAt(workspace: Workspace, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const _ of workspace.list(path, { signal, limit: 1, deep: false })) break
    return false
  } catch (thrown) {
    if (hasCode(thrown, 'WORKSPACE_KIND')) return true
    throw thrown
  }
}

/** Returns the flags for a pattern: with `u`, for `\p{…}`, unless the pattern is valid only without it. */
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

interface SearchOptions {
  readonly workspace: Workspace
  readonly path: string
  readonly isFile: boolean
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly redact: Redaction | undefined
}

async function search(request: SearchRequest, options: SearchOptions): Promise<string> {
  const { signal, clock, redact } = options
  signal.throwIfAborted()
  const over = new AbortController()
  const files = filesOf({ ...options, signal: AbortSignal.any([signal, over.signal]) }, request)
  const worker = new Worker(searchWorkerUrl, {
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const lines: string[] = []
  let current = 'the first file'
  const sendNext = async (): Promise<void> => {
    const next = await files.next()
    const file: SearchedFile | null = next.done === true ? null : next.value
    worker.postMessage(file)
  }
  worker.on('message', (message: SearchMessage) => {
    if (message.type === 'file') current = message.path
    else if (message.type === 'next') void sendNext().catch(reject)
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
    over.abort(new Error('the search is over'))
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
