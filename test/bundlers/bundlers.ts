import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Provision } from '../support/setUp.ts'
import { npm } from './packedPackage.ts'

const here = import.meta.dirname
const lock = readFileSync(join(here, 'package-lock.json'))
const mostMs = 300_000

/**
 * Where the bundlers are kept, by what is to be installed. Not in `node_modules` of the repository: bundlers treat what is in a folder of
 * that name as the code of others.
 */
export const bundlersFolder = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'escapement-bundlers',
  createHash('sha256').update(lock).digest('hex').slice(0, 16),
)

/** Installs what package-lock.json names; whole, or not at all. */
async function install(): Promise<void> {
  await npm(['ping', '--fetch-retries=0', '--fetch-timeout=5000'], here, AbortSignal.timeout(8_000)).catch(() => {
    throw new Error('npm does not reach its registry')
  })
  await mkdir(dirname(bundlersFolder), { recursive: true })
  const folder = await mkdtemp(`${bundlersFolder}-`)
  try {
    for (const file of ['package.json', 'package-lock.json']) await cp(join(here, file), join(folder, file))
    await npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], folder, AbortSignal.timeout(mostMs))
    await rename(folder, bundlersFolder).catch((thrown: unknown) => {
      if (!existsSync(bundlersFolder)) throw thrown
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Vite, esbuild, webpack and Next.js. */
export const bundlers: Provision = {
  name: 'The bundlers',
  door: 'test/bundlers/bundlerLab.ts',
  isThere: () => existsSync(bundlersFolder),
  way: () => `in ${dirname(bundlersFolder)}`,
  install,
  advice: 'run npm test where npm reaches its registry',
}
