import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { fullOnly } from '../support/fullOnly.ts'
import { madeOnce } from '../support/madeOnce.ts'

const repository = join(import.meta.dirname, '..', '..')

/** The pages that go into the package. */
function pages(): readonly string[] {
  const manifest = readFileSync(join(repository, 'package.json'), 'utf8')
  const { files } = JSON.parse(manifest) as { files: readonly string[] }
  return files.filter((file) => file.startsWith('docs/')).flatMap((pattern) => globSync(pattern, { cwd: repository }))
}

/** Parts of the repository that `npm pack` needs and packs; the lock file stands for the tools. */
export const parts: readonly string[] = [
  'src',
  'packages',
  'scripts',
  'suites',
  ...pages(),
  'README.md',
  'LICENSE',
  '.gitignore',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'tsconfig.doors.json',
]

/** Runs npm by this Node. Rejects with all it printed. */
export async function npm(args: readonly string[], cwd: string, signal: AbortSignal): Promise<void> {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` }
  await promisify(execFile)('npm', args, { cwd, env, signal, maxBuffer: 64 * 1024 * 1024 }).catch((thrown: unknown) => {
    const { stdout, stderr } = thrown as { stdout: string; stderr: string }
    throw new Error(`npm ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: thrown })
  })
}

/** Packages by what they were made of. Beside what they depend on: they find it in the repository. */
const keptPackages = join(repository, '.escapement', 'packed')
/** No run takes so long. */
const unusedMs = 3_600_000

let packed: Promise<string> | undefined

/**
 * The package as it would be published, in a folder: built beside the repository, by one process for all that ask at once, and kept for the next run
 * that finds the same sources and tools. Nothing may be written into it.
 */
export const packedPackage = (signal: AbortSignal): Promise<string> => {
  fullOnly('the package as it is published')
  return (packed ??= findOrPack(signal))
}

async function findOrPack(signal: AbortSignal): Promise<string> {
  await mkdir(keptPackages, { recursive: true })
  const found = join(keptPackages, await keyOf(repository))
  let kept = found
  await madeOnce(
    found,
    async () => {
      kept = await pack(signal)
    },
    signal,
  )
  await utimes(kept, new Date(), new Date())
  await forgetUnused()
  return join(kept, 'escapement')
}

/** Key of everything that the package is made of, and by. */
export async function keyOf(root: string): Promise<string> {
  const hash = createHash('sha256').update(process.version)
  for (const part of parts)
    for (const path of await filesIn(join(root, part)))
      hash.update(`\0${relative(root, path)}\0`).update(await readFile(path))
  return hash.digest('hex').slice(0, 16)
}

async function filesIn(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()
}

async function pack(signal: AbortSignal): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'escapement-packed-'))
  // Where it can be renamed from: another process may be making the same one.
  const draft = await mkdtemp(join(keptPackages, 'draft-'))
  try {
    const copy = join(folder, 'repository')
    for (const part of parts) await cp(join(repository, part), join(copy, part), { recursive: true })
    // Of the copy: somebody may be writing in the repository.
    const kept = join(keptPackages, await keyOf(copy))
    await symlink(join(repository, 'node_modules'), join(copy, 'node_modules'))
    await npm(['pack', '--silent', '--pack-destination', folder], copy, signal)
    const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))!
    const unpacked = join(draft, 'escapement')
    await mkdir(unpacked)
    await promisify(execFile)('tar', ['-xzf', join(folder, tarball), '-C', unpacked, '--strip-components', '1'], {
      signal,
    })
    await rename(draft, kept).catch((thrown: unknown) => {
      if (!existsSync(kept)) throw thrown
    })
    return kept
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    await rm(draft, { recursive: true, force: true })
  }
}

/** Removes what no run has used for long. */
async function forgetUnused(): Promise<void> {
  for (const name of await readdir(keptPackages)) {
    const path = join(keptPackages, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }))
    if (Date.now() - mtimeMs > unusedMs) await rm(path, { recursive: true, force: true })
  }
}
