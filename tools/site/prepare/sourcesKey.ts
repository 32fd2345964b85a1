import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Key of the sources of a version and of the programs that read them. */
export async function sourcesKey(root: string, ...programs: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const program of programs) hash.update(await readFile(program))
  const names = globSync('{src,packages/*/src}/**/*.{ts,tsx,css}', { cwd: root }).toSorted()
  for (const name of names) hash.update(`\0${name}\0`).update(await readFile(join(root, name)))
  for (const name of ['package.json', 'tsconfig.json']) hash.update(await readFile(join(root, name)))
  return hash.digest('hex').slice(0, 16)
}
