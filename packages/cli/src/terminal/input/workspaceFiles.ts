import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../../../../src/protocol/ports/clock.ts'
import { hasCode } from '../../../../../src/protocol/errors.ts'

const mostPaths = 20_000
const deepest = 12
/** Age of the list, in milliseconds, from which it is read again when needed. */
const freshMs = 3_000
const slowestMs = 5_000

/** The files of a folder, for completion. */
export interface WorkspaceFiles {
  /** Returns the relative paths known so far, with `/` separators, and reads them again if they are old. */
  paths(): readonly string[]
}

/**
 * Lists the files of a folder: in a git repository those that are not ignored, elsewhere all but hidden ones and `node_modules`. Reads nothing before
 * the first call of `paths`. `onChange` is called when the files differ from those that `paths` returned.
 */
export function workspaceFiles(dir: string, clock: Clock, onChange: () => void): WorkspaceFiles {
  let known: readonly string[] = []
  let readAt = -Infinity
  let isReading = false
  const read = async (): Promise<void> => {
    isReading = true
    const paths = await listFiles(dir).catch(() => [])
    isReading = false
    readAt = clock.now()
    const isSame = paths.length === known.length && paths.every((path, index) => path === known[index])
    known = paths
    if (!isSame) onChange()
  }
  return {
    paths() {
      // A clock that jumps back reads once more.
      if (!isReading && !(clock.now() - readAt >= 0 && clock.now() - readAt < freshMs)) void read()
      return known
    },
  }
}

/** Returns the relative paths of a folder's files, at most 20,000. */
export async function listFiles(dir: string): Promise<readonly string[]> {
  const found = (await listedByGit(dir)) ?? (await walked(dir))
  // oxlint-disable-next-line no-control-regex -- a path with these cannot be typed
  return found.filter((path) => path !== '' && !/[\u0000-\u001F\u007F-\u009F"]/.test(path)).slice(0, mostPaths)
}

/** Lists files with git; `undefined` without git or a repository. */
const listedByGit = (dir: string): Promise<string[] | undefined> =>
  new Promise((resolve) => {
    // What a repository configures to watch files would be run.
    const args = ['-c', 'core.fsmonitor=false', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
    const options = { cwd: dir, timeout: slowestMs, maxBuffer: 8 * 1024 * 1024, encoding: 'utf8' } as const
    execFile('git', args, options, (error, stdout) => {
      // A list that is too long is cut, not lost.
      const isCut = hasCode(error, 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
      if (error !== null && !isCut) return resolve(undefined)
      const paths = stdout.split('\u0000')
      resolve([...new Set(isCut ? paths.slice(0, -1) : paths)])
    })
  })

async function walked(dir: string): Promise<string[]> {
  const files: string[] = []
  const folders: { readonly path: string; readonly depth: number }[] = [{ path: '', depth: 0 }]
  for (let folder = folders.shift(); folder !== undefined && files.length < mostPaths; folder = folders.shift()) {
    const { path, depth } = folder
    // One that may not be read has none.
    const entries = await readdir(join(dir, path), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      const inside = path === '' ? entry.name : `${path}/${entry.name}`
      if (entry.isFile()) files.push(inside)
      else if (entry.isDirectory() && depth < deepest) folders.push({ path: inside, depth: depth + 1 })
    }
  }
  return files.toSorted()
}
