/**
 * Builds the pages of `dist` where they are missing or older than a source, and says so: `npm start` needs them, and runs all else from its sources.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** One file of each page: it is there when the page is. */
const made = ['dist/inspector/index.html', 'dist/offline/inspector.js']
const sources = ['src', 'packages', 'package-lock.json']

/** When it was last written, in milliseconds; of a folder, also when something was added or removed. 0: it is not there. */
const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

function filesIn(path: string): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path]
  return [path, ...readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name))]
}

/** Says whether the pages of the repository at this place have to be built. */
export function isStale(repository: string): boolean {
  const built = Math.min(...made.map((path) => changedAt(join(repository, path))))
  return sources.flatMap((path) => filesIn(join(repository, path))).some((path) => changedAt(path) > built)
}

if (import.meta.main && isStale(join(import.meta.dirname, '..'))) {
  console.log('Building the inspector page: it is missing, or older than its sources …')
  const { bundlePages } = await import('./bundle.ts')
  await bundlePages()
}
