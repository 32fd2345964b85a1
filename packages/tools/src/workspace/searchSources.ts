import { hasCode } from '../../../../src/protocol/errors.ts'
import { ignoredFolders } from '../files/walkFiles.ts'
import { baseName, inFolder } from './paths.ts'
import type { Workspace } from './port.ts'
import { shellQuoted } from './shellFiles.ts'
import { maxSearchedBytes, searchedText, type SearchedFile, type SearchRequest, wantedBy } from './searchIn.ts'

/** Maximum number of files that are visited, as for `list_files`. */
const maxFiles = 200_000
/** Maximum length of the names that `rg` may return, in bytes. */
const maxNameBytes = 16 * 1024 * 1024

export interface Search {
  readonly workspace: Workspace
  /** File or folder to be searched. */
  readonly path: string
  readonly isFile: boolean
  readonly signal: AbortSignal
}

/** Yields the files of a workspace on another machine, sorted by path, for `searchIn`. With `rg`, only files that may match are read. */
export async function* filesOf(search: Search, request: SearchRequest): AsyncGenerator<SearchedFile, void, undefined> {
  const { workspace, path, isFile, signal } = search
  const wanted = wantedBy(request)
  const names = isFile ? [baseName(path)] : ((await filesByRg(search, request)) ?? (await filesByList(search)))
  for (const name of names) {
    if (!wanted(name)) continue
    signal.throwIfAborted()
    yield { path: name, text: await textOf(workspace, isFile ? path : inFolder(path, name), signal) }
  }
}

async function textOf(workspace: Workspace, path: string, signal: AbortSignal): Promise<SearchedFile['text']> {
  try {
    const file = await workspace.read(path, { signal, maxBytes: maxSearchedBytes + 1 })
    if (file === null) return 'skipped'
    return file.size > maxSearchedBytes ? 'too large' : searchedText(file.bytes)
  } catch (thrown) {
    // It may have become something else, or is not to be read.
    if (hasCode(thrown, 'WORKSPACE_PATH') || hasCode(thrown, 'WORKSPACE_KIND') || hasCode(thrown, 'WORKSPACE_REFUSED'))
      return 'skipped'
    throw thrown
  }
}

async function filesByList({ workspace, path, signal }: Search): Promise<readonly string[]> {
  const names: string[] = []
  const options = { signal, limit: maxFiles, deep: true, skip: ignoredFolders }
  for await (const entry of workspace.list(path, options)) if (entry.type === 'file') names.push(entry.path)
  return names.toSorted()
}

/** Returns the files that may have a match, found by `rg` if it is available; `undefined` if they are unknown. */
async function filesByRg(
  { workspace, path, signal }: Search,
  { pattern, flags }: SearchRequest,
): Promise<readonly string[] | undefined> {
  const wider = workspace.has?.includes('rg') === true ? widerPattern(pattern) : undefined
  if (wider === undefined) return undefined
  const skipped = [...ignoredFolders].map((name) => ` -g ${shellQuoted(`!${name}`)}`).join('')
  const options = `-l --null --no-config --hidden --no-ignore --no-messages --text --crlf${flags.includes('i') ? ' -i' : ''}${skipped}`
  const pieces: Uint8Array[] = []
  let size = 0
  const end = await workspace.exec(`rg ${options} -e ${shellQuoted(wider)} -- .`, {
    cwd: path,
    signal,
    timeoutMs: 20_000,
    onOutput: (bytes) => {
      size += bytes.length
      if (size <= maxNameBytes) pieces.push(Uint8Array.from(bytes))
    },
  })
  signal.throwIfAborted()
  if ((end.code !== 0 && end.code !== 1) || size > maxNameBytes) return undefined
  const names = Buffer.concat(pieces)
    .toString('utf8')
    .split('\0')
    .filter((name) => name !== '')
  // Anything else on the output, such as a warning, is no list of names.
  if (names.some((name) => !name.startsWith('./'))) return undefined
  return names.map((name) => name.slice(2)).toSorted()
}

/**
 * Returns a pattern for `rg` that matches every line that a JavaScript pattern does, and perhaps more; `undefined`
 * if that is not certain. `rg` only chooses files to read: each is searched with the pattern itself.
 */
export function widerPattern(pattern: string): string | undefined {
  // Groups with `?`, back references, code points and classes of classes differ; so do negated classes of words.
  if (
    !/^(?:[^\\[\](){}]|\\[bdws.*+?^$|/()[\]{}\\-]|\[\^?(?:[^\\[\]&~^-]|\\[dw.*+?^$|/()[\]{}\\-]|\w-\w)+\]|\((?!\?)|\(\?:|\)|\{\d+(?:,\d*)?\})+$/.test(
      pattern,
    )
  )
    return undefined
  if (/\\b[*+?{]/.test(pattern) || (pattern.includes('[^') && /\\[dw]/.test(pattern))) return undefined
  // A boundary depends on which letters count; the byte order mark is a space in JavaScript alone.
  return pattern.replaceAll(/\\(.)/gs, (whole, of: string) =>
    of === 'b' ? '' : of === 's' ? String.raw`[\s\x{FEFF}]` : of === '/' ? '/' : whole,
  )
}
