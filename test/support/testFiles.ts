import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'

/** The test files under `root`, sorted, from there and with `/`. Throws on a file that only looks like one. */
export function testFiles(root: string): readonly string[] {
  const all = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((path) => `test/${path.split(sep).join('/')}`)
    .toSorted()
  const stray = all.find((path) => /[._-](tests?|spec)\.[cm]?[jt]sx?$/.test(path) && !path.endsWith('.test.ts'))
  if (stray !== undefined) throw new Error(`${stray} would never run: name it *.test.ts`)
  const files = all.filter((path) => path.endsWith('.test.ts'))
  if (files.length === 0) throw new Error('There are no test files')
  return files
}

/** Those that one of the filters names; all where there are none. Throws on an idle filter. */
export function filtered(files: readonly string[], filters: readonly string[]): readonly string[] {
  const idle = filters.find((filter) => !files.some((file) => file.includes(filter)))
  if (idle !== undefined) throw new Error(`No test file has "${idle}" in its path`)
  return files.filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
}
