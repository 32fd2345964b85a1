import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const repository = join(import.meta.dirname, '..', '..')

/** Of the repository, what `npm pack` needs to build the package and what goes into it. */
const parts =
  'src scripts docs examples README.md CHANGELOG.md LICENSE .gitignore package.json tsconfig.json tsconfig.build.json'

/** Runs npm by this Node. Rejects with all it printed. */
export async function npm(args: readonly string[], cwd: string, signal: AbortSignal): Promise<void> {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` }
  await promisify(execFile)('npm', args, { cwd, env, signal, maxBuffer: 64 * 1024 * 1024 }).catch((thrown: unknown) => {
    const { stdout, stderr } = thrown as { stdout: string; stderr: string }
    throw new Error(`npm ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: thrown })
  })
}

let packed: Promise<string> | undefined

/** The package as it would be published, in a folder: built beside the repository, once for all cases, and gone with the process. */
export const packedPackage = (signal: AbortSignal): Promise<string> => (packed ??= pack(signal))

async function pack(signal: AbortSignal): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'escapement-packed-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const copy = join(folder, 'repository')
  for (const part of parts.split(' ')) await cp(join(repository, part), join(copy, part), { recursive: true })
  await symlink(join(repository, 'node_modules'), join(copy, 'node_modules'))
  await npm(['pack', '--pack-destination', folder], copy, signal)
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))!
  // Beside it is what it depends on.
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
  const unpacked = join(folder, 'escapement')
  await mkdir(unpacked)
  await promisify(execFile)('tar', ['-xzf', join(folder, tarball), '-C', unpacked, '--strip-components', '1'], {
    signal,
  })
  await rm(copy, { recursive: true })
  return unpacked
}
