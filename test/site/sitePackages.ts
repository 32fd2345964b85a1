import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { npm } from '../bundlers/packedPackage.ts'
import type { Provision } from '../support/setUp.ts'

const site = join(import.meta.dirname, '..', '..', 'tools', 'site')
const lock = readFileSync(join(site, 'package-lock.json'))
const mostMs = 300_000

/** Where what builds the site is kept, by what is to be installed. */
export const sitePackagesFolder = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'escapement-site',
  createHash('sha256').update(lock).digest('hex').slice(0, 16),
)

/** Installs what tools/site/package-lock.json names; whole, or not at all. */
async function install(): Promise<void> {
  await npm(['ping', '--fetch-retries=0', '--fetch-timeout=5000'], site, AbortSignal.timeout(8_000)).catch(() => {
    throw new Error('npm does not reach its registry')
  })
  await mkdir(dirname(sitePackagesFolder), { recursive: true })
  const folder = await mkdtemp(`${sitePackagesFolder}-`)
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc']) await cp(join(site, file), join(folder, file))
    await npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], folder, AbortSignal.timeout(mostMs))
    await rename(folder, sitePackagesFolder).catch((thrown: unknown) => {
      if (!existsSync(sitePackagesFolder)) throw thrown
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Astro, Starlight and TypeDoc. */
export const sitePackages: Provision = {
  name: 'What builds the documentation site',
  door: 'test/site/builtSite.ts',
  isThere: () => existsSync(sitePackagesFolder),
  way: () => `in ${dirname(sitePackagesFolder)}`,
  install,
  advice: 'run npm test where npm reaches its registry',
}
