import { constants } from 'node:fs'
import { open, readdir, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { errnoOf, fileProblem } from './fileProblem.ts'
import { mostSimilar } from './similarity.ts'
import type { Workspace } from './workspacePath.ts'

// Without O_NONBLOCK, opening a named pipe waits for its other end. Windows has neither flag.
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** A file open for reading; the caller that opened it closes it. */
export interface OpenFile {
  readonly handle: FileHandle
  readonly size: number
  readonly real: string
}

/**
 * Opens a file of the workspace for reading; does not follow a symbolic link that replaced it after `locate`.
 * Contract: rejects with an error written for the model; for a missing file it lists files of similar names.
 */
export async function openRegularFile(workspace: Workspace, path: string): Promise<OpenFile> {
  const real = await workspace.locate(path)
  const handle = await open(real, readFlags).catch(async (thrown: unknown) => {
    throw errnoOf(thrown) === 'ENOENT' ? await missing(workspace, path, real) : fileProblem(thrown, path)
  })
  try {
    if ((await placeOf(handle, real)) !== real)
      throw new Error(`path ${JSON.stringify(path)} changed its place meanwhile; try again`)
    const stats = await handle.stat()
    if (stats.isDirectory())
      throw new Error(`path ${JSON.stringify(path)} is a folder, not a file; use list_files to see inside`)
    if (!stats.isFile()) throw new Error(`path ${JSON.stringify(path)} is not a regular file`)
    return { handle, size: stats.size, real }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

/** Returns the real path of an open file, since a folder above it may have been replaced by a link after the lookup. */
export const placeOf = (handle: FileHandle, real: string): Promise<string> =>
  // Only Linux tells of the file itself, and of one that was replaced since; elsewhere its path is resolved again.
  readlink(`/proc/self/fd/${handle.fd}`).then(
    (place) => (place === `${real} (deleted)` ? real : place),
    () => realpath(real),
  )

async function missing(workspace: Workspace, path: string, real: string): Promise<Error> {
  const folder = dirname(real)
  const names = await readdir(folder).catch(() => undefined)
  return missingFile(path, { folder: workspace.show(folder), name: basename(real), names })
}

/** Returns an error for a missing file, with similar names in its folder. `names`: those in the folder; `undefined` if it is missing too. */
export function missingFile(
  path: string,
  place: { readonly folder: string; readonly name: string; readonly names: readonly string[] | undefined },
): Error {
  const { folder, name, names } = place
  const where = JSON.stringify(folder)
  if (names === undefined) return new Error(`path ${JSON.stringify(path)} does not exist, nor does its folder ${where}`)
  const near = mostSimilar(name, names, { count: 5 }).map(({ candidate }) =>
    JSON.stringify(folder === '.' ? candidate : `${folder}/${candidate}`),
  )
  return new Error(
    near.length > 0
      ? `path ${JSON.stringify(path)} does not exist; similar names there: ${near.join(', ')}`
      : `path ${JSON.stringify(path)} does not exist; use list_files to see what is in ${where}`,
  )
}

/** Returns true if the first bytes of a file look binary: text has no NUL. */
export const looksBinary = (start: Uint8Array): boolean => start.subarray(0, 8192).includes(0)

/** Returns an error that says that a file is not text, with its size. */
export const binaryFile = (path: string, size: number): Error =>
  new Error(
    `path ${JSON.stringify(path)} is a binary file or not UTF-8 (${size} bytes); only UTF-8 text can be read and edited`,
  )
