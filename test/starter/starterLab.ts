import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
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
  /** Packages: escapement as it is packed, and what the templates depend on. */
  readonly modules: string
  /** Lets a project find them. */
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
  const { program, modules } = await (prepared ??= prepare(signal))
  return { root, program, modules, equip: (project) => symlink(modules, join(project, 'node_modules')) }
}

let prepared: Promise<Pick<StarterLab, 'program' | 'modules'>> | undefined

/** For all cases of this process. */
async function prepare(signal: AbortSignal): Promise<Pick<StarterLab, 'program' | 'modules'>> {
  const folder = await mkdtemp(join(tmpdir(), 'escapement-starter-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return { program: await packedProgram(folder, signal), modules: await linkedModules(folder, signal) }
}

async function packedProgram(folder: string, signal: AbortSignal): Promise<string> {
  await npm(['pack', '--silent', '--pack-destination', folder], starter, signal)
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))!
  const unpacked = join(folder, 'create-escapement')
  await mkdir(unpacked)
  const words = ['-xzf', join(folder, tarball), '-C', unpacked, '--strip-components', '1']
  await promisify(execFile)('tar', words, { signal })
  return join(unpacked, 'dist', 'main.js')
}

/** A folder `node_modules` with links to the packages of the cache, and escapement as a copy, so that it finds them too. */
async function linkedModules(folder: string, signal: AbortSignal): Promise<string> {
  const from = join(starterPackages.folder, 'node_modules')
  const to = join(folder, 'modules', 'node_modules')
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) await symlink(join(from, name), join(to, name))
  const packed = await packedPackage(signal)
  for (const part of ['dist', 'package.json'])
    await cp(join(packed, part), join(to, 'escapement', part), { recursive: true })
  return to
}
