import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { lstat, mkdir, open, readdir, rmdir, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { type Clock, systemClock } from '../../../../src/protocol/ports/clock.ts'
import { errnoOf, fileProblem } from '../files/fileProblem.ts'
import { placeOf } from '../files/openRegularFile.ts'
import { walkFiles } from '../files/walkFiles.ts'
import { openWorkspace } from '../files/workspacePath.ts'
import { commandEnvironment } from './commandEnvironment.ts'
import { inItsFolder } from './inItsFolder.ts'
import {
  type ExecEnd,
  type ExecOptions,
  isWorkspaceError,
  type ListOptions,
  pathError,
  type ReadOptions,
  type Workspace,
  type WorkspaceCode,
  type WorkspaceEntry,
  type WorkspaceFile,
  type WriteOptions,
} from './port.ts'
import type { Launch } from './processGroup.ts'
import { replaceFile } from './replaceFile.ts'

/** Runs commands in place of a shell on this machine. */
export interface CommandSandbox {
  /** Sentence that tells the model about the sandbox. */
  readonly description: string
  /** Returns the program that runs a command. `cwd`: absolute path in the workspace, in which the command begins. */
  launch(command: string, cwd: string): Launch
}

export interface LocalWorkspaceOptions {
  /** Runs commands in place of a shell on this machine. The files stay here. Default: none. */
  readonly sandbox?: CommandSandbox | undefined
  /** Converts a file system error to a workspace error. The reason of an aborted signal stays unchanged. */
  readonly clock?: Clock | undefined
}

const unconfined =
  'It is not sandboxed: only the starting folder is confined, so do not touch anything outside the workspace.'

// Without O_NONBLOCK, opening a named pipe waits for its other end. Windows has neither flag.
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

const codes: { readonly [errno: string]: WorkspaceCode } = {
  ENOENT: 'WORKSPACE_MISSING',
  ENOTDIR: 'WORKSPACE_PATH',
  ELOOP: 'WORKSPACE_PATH',
  ENAMETOOLONG: 'WORKSPACE_PATH',
  EISDIR: 'WORKSPACE_KIND',
  EEXIST: 'WORKSPACE_KIND',
  ENOTEMPTY: 'WORKSPACE_KIND',
  EACCES: 'WORKSPACE_REFUSED',
  EPERM: 'WORKSPACE_REFUSED',
  EROFS: 'WORKSPACE_REFUSED',
  EMFILE: 'WORKSPACE_REFUSED',
  ENOSPC: 'WORKSPACE_FULL',
  EDQUOT: 'WORKSPACE_FULL',
}

/** Turns an error of the file system into one of a workspace. The reason of an aborted signal stays as it is. */
function problemOf(thrown: unknown, path: string): unknown {
  const code = codes[errnoOf(thrown) ?? '']
  return code === undefined ? thrown : new RuntimeError(code, fileProblem(thrown, path).message, { cause: thrown })
}

const isGone = (thrown: unknown): boolean => errnoOf(thrown) === 'ENOENT' || errnoOf(thrown) === 'ENOTDIR'

const moved = (path: string): RuntimeError =>
  pathError('WORKSPACE_PATH', path, 'changed its place meanwhile; try again')

/**
 * A folder of this machine. Files cannot be reached outside of it through `..`, an absolute path or a symbolic link. **Commands only start in it: a shell
 * can reach everything this process can**, unless a sandbox is given. They inherit the well-known harmless variables of this process.
 *
 * @throws RuntimeError `INVALID_OPTION` when `dir` is not an existing folder
 */
export function localWorkspace(dir: string, made: LocalWorkspaceOptions = {}): Workspace {
  const { sandbox, clock = systemClock } = made
  const folder = openWorkspace(dir)
  const closing = new AbortController()

  const checkOpen = (signal: AbortSignal): void => {
    if (closing.signal.aborted) throw new RuntimeError('WORKSPACE_CLOSED', `The workspace ${folder.root} is closed.`)
    signal.throwIfAborted()
  }
  /** Resolves a path, and attributes faults of the path to the caller. */
  const locate = async (path: string): Promise<string> => {
    try {
      return await folder.locate(path)
    } catch (thrown) {
      throw new RuntimeError('WORKSPACE_PATH', messageFor(thrown, path), { cause: thrown })
    }
  }

  async function read(path: string, { signal, maxBytes, offset = 0 }: ReadOptions): Promise<WorkspaceFile | null> {
    checkOpen(signal)
    const real = await locate(path)
    try {
      return await readHere(path, real, { signal, maxBytes, offset })
    } catch (thrown) {
      if (isGone(thrown)) return null
      throw problemOf(thrown, path)
    }
  }

  async function write(path: string, bytes: Uint8Array, { signal, mode, expect }: WriteOptions): Promise<void> {
    checkOpen(signal)
    const real = await locate(path)
    if (real === folder.root) throw pathError('WORKSPACE_KIND', path, 'is the workspace itself, not a file')
    try {
      await mkdir(dirname(real), { recursive: true })
      if ((await locate(path)) !== real) throw moved(path)
      const check = expect === undefined ? undefined : () => demandContent(path, real, expect)
      await replaceFile(real, bytes, signal, { mode, check })
    } catch (thrown) {
      throw problemOf(thrown, path)
    }
  }

  async function remove(path: string, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    checkOpen(signal)
    const real = await locate(path)
    if (real === folder.root) throw pathError('WORKSPACE_KIND', path, 'is the workspace itself')
    try {
      const stats = await lstat(real)
      await inItsFolder(real, stats.isDirectory() ? rmdir : unlink)
    } catch (thrown) {
      throw errnoOf(thrown) === 'ENOTEMPTY'
        ? pathError('WORKSPACE_KIND', path, 'is a folder that is not empty', thrown)
        : problemOf(thrown, path)
    }
  }

  async function* list(path: string, options: ListOptions): AsyncGenerator<WorkspaceEntry, void, undefined> {
    checkOpen(options.signal)
    const real = await folderAt(path)
    let left = options.limit
    for await (const entry of entriesOf(real, options))
      if (left-- > 0) yield entry
      else return
  }

  async function folderAt(path: string): Promise<string> {
    const real = await locate(path)
    const stats = await stat(real).catch((thrown: unknown) => {
      throw problemOf(thrown, path)
    })
    if (!stats.isDirectory()) throw pathError('WORKSPACE_KIND', path, 'is a file, not a folder')
    return real
  }

  async function exec(command: string, options: ExecOptions): Promise<ExecEnd> {
    const { signal, timeoutMs, cwd = '.', env = {}, onOutput, started } = options
    checkOpen(signal)
    if (command.includes('\0')) throw new RuntimeError('WORKSPACE_REFUSED', 'command holds a NUL character')
    const at = await folderAt(cwd)
    const { runProcessGroup } = await import('./processGroup.ts')
    const { identityOf } = await import('./processIdentity.ts')
    const { killedBy, ...end } = await runProcessGroup({
      command,
      launch: sandbox?.launch(command, at),
      cwd: at,
      env: commandEnvironment(process.env, env),
      timeoutMs,
      signal: AbortSignal.any([signal, closing.signal]),
      clock,
      started: started === undefined ? undefined : async (pid) => started(await identityOf(pid)),
      onOutput,
    }).catch((thrown: unknown) => {
      throw thrown instanceof Error && 'syscall' in thrown
        ? new RuntimeError('WORKSPACE_REFUSED', messageOf(thrown), { cause: thrown })
        : thrown
    })
    return { ...end, killedBy: killedBy ?? undefined }
  }

  return {
    description: sandbox?.description ?? unconfined,
    root: folder.root,
    folder: folder.root,
    spell: (path, of) => {
      try {
        return folder.spell(path, of)
      } catch (thrown) {
        throw new RuntimeError('WORKSPACE_PATH', messageFor(thrown, path), { cause: thrown })
      }
    },
    read,
    write,
    remove,
    list,
    exec,
    endLeft: async (left) => {
      const [{ processIdentitySchema }, { endLeftGroup }] = await Promise.all([
        import('./processIdentity.ts'),
        import('./processGroup.ts'),
      ])
      const parsed = processIdentitySchema().safeParse(left)
      if (parsed.success) await endLeftGroup(parsed.data, clock)
    },
    anew: () => localWorkspace(folder.root, made),
    close: async () => closing.abort(new Error('the workspace was closed')),
  }
}

const messageFor = (thrown: unknown, path: string): string => fileProblem(thrown, path).message

async function readHere(
  path: string,
  real: string,
  { signal, maxBytes, offset }: Required<ReadOptions>,
): Promise<WorkspaceFile> {
  const handle = await open(real, readFlags)
  try {
    if ((await placeOf(handle, real)) !== real) throw moved(path)
    const stats = await handle.stat()
    checkRegular(path, stats)
    const pieces: Uint8Array[] = []
    const end = offset + maxBytes
    for (let at = offset; at < end;) {
      signal.throwIfAborted()
      const wanted = Math.min(end - at, Math.max(stats.size - at, 1), pieceBytes)
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, at)
      if (bytesRead === 0) break
      pieces.push(buffer.subarray(0, bytesRead))
      at += bytesRead
    }
    const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    return { bytes, size: Math.max(stats.size, offset + bytes.length), mode: stats.mode & 0o7777 }
  } finally {
    await handle.close()
  }
}

