import { pathError } from './port.ts'

/** Returns the folder of a canonical path; `.` for a path in the root. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/'))) || '.'

/** Returns the last name of a canonical path. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Returns the path of an entry in a folder. */
export const inFolder = (folder: string, name: string): string => (folder === '.' ? name : `${folder}/${name}`)

/**
 * Removes `.` and `..` from a path and makes it relative to the root; links are not resolved here. Pure.
 *
 * @throws RuntimeError `WORKSPACE_PATH` if the path leads out of the root, or is not a path
 */
export function lexicalPath(root: string, path: string): string {
  if (path.includes('\0')) throw pathError('WORKSPACE_PATH', path, 'holds a NUL character')
  if (!path.isWellFormed()) throw pathError('WORKSPACE_PATH', path, 'holds half a character')
  const base = root.endsWith('/') ? root : `${root}/`
  const isAbsolute = path.startsWith('/')
  const rest = isAbsolute && `${path}/`.startsWith(base) ? path.slice(base.length) : path
  const names: string[] = []
  let leaves = rest === path && isAbsolute
  for (const name of rest.split('/')) {
    if (name === '' || name === '.') continue
    if (name !== '..') names.push(name)
    else if (names.pop() === undefined) leaves = true
  }
  if (leaves) throw pathError('WORKSPACE_PATH', path, `is outside the workspace ${root}; use a path relative to it`)
  return names.join('/') || '.'
}
