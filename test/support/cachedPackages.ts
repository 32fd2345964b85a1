import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { npm } from '../bundlers/packedPackage.ts'
import { fullOnly } from './fullOnly.ts'
import type { Provision } from './setUp.ts'

const mostMs = 300_000

export interface CachedPackages extends Provision {
  /** Folder in whose `node_modules` they are. */
  readonly folder: string
}

/**
 * Packages that some tests need and that the repository does not install: those of the package.json and its lock file in the folder `here`, installed
 * once into the user's cache. Not in `node_modules` of the repository: bundlers treat what is in a folder of that name as the code of others.
 */
export function cachedPackages({
  name,
  door,
  here,
  cache,
  withoutOptional = false,
  withoutPeers = false,
}: {
  readonly name: string
  readonly door: string
  readonly here: string
  /** Name of its folder in the cache. */
  readonly cache: string
  /** True to leave out optional dependencies of packages, such as programs for one platform. */
  readonly withoutOptional?: boolean
  /** True to leave out peers that packages ask for and that the package.json does not name. */
  readonly withoutPeers?: boolean
}): CachedPackages {
  const folder = join(
    process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
    cache,
    createHash('sha256')
      .update(readFileSync(join(here, 'package-lock.json')))
      .digest('hex')
      .slice(0, 16),
  )
  return {
    name,
    door,
    folder,
    isThere() {
      fullOnly('packages that npm ci does not install')
      return existsSync(folder)
    },
    way: () => `in ${dirname(folder)}`,
    install: () =>
      install(here, folder, [
        ...(withoutOptional ? ['--omit=optional'] : []),
        ...(withoutPeers ? ['--legacy-peer-deps'] : []),
      ]),
    advice: 'run npm test where npm reaches its registry',
  }
}

/** Lock files of older npm do not say for which C library a package is. */
const isForMusl = (path: string): boolean => path.includes('musl')
function hasMusl(): boolean {
  const report = process.report?.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } }
  return process.platform === 'linux' && report?.header?.glibcVersionRuntime === undefined
}

/** Paths of the packages for this platform that are in the lock file of a folder and not in the folder. */
export function missingPrograms(folder: string): string[] {
  const isMusl = hasMusl()
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    readonly packages: {
      readonly [path: string]: { readonly os?: readonly string[]; readonly cpu?: readonly string[] }
    }
  }
  return Object.entries(lock.packages).flatMap(([path, { os, cpu }]) =>
    os?.includes(process.platform) &&
    cpu?.includes(process.arch) &&
    isForMusl(path) === isMusl &&
    !existsSync(join(folder, path))
      ? [path]
      : [],
  )
}

/** Installs the packages of the lock file, all or none. */
async function install(here: string, target: string, options: readonly string[]): Promise<void> {
  await npm(['ping', '--fetch-retries=0', '--fetch-timeout=5000'], here, AbortSignal.timeout(8_000)).catch(() => {
    throw new Error('npm had no answer from its registry within 8 seconds')
  })
  await mkdir(dirname(target), { recursive: true })
  const folder = await mkdtemp(`${target}-`)
  try {
    for (const file of ['package.json', 'package-lock.json']) await cp(join(here, file), join(folder, file))
    const ci = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', ...options]
    for (let tries = 1; ; tries += 1) {
      await npm(ci, folder, AbortSignal.timeout(mostMs))
      // npm goes on without a program for this platform when its registry fails once, and what is kept would lack it for ever.
      const left = options.includes('--omit=optional') ? [] : missingPrograms(folder)
      if (left.length === 0) break
      if (tries === 3) throw new Error(`npm did not install ${left.join(', ')}`)
    }
    await rename(folder, target).catch((thrown: unknown) => {
      if (!existsSync(target)) throw thrown
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
