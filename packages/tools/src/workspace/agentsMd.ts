import { lstat } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { cutMiddle } from '../../../../src/protocol/text/cutMiddle.ts'
import { checkedBy, messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { openRegularFile } from '../files/openRegularFile.ts'
import { headOf } from './headOf.ts'
import { openWorkspace, type Workspace } from '../files/workspacePath.ts'

export interface AgentsMdOptions {
  /** Maximum length of all files together. The nearest file has priority, and the middle of a longer one is cut. Default 40,000 characters. */
  readonly maxChars?: number
  /**
   * If the folder's own file has more characters than this, includes only its beginning and the headings of the rest, which the
   * model reads with the `read_file` of `workspaceTools(dir)`. Every request is shorter by as much. Default: the whole file.
   */
  readonly headChars?: number
  /** Called with one line for each file that could not be included, or not as a whole. */
  readonly onTrouble?: (trouble: string) => void
}

/** A message for the `context` of a prompt. */
export interface AgentsMdMessage {
  readonly content: string
  /** Provenance of the message; its name is the path of the file in the repository. */
  readonly provenance: { readonly type: 'identityBlock'; readonly name: string; readonly order: number }
}

const fileName = 'AGENTS.md'
/** Maximum number of bytes that are read of a file. */
const maxBytes = 1024 * 1024
/** Minimum number of characters of a useful part of a file. */
const fewestChars = 200

const optionsSchema = lazily(() =>
  onlyFields({
    maxChars: z.int().min(fewestChars).optional(),
    headChars: z.int().min(fewestChars).optional(),
    onTrouble: z.custom((value) => typeof value === 'function', 'give a function').optional(),
  }),
)

/**
 * Reads the `AGENTS.md` files that apply to a folder: its own, and those of the folders above it up to the root of the
 * repository (the folder with `.git`; without one only its own), the root's first. Put them before the first prompt:
 * they are recorded with their provenance, stay through compactions, and have no more authority than messages of
 * people. Links that lead out of the repository are left out.
 *
 * @throws RuntimeError `INVALID_OPTION` when `dir` is not an existing folder or an option is malformed. As rejections.
 *
 * @example
 * ```ts
 * const coder = await runtime.spawn(defineAgent({ name: 'coder', model, tools: workspaceTools('.') }))
 * const { text } = await coder.prompt('Fix the failing test.', { context: await agentsMd('.') }).result
 * ```
 */
export async function agentsMd(dir: string, options: AgentsMdOptions = {}): Promise<readonly AgentsMdMessage[]> {
  checkedBy(optionsSchema(), options, 'agentsMd')
  const { maxChars = 40_000, headChars = Infinity, onTrouble = () => {} } = options
  const folders = foldersAbove(openWorkspace(dir).root)
  const repository = openWorkspace(folders.at(-1)!)
  const found: { readonly folder: string; readonly text: string }[] = []
  let left = maxChars
  for (const folder of folders) {
    const path = join(folder, fileName)
    try {
      const text = await read(repository, path)
      if (text === undefined || text.trim() === '') continue
      if (left < fewestChars) throw new Error(`there is no room for it: ${maxChars} characters are taken`)
      // Files above the folder are out of reach of its tools.
      const shown = (folder === folders[0] ? headOf(text.trimEnd(), fileName, headChars) : text).trim()
      const taken = cutMiddle(shown, left)
      left -= taken.length
      if (taken !== shown)
        onTrouble(`${path} was cut: it has ${shown.length} characters, and there is room for ${taken.length}`)
      found.push({ folder, text: taken })
    } catch (thrown) {
      onTrouble(`${path} was not read: ${messageOf(thrown)}`)
    }
  }
  return found.toReversed().map(({ folder, text }, order) => ({
    content: `${fileName} of ${folder}, for whoever works in that folder or below it${order === 0 ? '' : '; it goes before those above'}:\n\n${text}`,
    provenance: { type: 'identityBlock', name: repository.show(join(folder, fileName)), order },
  }))
}

/** Returns the folder, and those above it up to the root of its repository. */
function foldersAbove(start: string): readonly string[] {
  const folders: string[] = []
  for (let folder = start; ; folder = dirname(folder)) {
    folders.push(folder)
    if (existsSync(join(folder, '.git'))) return folders
    if (dirname(folder) === folder) return [start]
  }
}

/** Reads a file; `undefined` if there is none. */
async function read(repository: Workspace, path: string): Promise<string | undefined> {
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  )
  if (!isThere) return undefined
  const { handle } = await openRegularFile(repository, path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxBytes), 0, maxBytes, 0)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead), { stream: true })
    if (text.includes('\0')) throw new Error('it is not text')
    return text
  } catch (thrown) {
    throw thrown instanceof TypeError ? new Error('it is not UTF-8 text', { cause: thrown }) : thrown
  } finally {
    await handle.close()
  }
}
