import { lstat, readdir, readlink } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { RuntimeError } from '../../../../src/protocol/errors.ts'

/** A file that a task begins with, or that its checks see. `from`: the path from which it is copied; `link`: the target of a symbolic link. */
export type TaskFile = { readonly path: string } & (
  | { readonly from: string }
  | { readonly text: string }
  | { readonly link: string }
)

/** Names of files and folders that are installed or generated beside a suite's tasks. */
const leftOut: ReadonlySet<string> = new Set(['node_modules', '.git', '.escapement'])
/** The folders of a task. */
export const taskFolders: readonly string[] = ['files', 'check']

/**
 * Returns true if a path in a suite, judged by its name, is not part of it. Paths inside the folders of a task always are, whatever their names.
 * Pure.
 */
export function isNoPart(path: string): boolean {
  const [, second = '', ...rest] = path.split('/')
  return leftOut.has(path.slice(path.lastIndexOf('/') + 1)) && !(rest.length > 0 && taskFolders.includes(second))
}

/** Maximum number of files, enough for any task; a folder that holds more was named by mistake. */
const mostFiles = 20_000

/**
 * Returns the files below a folder, in order, links as links; none if there is no such folder. `skip`: returns true for paths below it, with `/`
 * between, to leave out.
 *
 * @throws RuntimeError `INVALID_OPTION` for a link that leads out of the folder, for anything that is neither a file nor a folder, and for too many
 * files.
 */
export async function filesBelow(root: string, skip: (path: string) => boolean = () => false): Promise<TaskFile[]> {
  const found: TaskFile[] = []
  const visit = async (dir: string): Promise<void> => {
    const entries = await readdir(dir, { withFileTypes: true })
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const from = join(dir, entry.name)
      const path = relative(root, from).split(sep).join('/')
      if (skip(path)) continue
      if (entry.isDirectory()) {
        await visit(from)
        continue
      }
      if (found.length === mostFiles)
        throw new RuntimeError('INVALID_OPTION', `${root} holds more than ${mostFiles} files, too many for a suite.`)
      found.push(await fileAt(root, from, path, entry))
    }
  }
  const isThere = (await lstat(root).catch(() => undefined))?.isDirectory() === true
  if (isThere) await visit(root)
  return found
}

async function fileAt(
  root: string,
  from: string,
  path: string,
  entry: { isFile(): boolean; isSymbolicLink(): boolean },
): Promise<TaskFile> {
  if (entry.isFile()) return { path, from }
  if (!entry.isSymbolicLink())
    throw new RuntimeError('INVALID_OPTION', `${from} is neither a file nor a folder, and cannot be copied.`)
  const link = await readlink(from)
  const target = resolve(dirname(from), link)
  if (target === root || target.startsWith(root + sep)) return { path, link: relative(dirname(from), target) || '.' }
  throw new RuntimeError('INVALID_OPTION', `${from} is a link to ${link}, which lies outside ${root}.`)
}
