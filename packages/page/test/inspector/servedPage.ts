import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { build } from 'vite'

const root = join(import.meta.dirname, '..', '..', '..', '..')
const page = join(root, 'packages', 'page', 'src', 'inspector')
const served = join(root, 'dist', 'inspector')
/** Says from which sources the page was built that is served now. */
const stamp = join(root, '.escapement', 'inspectorPage.json')

let isBuilt: Promise<void> | undefined

/**
 * Makes sure that the page servers give is the one of the present sources. Safe beside other processes that do the same: it is built
 * elsewhere and put in place file by file, the one that names the others last. Rejects when it does not build.
 */
export function servedPage(): Promise<void> {
  isBuilt ??= buildIfStale()
  return isBuilt
}

async function buildIfStale(): Promise<void> {
  const sources = await hashOf(join(root, 'src'), ...globSync(join(root, 'packages', '*', 'src')))
  if ((await readFile(stamp, 'utf8').catch(() => '')) === (await stampOf(sources))) return
  const built = await mkdtemp(join(tmpdir(), 'escapement-page-'))
  try {
    await build({ root: page, logLevel: 'error', build: { outDir: built, emptyOutDir: true } })
    await putInPlace(join(built, 'assets'), join(served, 'assets'))
    for (const name of ['icon.svg', 'index.html']) await replace(join(built, name), join(served, name))
    await mkdir(join(root, '.escapement'), { recursive: true })
    await writeFile(stamp, await stampOf(sources))
  } finally {
    await rm(built, { recursive: true, force: true })
  }
}

/**
 * Copies the files of a folder that the other one has not, or not with what is in them: those that are there are left alone, as others may be
 * reading them, and each that comes is there as a whole or not at all.
 */
export async function putInPlace(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) {
    const there = await readFile(join(to, name)).catch(() => undefined)
    if (there === undefined || !there.equals(await readFile(join(from, name))))
      await replace(join(from, name), join(to, name))
  }
}

export async function replace(from: string, to: string): Promise<void> {
  const copy = join(dirname(to), `.${process.pid}-${basename(to)}`)
  await copyFile(from, copy)
  await rename(copy, to)
}

/** Stamp of the sources and of the served files: somebody may have built another page in the meantime. */
const stampOf = async (sources: string): Promise<string> => `${sources} ${await hashOf(served)}`

/** Hash of the files in folders that make the page. */
export async function hashOf(...folders: readonly string[]): Promise<string> {
  const isTold = (name: string): boolean => /\.(tsx?|css|html|svg|js)$/.test(name) && !name.startsWith('.')
  const hash = createHash('sha256')
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
    const files = entries.filter((entry) => entry.isFile() && isTold(entry.name))
    const paths = files.map(({ parentPath, name }) => join(parentPath, name)).toSorted()
    for (const path of paths) hash.update(path.slice(folder.length)).update(await readFile(path))
  }
  return hash.digest('hex')
}
