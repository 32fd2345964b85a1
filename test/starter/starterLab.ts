import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { npm, packedPackage } from '../bundlers/packedPackage.ts'
import type { CaseContext } from '../support/suite.ts'
import { starterPackages } from './runtimes.ts'

const starter = join(import.meta.dirname, '..', '..', 'create-escapement')

/** Where projects of the starter are made, built and run. */
export interface StarterLab {
  /** A folder for projects, gone after the case. */
  readonly root: string
  /** The built program of the starter, from its tarball. */
  readonly program: string
  /** Lets a project find its packages: escapement as it is packed, and what the templates depend on. */
  equip(project: string): Promise<void>
}

/** Opens the lab. */
export async function openStarterLab({
  cleanup,
  signal,
}: Pick<CaseContext, 'cleanup' | 'signal'>): Promise<StarterLab> {
  if (!starterPackages.isThere()) throw new Error(`Packages are missing: ${starterPackages.advice}.`)
  const root = await mkdtemp(join(tmpdir(), 'escapement-starter-'))
  cleanup(() => rm(root, { recursive: true, force: true, maxRetries: 5 }))
  await npm(['pack', '--silent', '--pack-destination', root], starter, signal)
  const tarball = (await readdir(root)).find((name) => name.endsWith('.tgz'))!
  const unpacked = join(root, 'create-escapement')
  await mkdir(unpacked)
  const words = ['-xzf', join(root, tarball), '-C', unpacked, '--strip-components', '1']
  await promisify(execFile)('tar', words, { signal })
  let modules: Promise<string> | undefined
  return {
    root,
    program: join(unpacked, 'dist', 'main.js'),
    async equip(project) {
      await symlink(await (modules ??= linkedModules(root, signal)), join(project, 'node_modules'))
    },
  }
}

/** A folder `node_modules` with links to the packages of the cache, and escapement as a copy, so that it finds them too. */
async function linkedModules(root: string, signal: AbortSignal): Promise<string> {
  const from = join(starterPackages.folder, 'node_modules')
  const to = join(root, 'modules', 'node_modules')
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) await symlink(join(from, name), join(to, name))
  const packed = await packedPackage(signal)
  for (const part of ['dist', 'package.json'])
    await cp(join(packed, part), join(to, 'escapement', part), { recursive: true })
  return to
}
