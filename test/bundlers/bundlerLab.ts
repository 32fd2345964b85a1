import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
}

/** Opens the lab; its folders are gone after the case. */
export async function openLab({ cleanup, signal }: CaseContext): Promise<BundlerLab> {
  if (!bundlers.isThere()) throw new Error(`The bundlers are missing: ${bundlers.advice}.`)
  const folder = await mkdtemp(join(bundlersFolder, 'lab-'))
  cleanup(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const elsewhere = await mkdtemp(join(tmpdir(), 'escapement-bundle-'))
  cleanup(() => rm(elsewhere, { recursive: true, force: true }))
  const apps = join(folder, 'apps')
  await cp(join(import.meta.dirname, 'apps'), apps, { recursive: true })
  await cp(await packedPackage(signal), join(apps, 'node_modules', 'escapement'), { recursive: true })
  return { root: bundlersFolder, apps, elsewhere, bundler: (path) => join(bundlersFolder, 'node_modules', path) }
}
