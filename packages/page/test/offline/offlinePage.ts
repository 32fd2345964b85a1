import { globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleOffline } from '../../../../scripts/offlinePage.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { PackLimits } from '../../src/sessionPages/packSession.ts'
import { writeSessionPages } from '../../src/sessionPages/writeSessionPages.ts'
import { hashOf, replace } from '../inspector/servedPage.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'

const root = join(import.meta.dirname, '..', '..', '..', '..')
const built = join(root, 'dist', 'offline')
/** Says from which sources the page was built that is there now. */
const stamp = join(root, '.escapement', 'offlinePage.json')

let isBuilt: Promise<void> | undefined

/** Makes sure that the page for sessions is the one of the present sources. Safe beside other processes that do the same. */
export function offlinePage(): Promise<void> {
  isBuilt ??= buildIfStale()
  return isBuilt
}

async function buildIfStale(): Promise<void> {
  const sources = await hashOf(join(root, 'src'), ...globSync(join(root, 'packages', '*', 'src')))
  if ((await readFile(stamp, 'utf8').catch(() => '')) === (await stampOf(sources))) return
  const made = await mkdtemp(join(tmpdir(), 'escapement-offline-'))
  try {
    await bundleOffline([], made)
    await mkdir(built, { recursive: true })
    for (const name of ['icon.svg', 'inspector.css', 'inspector.js']) await replace(join(made, name), join(built, name))
    await mkdir(join(root, '.escapement'), { recursive: true })
    await writeFile(stamp, await stampOf(sources))
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

/** Stamp of the sources and of the built files: somebody may have built another page in the meantime. */
const stampOf = async (sources: string): Promise<string> => `${sources} ${await hashOf(built)}`

/** A folder of its own that goes with the case. */
export async function someFolder({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'escapement report #1 '))
  cleanup(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Writes sessions into a folder of their own; gives it, and the address of the page there as a browser opens it from a disk. */
export async function writtenPages(
  context: Pick<CaseContext, 'cleanup'>,
  store: Store,
  ids: readonly string[],
  limits: PackLimits = {},
): Promise<{ readonly folder: string; readonly address: string }> {
  await offlinePage()
  const folder = await someFolder(context)
  const { page } = await writeSessionPages(folder, store, ids, limits)
  return { folder, address: pathToFileURL(join(folder, page)).href }
}
