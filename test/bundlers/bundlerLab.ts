import { cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../../src/protocol/errors.ts'
import { lockFile, type FileLock } from '../../packages/stores/src/lockFile.ts'
import type { CaseContext } from '../support/suite.ts'
import { bundlers, bundlersFolder } from './bundlers.ts'
import { packedPackage } from './packedPackage.ts'

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
  /** Puts in place what `keepCache` kept of an application's folder in an earlier run; nothing when there is none. */
  restoreCache(path: string): Promise<void>
  /** Keeps a folder of an application, by a path from `apps`, for later runs; not one that has grown too large. */
  keepCache(path: string): Promise<void>
}

/** A cache grows with each package that is built with it, and begins anew beyond this. */
const mostCacheBytes = 200 * 2 ** 20

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** True for files that no bundler reads; they are most of the files. */
const isDeclaration = (path: string): boolean => /\.d\.ts(?:\.map)?$/.test(path)

/** Opens the lab; its folders are gone after the case. */
export async function openLab({ cleanup, signal }: CaseContext): Promise<BundlerLab> {
  if (!bundlers.isThere()) throw new Error(`The bundlers are missing: ${bundlers.advice}.`)
  const packed = await packedPackage(signal)
  const { folder, lock } = await claimFolder()
  cleanup(() => lock.release())
  const removed = { recursive: true, force: true, maxRetries: 5 }
  // It is there when a run was killed.
  await rm(folder, removed)
  cleanup(() => rm(folder, removed))
  const elsewhere = await mkdtemp(join(tmpdir(), 'escapement-bundle-'))
  cleanup(() => rm(elsewhere, { recursive: true, force: true }))
  const apps = join(folder, 'apps')
  await cp(join(import.meta.dirname, 'apps'), apps, { recursive: true })
  const installed = join(apps, 'node_modules', 'escapement')
  await cp(join(packed, 'dist'), join(installed, 'dist'), { recursive: true, filter: (path) => !isDeclaration(path) })
  await cp(join(packed, 'package.json'), join(installed, 'package.json'))
  const keptOf = (path: string): string => `${folder}-${path.replaceAll(/\W+/g, '-')}`
  return {
    root: bundlersFolder,
    apps,
    elsewhere,
    bundler: (path) => join(bundlersFolder, 'node_modules', path),
    async restoreCache(path) {
      await mkdir(join(apps, path, '..'), { recursive: true })
      await rename(keptOf(path), join(apps, path)).catch((thrown: unknown) => {
        if (!hasCode(thrown, 'ENOENT')) throw thrown
      })
    },
    async keepCache(path) {
      await rm(keptOf(path), removed)
      if ((await bytesIn(join(apps, path))) <= mostCacheBytes) await rename(join(apps, path), keptOf(path))
    },
  }
}

/** A folder that nobody else has, of the same name in every run that is alone: caches of bundlers go by paths. */
async function claimFolder(): Promise<{ readonly folder: string; readonly lock: FileLock }> {
  for (let number = 1; ; number += 1) {
    const folder = join(bundlersFolder, `lab-${number}`)
    try {
      return { folder, lock: await lockFile(`${folder}.lock`) }
    } catch (thrown) {
      if (!hasCode(thrown, 'STORE_LOCKED')) throw thrown
    }
  }
}
