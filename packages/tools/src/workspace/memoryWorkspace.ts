import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { folderOf, lexicalPath } from './paths.ts'
import { pathError, type Workspace, type WorkspaceEntry } from './port.ts'

export interface MemoryWorkspaceOptions {
  /** Absolute path by which the model may name the root. Default `/workspace`. */
  readonly root?: string
  /** Maximum number of bytes of all files together; more is refused with `WORKSPACE_FULL`. Default 256 MiB. */
  readonly maxBytes?: number
}

/** Files in memory, which can be read without a signal, also after `close()`. */
export interface MemoryWorkspace extends Workspace {
  /** Returns the current files by path. */
  files(): ReadonlyMap<string, Uint8Array>
}

/** A file in memory. */
interface Kept {
  readonly bytes: Uint8Array
  readonly mode: number
}

/**
 * A workspace in memory, for tests and pages: no disk, no links, and no commands, which are refused.
 *
 * @throws RuntimeError `INVALID_OPTION` for an invalid path
 *
 * @example
 * ```ts
 * import { memoryWorkspace } from 'escapement/workspaces'
 *
 * const files = memoryWorkspace({ 'notes.md': '# Notes\n' })
 * const writer = defineAgent({ name: 'writer', model, tools: workspaceTools(files) })
 * ```
 */
export function memoryWorkspace(
  content: { readonly [path: string]: string | Uint8Array } = {},
  options: MemoryWorkspaceOptions = {},
): MemoryWorkspace {
  const { root = '/workspace', maxBytes = 256 * 1024 * 1024 } = options
  const files = new Map<string, Kept>()
  const folders = new Set(['.'])
  let size = 0
  let isClosed = false

  const check = (signal: AbortSignal): void => {
    if (isClosed) throw new RuntimeError('WORKSPACE_CLOSED', `The workspace ${root} is closed.`)
    signal.throwIfAborted()
  }
  /** Returns the canonical path, and refuses a path below a file. */
  const placeOf = (given: string): string => {
    const path = lexicalPath(root, given)
    const names = path.split('/')
    for (let depth = 1; depth < names.length; depth++)
      if (files.has(names.slice(0, depth).join('/')))
        throw pathError('WORKSPACE_PATH', given, 'goes through a file as if it were a folder')
    return path
  }
  const put = (given: string, bytes: Uint8Array, mode: number): void => {
    const path = placeOf(given)
    if (folders.has(path))
      throw pathError('WORKSPACE_KIND', given, 'is a folder, not a file; use list_files to see inside')
    const after = size - (files.get(path)?.bytes.length ?? 0) + bytes.length
    if (after > maxBytes) throw pathError('WORKSPACE_FULL', given, `could not be written: ${maxBytes} bytes are taken`)
    size = after
    files.set(path, { bytes, mode })
    for (let folder = folderOf(path); folder !== '.'; folder = folderOf(folder)) folders.add(folder)
  }

  try {
    for (const [path, text] of Object.entries(content)) put(path, bytesOf(path, text), 0o644)
  } catch (thrown) {
    throw new RuntimeError('INVALID_OPTION', `memoryWorkspace: ${messageOf(thrown)}.`, { cause: thrown })
  }

  return {
    description: 'Its files are in memory; there are no commands.',
    root,
    files: () => new Map([...files].map(([path, { bytes }]) => [path, bytes.slice()])),
    async read(given, { signal, maxBytes: most, offset = 0 }) {
      check(signal)
      const path = placeOf(given)
      const file = files.get(path)
      if (file !== undefined)
        return { bytes: file.bytes.slice(offset, offset + most), size: file.bytes.length, mode: file.mode }
      if (folders.has(path))
        throw pathError('WORKSPACE_KIND', given, 'is a folder, not a file; use list_files to see inside')
      return null
    },
    async write(given, bytes, { signal, mode = 0o644, expect }) {
      check(signal)
      const path = placeOf(given)
      const before = files.get(path)
      // The caller's bytes may change.
      const news = bytes.slice()
      if (expect !== undefined) {
        const now = before === undefined ? null : await sha256(before.bytes)
        check(signal)
        if (now !== expect || files.get(path) !== before)
          throw pathError(
            'WORKSPACE_CHANGED',
            given,
            now === null ? 'is gone' : 'was changed by something else meanwhile; read it again',
          )
      }
      put(given, news, files.get(path)?.mode ?? mode)
    },
    async remove(given, { signal }) {
      check(signal)
      const path = placeOf(given)
      const file = files.get(path)
      if (path === '.') throw pathError('WORKSPACE_KIND', given, 'is the workspace itself')
      if (folders.has(path)) {
        if ([...files.keys(), ...folders].some((name) => name.startsWith(`${path}/`)))
          throw pathError('WORKSPACE_KIND', given, 'is a folder that is not empty')
        folders.delete(path)
        return
      }
      if (file === undefined) throw pathError('WORKSPACE_MISSING', given, 'does not exist')
      size -= file.bytes.length
      files.delete(path)
    },
    async *list(given, { signal, limit, deep, skip }) {
      check(signal)
      const path = placeOf(given)
      if (files.has(path)) throw pathError('WORKSPACE_KIND', given, 'is a file, not a folder')
      if (!folders.has(path)) throw pathError('WORKSPACE_MISSING', given, 'does not exist')
      const below = path === '.' ? '' : `${path}/`
      const within = (names: Iterable<string>): string[] =>
        [...names].filter((name) => name.startsWith(below) && name !== '.').map((name) => name.slice(below.length))
      const isShown = deep
        ? (name: string) =>
            !name
              .split('/')
              .slice(0, -1)
              .some((folder) => skip?.has(folder) === true)
        : (name: string) => !name.includes('/')
      const entries: WorkspaceEntry[] = within(files.keys())
        .filter(isShown)
        .map((name) => ({ path: name, type: 'file' }))
      if (!deep) for (const name of within(folders).filter(isShown)) entries.push({ path: name, type: 'folder' })
      yield* entries.slice(0, limit)
    },
    async exec(_command, { signal }) {
      check(signal)
      throw new RuntimeError('WORKSPACE_REFUSED', 'this workspace is in memory, and has no commands')
    },
    anew: () => memoryWorkspace(content, options),
    close: async () => {
      isClosed = true
    },
  }
}

/** Returns a copy of a file's initial content. */
function bytesOf(path: string, content: unknown): Uint8Array {
  if (typeof content === 'string') return new TextEncoder().encode(content)
  if (content instanceof Uint8Array) return content.slice()
  throw new Error(`the content of ${JSON.stringify(path)} must be a text or bytes`)
}

/** Returns the SHA-256 of bytes, in pages too. */
async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes.slice())
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
