import { randomUUID } from 'node:crypto'
import { constants, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { chmod, lchown, lstat, mkdir, open, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '../../../../../src/protocol/errors.ts'
import { errnoOf } from '../../files/fileProblem.ts'
import { breather } from '../../../../../src/actors/timing/breather.ts'
import { inItsFolder } from '../inItsFolder.ts'
import { stateAt } from './takeTree.ts'
import type { KeptChanges, TreeChange } from './treeChanges.ts'
import { gitFolderOf, isSameState, type TreeState } from './treeEntry.ts'

/** A path that was left as it is, and the reason. */
export interface LeftPath {
  readonly path: string
  readonly why: string
}

/** Change to be undone, with the state in which its path was found. */
interface Doing extends TreeChange {
  readonly now: TreeState | null
}

interface Restoring extends KeptChanges {
  /** Real path of the folder. */
  readonly root: string
  /** Maximum number of bytes of a file whose content was kept. */
  readonly maxFileBytes: number
  readonly signal: AbortSignal
}

/**
 * Restores each path that a command changed, if it is still as the command left it. Resolves to the paths that were left
 * alone. Idempotent, so that it may be called again after a crash at any moment. Rejects with the reason of the signal.
 */
export async function restoreTree(restoring: Restoring): Promise<readonly LeftPath[]> {
  const { doing, left } = await judge(restoring)
  const failed = new Map<string, string>()
  const isRemoved = ({ before, now }: Doing): boolean =>
    now !== null && (before === null || (before.type === 'folder') !== (now.type === 'folder'))
  const deepestFirst = doing.toSorted((a, b) => (a.path < b.path ? 1 : -1))
  const removed = deepestFirst.filter(isRemoved)
  const folders = doing.filter(({ before }) => before?.type === 'folder').toReversed()
  const steps: readonly [all: readonly Doing[], step: (one: Doing, restoring: Restoring) => Promise<void>][] = [
    [removed.filter(({ now }) => now!.type !== 'folder'), removeFile],
    [removed.filter(({ now }) => now!.type === 'folder'), removeFolder],
    [folders.toSorted((a, b) => (a.path < b.path ? -1 : 1)), makeFolder],
    [doing.filter(({ before }) => before !== null && before.type !== 'folder'), putBack],
    // A folder that may not be written to gets its permissions last.
    [folders.toSorted((a, b) => (a.path < b.path ? 1 : -1)), setMode],
  ]
  const breathe = breather()
  for (const [all, step] of steps)
    for (const one of all) {
      await breathe()
      restoring.signal.throwIfAborted()
      if (failed.has(one.path)) continue
      await step(one, restoring).catch((thrown: unknown) => void failed.set(one.path, whyNot(thrown)))
    }
  return withoutFolders([...left, ...[...failed].map(([path, why]) => ({ path, why }))])
}

/** Separates the paths that are as the command left them from the others. */
async function judge(restoring: Restoring): Promise<{ doing: readonly Doing[]; left: LeftPath[] }> {
  const { root, changes, maxFileBytes, signal } = restoring
  const breathe = breather()
  const isNamed = namesIn(root)
  const doing: Doing[] = []
  const left: LeftPath[] = []
  for (const change of changes) {
    await breathe()
    signal.throwIfAborted()
    const { path, before, after, lost } = change
    try {
      const now = isNamed(path) ? stateAt(join(root, path), maxFileBytes) : null
      if (isSameState(now, before)) continue
      const isLeft = isSameState(now, after) || isHalfWay(change, now)
      if (!isLeft) left.push({ path, why: now === null ? 'it is gone' : 'it was changed by something else since' })
      else if (lost === undefined) doing.push({ ...change, now })
      else left.push({ path, why: lost })
    } catch (thrown) {
      left.push({ path, why: whyNot(thrown) })
    }
  }
  return withWholeGit(restoring, doing, left)
}

/** Returns true if an interrupted undo has made a folder here, or has removed a file to make room for one, or the other way round. */
function isHalfWay({ before, after }: TreeChange, now: TreeState | null): boolean {
  if (before === null || (before.type === 'folder') === (after?.type === 'folder')) return false
  return now === null ? after !== null : now.type === 'folder' && before.type === 'folder'
}

/**
 * Returns a function that tests if an entry of exactly this name exists. It throws if the path's folder is a link or not a folder.
 */
function namesIn(root: string): (path: string) => boolean {
  const known = new Map<string, ReadonlySet<string> | Error>()
  const look = (folder: string): ReadonlySet<string> | Error => {
    try {
      return realpathSync(folder) === folder ? new Set(readdirSync(folder)) : new Error('its folder is a link now')
    } catch (thrown) {
      const isGone = errnoOf(thrown) === 'ENOENT' || errnoOf(thrown) === 'ENOTDIR'
      return isGone ? new Set<string>() : new Error(whyNot(thrown))
    }
  }
  return (path) => {
    const folder = dirname(join(root, path))
    const found = known.get(folder) ?? look(folder)
    known.set(folder, found)
    if (found instanceof Error) throw found
    return found.has(basename(path))
  }
}

/** Leaves a folder `.git` as a whole if an entry in it has to be left: half of it would be worse. */
function withWholeGit(
  { root }: Restoring,
  doing: readonly Doing[],
  left: readonly LeftPath[],
): { doing: readonly Doing[]; left: LeftPath[] } {
  const kept = new Map<string, string>()
  for (const { path, why } of left) {
    const git = gitFolderOf(path)
    if (git !== undefined) kept.set(git, kept.get(git) ?? `${path.slice(git.length + 1) || 'it'}: ${why}`)
  }
  const gits = new Set([...doing, ...left].flatMap(({ path }) => gitFolderOf(path) ?? []))
  for (const git of gits)
    for (const lock of ['index.lock', 'HEAD.lock'])
      if (isThere(join(root, git, lock))) kept.set(git, 'git is at work there')
  const isKept = ({ path }: { readonly path: string }): boolean => kept.has(gitFolderOf(path) ?? '')
  return {
    doing: doing.filter((one) => !isKept(one)),
    left: [...left.filter((one) => !isKept(one)), ...[...kept].map(([path, why]) => ({ path, why }))],
  }
}

const isThere = (place: string): boolean => lstatSync(place, { throwIfNoEntry: false }) !== undefined

const removeFile = (one: Doing, restoring: Restoring): Promise<void> =>
  inItsFolder(join(restoring.root, one.path), async (place) => {
    check(one, place, restoring)
    await unlink(place)
  })

const removeFolder = (one: Doing, { root }: Restoring): Promise<void> =>
  inItsFolder(join(root, one.path), async (place) => {
    const { after } = one
    // The objects of a repository that the command made: all else in it is as it left it, and refers to no others.
    if (after?.type === 'folder' && after.isClosed === true && gitFolderOf(one.path) !== undefined)
      return await rm(place, { recursive: true, force: true })
    await rmdir(place).catch((thrown: unknown) => {
      if (errnoOf(thrown) !== 'ENOENT') throw thrown
    })
  })

const makeFolder = ({ path, now }: Doing, { root }: Restoring): Promise<void> =>
  now?.type === 'folder' ? Promise.resolve() : inItsFolder(join(root, path), (place) => mkdir(place, 0o700))

const setMode = ({ path, before }: Doing, { root }: Restoring): Promise<void> =>
  inItsFolder(join(root, path), (place) => chmod(place, (before as { readonly mode: number }).mode))

/** Restores a file or a link as a whole. */
async function putBack(one: Doing, restoring: Restoring): Promise<void> {
  const { before, now, path } = one
  const { root, contentOf } = restoring
  const real = join(root, path)
  if (before?.type === 'file' && now?.type === 'file' && before.hash === now.hash)
    return await inItsFolder(real, async (place) => {
      check(one, place, restoring)
      await chmod(place, before.mode)
    })
  const bytes = before?.type === 'file' ? await contentOf(before.hash!, before.size) : undefined
  if (before?.type === 'file' && bytes === undefined) throw new Error('what it was before is no longer kept')
  await inItsFolder(real, async (place) => {
    const temporary = join(dirname(place), `.${randomUUID()}.tmp`)
    try {
      if (before?.type === 'link') await symlink(before.target, temporary)
      else if (before?.type === 'file') await writeNew(temporary, { bytes: bytes!, mode: before.mode, owner: place })
      check(one, place, restoring)
      await rename(temporary, place)
    } catch (thrown) {
      await rm(temporary, { force: true })
      throw thrown
    }
  })
}

const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)

async function writeNew(
  place: string,
  { bytes, mode, owner }: { readonly bytes: Uint8Array; readonly mode: number; readonly owner: string },
): Promise<void> {
  const handle = await open(place, createFlags, 0o600)
  try {
    await handle.writeFile(bytes)
    const stats = await lstat(owner).catch(() => undefined)
    if (stats !== undefined) await lchown(place, stats.uid, stats.gid).catch(() => {})
    await handle.chmod(mode)
  } finally {
    await handle.close()
  }
}

/** Checks a path again just before its change. Throws if it has changed meanwhile. */
function check({ before, now }: Doing, place: string, { maxFileBytes }: Restoring): void {
  const wasRemoved = now !== null && before !== null && (before.type === 'folder') !== (now.type === 'folder')
  const last = stateAt(place, maxFileBytes)
  if (!isSameState(last, now) && !(wasRemoved && last === null))
    throw new Error('it was changed by something else since')
}

const reasons: { readonly [errno: string]: string } = {
  ENOENT: 'its folder is gone',
  ENOTDIR: 'something else stands in place of its folder',
  ENOTEMPTY: 'something else is in it',
  EEXIST: 'something else is in it',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'permission denied',
  ENOSPC: 'the disk is full',
}

const whyNot = (thrown: unknown): string => reasons[errnoOf(thrown) ?? ''] ?? messageOf(thrown)

/** Returns the left paths without folders that had to stay only for entries that were left in them. */
function withoutFolders(left: readonly LeftPath[]): readonly LeftPath[] {
  const above = new Set<string>()
  for (const { path } of left) for (let at = dirname(path); at !== '.'; at = dirname(at)) above.add(at)
  return left.filter(({ path, why }) => why !== reasons['ENOTEMPTY'] || !above.has(path))
}

/** Returns a phrase that names the paths that were left. */
export function leftPhrase(left: readonly LeftPath[]): string {
  const shown = left.slice(0, 3).map(({ path, why }) => `${path} (${why})`)
  const more = left.length - shown.length
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`
}
