import type { Dirent } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { breather } from '../../../../src/actors/timing/breather.ts'

/** Folders that are skipped: tools generate their contents, which are rarely wanted. */
export const ignoredFolders: ReadonlySet<string> = new Set(['.git', 'node_modules', '.escapement'])

export interface FoundFile {
  /** Path relative to the folder in which the walk began, with `/`. */
  readonly path: string
  /** True for a symbolic link, which is reported and never followed. */
  readonly isLink: boolean
}

/**
 * Finds every file under a real folder, sorted by path; folders with a name in `skip`, linked folders and those that cannot be read are left out.
 * Contract: throws the signal's reason when it aborts; yields to the event loop. Holds the names of one chain of folders in memory.
 */
export async function* walkFiles(
  root: string,
  signal?: AbortSignal,
  skip = ignoredFolders,
  breathe = breather(),
): AsyncGenerator<FoundFile, void, undefined> {
  const stack: { prefix: string; entries: readonly Dirent[]; next: number }[] = [
    { prefix: '', entries: await sortedEntries(root), next: 0 },
  ]
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    await breathe()
    signal?.throwIfAborted()
    const entry = level.entries[level.next++]
    if (entry === undefined) {
      stack.pop()
      continue
    }
    const path = level.prefix + entry.name
    if (entry.isDirectory()) {
      if (!skip.has(entry.name))
        stack.push({ prefix: `${path}/`, entries: await sortedEntries(`${root}/${path}`), next: 0 })
    } else if (entry.isFile() || entry.isSymbolicLink()) yield { path, isLink: entry.isSymbolicLink() }
  }
}

async function sortedEntries(folder: string): Promise<readonly Dirent[]> {
  try {
    // A folder may have become a link since its name was read.
    if ((await realpath(folder)) !== folder) return []
    return (await readdir(folder, { withFileTypes: true })).toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
  } catch {
    return []
  }
}

/** Returns the sort key of an entry. Sorting folders as "name/" makes a depth-first walk visit all paths in sorted order. */
const key = (entry: Dirent): string => (entry.isDirectory() ? `${entry.name}/` : entry.name)
