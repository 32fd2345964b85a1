import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs'
import { RuntimeError } from '../../../../../src/protocol/errors.ts'
import { systemClock } from '../../../../../src/protocol/ports/clock.ts'
import { errnoOf } from '../../files/fileProblem.ts'
import { breather } from '../../../../../src/actors/timing/breather.ts'
import type { Contents } from './contents.ts'
import { gitFolderOf, type Tree, type TreeState } from './treeEntry.ts'

export interface TreeLimits {
  /** Maximum number of paths. */
  readonly maxFiles: number
  /** Maximum number of bytes of all files that are kept. */
  readonly maxBytes: number
  /** Maximum number of bytes of one file; a larger one is not kept. */
  readonly maxFileBytes: number
}

export interface TakeOptions {
  /** Earlier tree. Files that have not been touched since are not read again. */
  readonly before: Tree | undefined
  /** Store for the contents of files. */
  readonly contents: Contents
  /** Folders that are left out, by name anywhere or by path. */
  readonly exclude: ReadonlySet<string>
  readonly limits: TreeLimits
  readonly signal: AbortSignal
  /** Returns the time of the clock that stamps files, in milliseconds. Default: the system's. */
  readonly now?: () => number
}

// Without O_NONBLOCK, opening a named pipe waits for its other end. Windows has neither flag.
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
/** Period in milliseconds in which a file may change twice with the same time stamp. */
const tickMs = 100

/**
 * Examines everything below a real folder, and keeps the contents of its files. Links are not followed. A
 * folder `.git` is examined except for its objects. Entries that vanish meanwhile are left out.
 *
 * @throws RuntimeError `TREE_TOO_LARGE`, as a rejection, before any file is read; the reason of the signal
 */
export async function takeTree(
  root: string,
  { before, contents, exclude, limits, signal, now = systemClock.now }: TakeOptions,
): Promise<Tree> {
  const breathe = breather()
  const tree = new Map<string, TreeState>()
  const files: { readonly path: string; readonly stats: Stats }[] = []
  let bytes = 0
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    await breathe()
    signal.throwIfAborted()
    for (const { name } of entriesOf(root, folder, tree)) {
      const path = `${folder}${name}`
      const stats = ifThere(() => lstatSync(`${root}/${path}`))
      if (stats === undefined) {
        // A name that is not UTF-8 reaches nothing.
        if (name.includes('\uFFFD')) tree.set(path, { type: 'other' })
        continue
      }
      if (stats.isDirectory()) {
        if (exclude.has(name) || exclude.has(path)) continue
        const isClosed = isGitStore(root, folder, name)
        tree.set(path, { type: 'folder', mode: stats.mode & 0o7777, ...(isClosed ? { isClosed } : {}) })
        if (!isClosed) folders.push(`${path}/`)
      } else if (stats.isFile()) {
        tree.set(path, stateOf(stats))
        files.push({ path, stats })
        if (stats.size <= limits.maxFileBytes) bytes += stats.size
      } else {
        const target = stats.isSymbolicLink() ? ifThere(() => readlinkSync(`${root}/${path}`)) : undefined
        tree.set(path, target === undefined ? { type: 'other' } : { type: 'link', target })
      }
    }
    if (tree.size > limits.maxFiles) throw tooLarge(`more than ${limits.maxFiles} files and folders`)
    if (bytes > limits.maxBytes) throw tooLarge(`more than ${limits.maxBytes} bytes in its files`)
  }
  for (const { path, stats } of files) {
    if (stats.size > limits.maxFileBytes) continue
    await breathe()
    signal.throwIfAborted()
    const known = before?.get(path)
    const isKnown = known?.type === 'file' && known.stamp === stampOf(stats) && known.mode === (stats.mode & 0o7777)
    if (isKnown && known.hash !== undefined && contents.has(known.hash)) tree.set(path, known)
    else readInto(tree, path, { root, contents, limits, now })
  }
  return tree
}

