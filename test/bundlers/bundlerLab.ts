import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { CaseContext } from '../support/suite.ts'
import { npm, packedPackage } from './packedPackage.ts'

const here = import.meta.dirname
const lock = readFileSync(join(here, 'package-lock.json'))

/**
 * Where the bundlers are kept, by what is to be installed. Not in `node_modules` of the repository: bundlers treat what is in a folder of
 * that name as the code of others.
 */
const cache = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'escapement-bundlers',
  createHash('sha256').update(lock).digest('hex').slice(0, 16),
)

/** Why the bundlers cannot be had; `undefined`: they are there, or can be installed, or must be, as `CI` is set. */
export function whyNoBundlers(): string | undefined {
  if (existsSync(cache) || process.env['CI'] !== undefined) return undefined
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` }
  const options = ['--fetch-retries=0', '--fetch-timeout=5000']
  const { status } = spawnSync('npm', ['ping', ...options], { env, cwd: here, timeout: 8000, stdio: 'ignore' })
  return status === 0 ? undefined : 'skipped: the bundlers are not installed, and npm does not reach its registry'
}

let installing: Promise<void> | undefined

/** Installs what package-lock.json names; whole, or not at all. */
async function install(signal: AbortSignal): Promise<void> {
  if (existsSync(cache)) return
  await mkdir(dirname(cache), { recursive: true })
  const folder = await mkdtemp(`${cache}-`)
  for (const file of ['package.json', 'package-lock.json']) await cp(join(here, file), join(folder, file))
  await npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], folder, signal)
  await rename(folder, cache).catch((thrown: unknown) => {
    if (!existsSync(cache)) throw thrown
  })
}

/** A folder with the applications and the packed package, in which the bundlers work. */
export interface BundlerLab {
  /** The folder above everything that is bundled. */
  readonly root: string
  /** Where the applications are. */
  readonly apps: string
  /** A folder far from every `node_modules`, to run what was made. */
  readonly elsewhere: string
  /** Path of a bundler's script, or of a file of it to import. */
  bundler(path: string): string
}

/** Opens the lab; its folders are gone after the case. */
export async function openLab({ cleanup, signal }: CaseContext): Promise<BundlerLab> {
  await (installing ??= install(signal))
  const folder = await mkdtemp(join(cache, 'lab-'))
  cleanup(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const elsewhere = await mkdtemp(join(tmpdir(), 'escapement-bundle-'))
  cleanup(() => rm(elsewhere, { recursive: true, force: true }))
  const apps = join(folder, 'apps')
  await cp(join(here, 'apps'), apps, { recursive: true })
  await cp(await packedPackage(signal), join(apps, 'node_modules', 'escapement'), { recursive: true })
  return { root: cache, apps, elsewhere, bundler: (path) => join(cache, 'node_modules', path) }
}