const pieceBytes = 4 * 1024 * 1024

function checkRegular(path: string, stats: Stats): void {
  if (stats.isDirectory())
    throw pathError('WORKSPACE_KIND', path, 'is a folder, not a file; use list_files to see inside')
  if (!stats.isFile()) throw pathError('WORKSPACE_KIND', path, 'is not a regular file')
}

/** @throws RuntimeError `WORKSPACE_CHANGED` if the file has another content */
async function demandContent(path: string, real: string, expected: string | null): Promise<void> {
  const now = await hashOf(path, real)
  if (now !== expected)
    throw pathError(
      'WORKSPACE_CHANGED',
      path,
      now === null ? 'is gone' : 'was changed by something else meanwhile; read it again',
    )
}

async function hashOf(path: string, real: string): Promise<string | null> {
  try {
    const handle = await open(real, readFlags)
    try {
      if ((await placeOf(handle, real)) !== real) throw moved(path)
      const hash = createHash('sha256')
      for await (const piece of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>)
        hash.update(piece)
      return hash.digest('hex')
    } finally {
      await handle.close()
    }
  } catch (thrown) {
    if (isGone(thrown)) return null
    throw isWorkspaceError(thrown) ? thrown : problemOf(thrown, path)
  }
}

async function* entriesOf(
  real: string,
  { signal, deep, skip }: ListOptions,
): AsyncGenerator<WorkspaceEntry, void, undefined> {
  if (deep) {
    for await (const { path, isLink } of walkFiles(real, signal, skip ?? new Set()))
      yield { path, type: isLink ? 'link' : 'file' }
    return
  }
  for (const entry of await readdir(real, { withFileTypes: true })) {
    signal.throwIfAborted()
    const type = entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : entry.isSymbolicLink() ? 'link' : undefined
    if (type !== undefined) yield { path: entry.name, type }
  }
}