/** Returns the current state of a path, with the hash of a file of any size; `null` if nothing is there. */
export function stateAt(place: string, maxFileBytes: number): TreeState | null {
  const stats = ifThere(() => lstatSync(place))
  if (stats === undefined) return null
  if (stats.isDirectory()) return { type: 'folder', mode: stats.mode & 0o7777 }
  if (stats.isSymbolicLink()) return { type: 'link', target: readlinkSync(place) }
  if (!stats.isFile()) return { type: 'other' }
  const state = stateOf(stats)
  const read = stats.size > maxFileBytes ? undefined : readWhole(place, maxFileBytes)
  return read === undefined ? state : { ...stateOf(read.stats), hash: hashOf(read.bytes) }
}

function entriesOf(root: string, folder: string, tree: Map<string, TreeState>): readonly Dirent[] {
  try {
    return readdirSync(`${root}/${folder}`, { withFileTypes: true })
  } catch (thrown) {
    const path = folder.slice(0, -1)
    const known = tree.get(path)
    if (isGone(thrown)) tree.delete(path)
    else if (known?.type === 'folder') tree.set(path, { ...known, isClosed: true })
    else throw thrown
    return []
  }
}

/** Reads a file. If it may not be read or is no longer a file, its stamp has to suffice. */
function readInto(
  tree: Map<string, TreeState>,
  path: string,
  {
    root,
    contents,
    limits,
    now,
  }: Pick<TakeOptions, 'contents' | 'limits'> & { readonly root: string; readonly now: () => number },
): void {
  const startedAt = now()
  const read = readWhole(`${root}/${path}`, limits.maxFileBytes)
  if (read === undefined) return
  const { bytes, stats } = read
  const hash = hashOf(bytes)
  contents.add(hash, bytes)
  const state = { ...stateOf(stats), hash }
  // It may be written to within the same tick: it is read again the next time.
  tree.set(path, stats.ctimeMs >= startedAt - tickMs ? { ...state, stamp: '' } : state)
}

function readWhole(place: string, maxBytes: number): { readonly bytes: Uint8Array; readonly stats: Stats } | undefined {
  let file: number | undefined
  try {
    file = openSync(place, readFlags)
    const stats = fstatSync(file)
    if (!stats.isFile() || stats.size > maxBytes) return undefined
    const bytes = Buffer.allocUnsafe(stats.size)
    let done = 0
    for (let read = -1; done < bytes.length && read !== 0; done += read)
      read = readSync(file, bytes, done, bytes.length - done, done)
    return { bytes: bytes.subarray(0, done), stats }
  } catch (thrown) {
    if (isGone(thrown) || ['EACCES', 'EPERM', 'ELOOP', 'EIO'].includes(errnoOf(thrown) ?? '')) return undefined
    throw thrown
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Returns true for the folders of a git repository in which it stores its objects: they are only added to, and have no meaning by themselves. */
const isGitStore = (root: string, folder: string, name: string): boolean =>
  (name === 'objects' || name === 'lfs') &&
  gitFolderOf(folder.slice(0, -1)) !== undefined &&
  ifThere(() => lstatSync(`${root}/${folder}HEAD`)) !== undefined

const stateOf = (stats: Stats): Extract<TreeState, { type: 'file' }> => ({
  type: 'file',
  mode: stats.mode & 0o7777,
  size: stats.size,
  stamp: stampOf(stats),
})

const stampOf = ({ size, mtimeMs, ctimeMs, ino }: Stats): string => `${size} ${mtimeMs} ${ctimeMs} ${ino}`

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const isGone = (thrown: unknown): boolean => errnoOf(thrown) === 'ENOENT' || errnoOf(thrown) === 'ENOTDIR'

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (thrown) {
    if (isGone(thrown)) return undefined
    throw thrown
  }
}

const tooLarge = (what: string): RuntimeError =>
  new RuntimeError('TREE_TOO_LARGE', `The workspace has ${what}, more than is kept for undoing commands`)
