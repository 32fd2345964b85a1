import { lstatSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { errnoOf, fileProblem } from './fileProblem.ts'
import { isInside } from './isInside.ts'
import { wrongInName } from './wrongInName.ts'

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
  /**
   * Returns the canonical spelling of a path from the model: `show` of the place that `locate` finds. A `file` may not be named like a folder.
   * Contract: throws as `locate` rejects; two paths that lead to one place have one spelling.
   */
  spell(path: string, of: 'file' | 'folder'): string
  /** Returns a real path as the model sees it: relative, with `/`; `.` for the workspace itself. */
  show(real: string): string
}

/** Opens a folder as a workspace. @throws RuntimeError `INVALID_OPTION` when it is missing or not a folder. */
export function openWorkspace(dir: string): Workspace {
  const given = typeof dir === 'string' && dir !== '' ? resolve(dir) : undefined
  const root = given === undefined ? undefined : realFolder(given)
  if (given === undefined || root === undefined) {
    throw new RuntimeError('INVALID_OPTION', `The workspace ${JSON.stringify(dir)} is not an existing folder.`)
  }
  const show = (real: string): string => relative(root, real).split(sep).join('/') || '.'
  const locate = (path: string): string => {
    const real = realPlace(insideOf(root, given, wellFormed(path)), path)
    if (!isInside(root, real)) throw outside(path, root)
    return real
  }
  return {
    root,
    show,
    locate: async (path) => locate(path),
    spell: (path, of) => {
      const real = locate(path)
      if (of === 'file' && /(?:^|[/\\])\.{0,2}$/.test(path) && !isFolder(real)) {
        const name = JSON.stringify(show(real))
        throw new Error(`path ${JSON.stringify(path)} ends as a folder's does; if you mean the file ${name}, say so`)
      }
      return show(real)
    },
  }
}

/** Refuses half characters, which would be written as U+FFFD: two texts must not mean the same path. */
function wellFormed(path: string): string {
  if (path.includes('\0')) throw new Error(`path ${JSON.stringify(path)} holds a NUL character`)
  if (!path.isWellFormed()) throw new Error(`path ${JSON.stringify(path)} holds half a character`)
  return path
}

const isFolder = (real: string): boolean => statSync(real, { throwIfNoEntry: false })?.isDirectory() === true

function realFolder(dir: string): string | undefined {
  try {
    const root = realpathSync.native(dir)
    return statSync(root).isDirectory() ? root : undefined
  } catch {
    return undefined
  }
}

/** Returns the path without `.` and `..`, under `root`. A path under the folder's given name counts as under its real one. */
function insideOf(root: string, given: string, path: string): string {
  const byGivenName = isAbsolute(path) && isInside(given, path)
  const absolute = byGivenName ? join(root, relative(given, path)) : resolve(root, path)
  if (!isInside(root, absolute)) throw outside(path, root)
  return absolute
}

/**
 * Returns the real path of a place: resolves links in the part that exists, with names as on the disk,
 * and appends the rest. A missing name is taken in its composed form (NFC), which looks the same.
 */
function realPlace(place: string, asked: string): string {
  try {
    const real = realpathSync.native(place)
    if (process.platform === 'win32') for (const name of real.split(sep).slice(1)) checkName(name, asked)
    return real
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT' || dirname(place) === place) throw fileProblem(thrown, asked)
  }
  const name = basename(place)
  const composed = name.normalize('NFC')
  const folder = realPlace(dirname(place), asked)
  const real = join(folder, name)
  // A dangling link: writing through it would create its target, wherever that is.
  if (lstatSync(real, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    throw new Error(
      `path ${JSON.stringify(asked)} leads through a broken symbolic link, which may point outside the workspace; use another path`,
    )
  }
  if (composed !== name) return realPlace(join(folder, composed), asked)
  checkName(name, asked)
  return real
}

function checkName(name: string, asked: string): void {
  const wrong = wrongInName(name)
  if (wrong !== undefined) throw new Error(`path ${JSON.stringify(asked)}: ${wrong}`)
}

const outside = (path: string, root: string): Error =>
  new Error(`path ${JSON.stringify(path)} is outside the workspace ${root}; use a path relative to it`)
