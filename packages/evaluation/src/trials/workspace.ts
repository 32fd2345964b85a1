import { constants } from 'node:fs'
import { access, chmod, copyFile, lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode, messageOf } from '../../../../src/protocol/errors.ts'
import type { TaskFile } from '../suite/taskFiles.ts'

/** Makes an empty folder in place of any existing one. */
export async function freshFolder(dir: string): Promise<void> {
  await removeFolder(dir)
  await mkdir(dir, { recursive: true })
}

/** Removes a folder with its contents, even if a command has made them unwritable. */
export async function removeFolder(dir: string): Promise<void> {
  try {
    await rm(dir, { recursive: true, force: true })
  } catch {
    await makeWritable(dir)
    // A process that a command has left behind may still write into it.
    await rm(dir, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Removes a folder that is no longer needed, as `removeFolder`. If it cannot be removed it stays, and no result is lost. */
export const tryRemoveFolder = (dir: string): Promise<void> => removeFolder(dir).catch(() => {})

/** Makes a folder and all folders in it writable, as far as they can be made so. Links are not followed. */
async function makeWritable(dir: string): Promise<void> {
  const found = await lstat(dir).catch(() => undefined)
  if (found?.isDirectory() !== true) return
  await chmod(dir, found.mode | 0o700).catch(() => {})
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await makeWritable(join(dir, entry.name))
}

/**
 * Puts files into a folder, in place of any existing ones. Files left by an agent are not trusted: a link in the way is removed and never followed,
 * so that all writing stays inside.
 */
export async function layFiles(dir: string, files: readonly TaskFile[]): Promise<void> {
  const made = new Set<string>()
  for (const file of files) {
    await realFolders(dir, dirname(file.path), made)
    const to = join(dir, file.path)
    await rm(to, { recursive: true, force: true })
    if ('link' in file) await symlink(file.link, to)
    else if ('text' in file) await writeFile(to, file.text, { flag: 'wx' })
    else await copyFile(file.from, to, constants.COPYFILE_EXCL)
  }
}

/**
 * Lays hidden files over a folder in any state that an agent may have left: a folder that is gone or has become a link is made anew, and an
 * unwritable one is made writable. Returns the reason if it fails because of the agent's work.
 *
 * @throws any error of `layFiles` that is not the agent's doing: a file of the suite cannot be read, or this machine has no room
 */
export async function layOver(dir: string, files: readonly TaskFile[]): Promise<string | undefined> {
  try {
    await realFolder(dir)
    await layFiles(dir, files)
  } catch {
    try {
      await realFolder(dir)
      await makeWritable(dir)
      await layFiles(dir, files)
    } catch (thrown) {
      if (ofMachine.some((code) => hasCode(thrown, code)) || !(await canBeRead(files))) throw thrown
      return messageOf(thrown)
    }
  }
  return undefined
}

/** Codes of machine errors: no room, too many open files, a broken disk. */
const ofMachine = ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EIO', 'EROFS'] as const

async function canBeRead(files: readonly TaskFile[]): Promise<boolean> {
  for (const file of files) if ('from' in file && !(await isReadable(file.from))) return false
  return true
}

const isReadable = (path: string): Promise<boolean> =>
  access(path, constants.R_OK).then(
    () => true,
    () => false,
  )

/** Makes sure that a folder exists and is not a link: anything else in its place is removed. */
async function realFolder(dir: string): Promise<void> {
  const found = await lstat(dir).catch(() => undefined)
  if (found?.isDirectory() === true) return
  await rm(dir, { force: true })
  // Not with those above it: nothing may be made where a link leads.
  await mkdir(dir)
}

/** Makes sure that all folders of a path are real ones. */
async function realFolders(dir: string, path: string, made: Set<string>): Promise<void> {
  if (path === '.' || made.has(path)) return
  await realFolders(dir, dirname(path), made)
  const folder = join(dir, path)
  await realFolder(folder)
  made.add(path)
}

/** Returns a fingerprint of a folder: a line for each file, by its path. A change of content changes the line, unless it is hidden on purpose. */
export async function fingerprint(dir: string, skip: (path: string) => boolean): Promise<ReadonlyMap<string, string>> {
  const lines = new Map<string, string>()
  const visit = async (path: string): Promise<void> => {
    const entries = await readdir(join(dir, path), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const below = path === '' ? entry.name : `${path}/${entry.name}`
      if (skip(below)) continue
      if (entry.isDirectory()) {
        await visit(below)
        continue
      }
      const found = await lstat(join(dir, below)).catch(() => undefined)
      if (found !== undefined) lines.set(below, [found.mode, found.size, found.mtimeMs, found.ino].join(' '))
    }
  }
  await visit('')
  return lines
}

/** Returns the paths that differ between two fingerprints, in order. Pure. */
export const changedPaths = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path)).toSorted()
