import { realpathSync, statSync } from 'node:fs'
import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { RuntimeError } from '../../../protocol/errors.ts'
import { errnoOf, fileProblem } from './fileProblem.ts'
import { isInside } from './isInside.ts'

/** A folder the file tools cannot leave. */
export interface Workspace {
  /** Real path of the folder, resolved once: the option may have been a symbolic link. */
  readonly root: string
  /**
   * Resolves a path from the model, existing or not, to a real path without symbolic links.
   * Contract: rejects with a message for the model if it is outside the workspace, or goes through a broken link or something that
   * is not a folder. Valid only at the time of the call: resolve again for every tool call.
   */
  locate(path: string): Promise<string>
  /** A real path as the model sees it: relative, with `/`; `.` for the workspace itself. */
  show(real: string): string
}

/** Opens a folder as a workspace. @throws RuntimeError `INVALID_OPTION` when it is missing or not a folder. */
export function openWorkspace(dir: string): Workspace {
  const given = typeof dir === 'string' && dir !== '' ? resolve(dir) : undefined
  const root = given === undefined ? undefined : realFolder(given)
  if (given === undefined || root === undefined) {
    throw new RuntimeError('INVALID_OPTION', `The workspace ${JSON.stringify(dir)} is not an existing folder.`)
  }
  return {
    root,
    show: (real) => relative(root, real).split(sep).join('/') || '.',
    locate: async (path) => {
      if (path.includes('\0')) throw new Error(`path ${JSON.stringify(path)} holds a NUL character`)
      const real = await realPlace(insideOf(root, given, path), path)
      if (!isInside(root, real)) throw outside(path, root)
      return real
    },
  }
}

function realFolder(dir: string): string | undefined {
  try {
    const root = realpathSync(dir)
    return statSync(root).isDirectory() ? root : undefined
  } catch {
    return undefined
  }
}

/** The path without `.` and `..`, under `root`; one under the folder's given name counts as under its real one. */
function insideOf(root: string, given: string, path: string): string {
  const byGivenName = isAbsolute(path) && isInside(given, path)
  const absolute = byGivenName ? join(root, relative(given, path)) : resolve(root, path)
  if (!isInside(root, absolute)) throw outside(path, root)
  return absolute
}

/** Resolves the links of the part that exists and appends the rest unchanged. */
async function realPlace(place: string, asked: string): Promise<string> {
  try {
    return await realpath(place)
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT' || dirname(place) === place) throw fileProblem(thrown, asked)
  }
  const real = join(await realPlace(dirname(place), asked), basename(place))
  const isLink = await readlink(real).then(
    () => true,
    () => false,
  )
  // A dangling link: writing through it would create its target, wherever that is.
  if (isLink) {
    throw new Error(
      `path ${JSON.stringify(asked)} leads through a broken symbolic link, which may point outside the workspace; use another path`,
    )
  }
  return real
}

const outside = (path: string, root: string): Error =>
  new Error(`path ${JSON.stringify(path)} is outside the workspace ${root}; use a path relative to it`)
