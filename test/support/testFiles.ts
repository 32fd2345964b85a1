import { globSync } from 'node:fs'
import { sep } from 'node:path'

/** The test files under `root`, sorted, from there and with `/`. Throws on a file that only looks like one. */
export function testFiles(root: string): readonly string[] {
  const all = globSync(['test/**', 'packages/*/test/**'], { cwd: root })
    .map((path) => path.split(sep).join('/'))
    .toSorted()
  const stray = all.find((path) => /[._-](tests?|spec)\.[cm]?[jt]sx?$/.test(path) && !path.endsWith('.test.ts'))
  if (stray !== undefined) throw new Error(`${stray} would never run: name it *.test.ts`)
  const files = all.filter((path) => path.endsWith('.test.ts'))
  if (files.length === 0) throw new Error('There are no test files')
  return files
}

/** Tells whether `npm test` leaves a file out unless its path is given. */
export const isFull = (file: string): boolean => file.endsWith('.full.test.ts')

/** The name by which `npm test` leaves a file out. */
export const asFull = (file: string): string => file.replace(/(?:\.full)?\.test\.ts$/, '.full.test.ts')

/** The files that one of the filters names; all if there are no filters. Throws on a filter that names none. */
export function filtered(files: readonly string[], filters: readonly string[]): readonly string[] {
  const idle = filters.find((filter) => !files.some((file) => file.includes(filter)))
  if (idle !== undefined) throw new Error(`No test file has "${idle}" in its path${resembling(files, idle)}`)
  return files.filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
}

const mostNamed = 3

/** Files that a filter may have meant: paths that have one of its words, whatever their case. */
function resembling(files: readonly string[], filter: string): string {
  const words = filter
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 2 && !/^(?:test|full)$/.test(word))
  const likeness = (file: string): number => words.filter((word) => file.toLowerCase().includes(word)).length
  const found = files.filter((file) => likeness(file) > 0).toSorted((a, b) => likeness(b) - likeness(a))
  if (found.length === 0) return '.'
  const more = found.length > mostNamed ? ` and ${found.length - mostNamed} more` : ''
  return `. Some that resemble it: ${found.slice(0, mostNamed).join(', ')}${more}.`
}
