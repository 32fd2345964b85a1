import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { buildSite } from '../../tools/site/buildSite.ts'
import { hasCode } from '../../src/protocol/errors.ts'
import { lockFile, type FileLock } from '../../packages/stores/src/lockFile.ts'
import { madeOnce } from '../support/madeOnce.ts'
import { isCi, type CaseBody, type It } from '../support/suite.ts'
import { sitePackages } from './sitePackages.ts'

const repository = join(import.meta.dirname, '..', '..')
const keptSites = join(repository, '.escapement', 'site')

/** Parts of a page. */
const parts = [
  'docs',
  'src',
  'packages',
  'tools',
  'examples',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.doors.json',
] as const
const files = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md'] as const
const isMade = /(?:^|\/)(?:node_modules|dist|\.[\w-]+)(?:\/|$)/

/** An earlier release, so that there is one. */
const earlier: Readonly<Record<string, string>> = {
  'README.md': '# escapement\n\nAs it was. See the [guide](docs/guide.md).\n',
  'docs/guide.md': '# Guide\n\nAs it was, without a playground.\n',
}

/** Longest a build takes, on a machine that does more. */
export const buildMs = 600_000

let built: Promise<string> | undefined

/**
 * The site with the working tree and an earlier release, in a folder: built from what is there now, and kept for the next run that finds the
 * same. The release stands at the root, what is not released at `/unreleased/`.
 */
export const builtSite = (signal: AbortSignal): Promise<string> => (built ??= findOrBuild(signal))

/** Registers a case that needs the site. */
export function withSite(it: It): (title: string, body: CaseBody) => void {
  return (title, body) => {
    if (!sitePackages.isThere() && !isCi())
      it.skip(`${title} (skipped: what builds it is missing; ${sitePackages.advice})`)
    else it(title, { timeoutMs: buildMs }, body)
  }
}

async function findOrBuild(signal: AbortSignal): Promise<string> {
  if (!sitePackages.isThere()) throw new Error(`What builds the site is missing: ${sitePackages.advice}.`)
  await mkdir(keptSites, { recursive: true })
  const found = join(keptSites, await keyOf())
  await madeOnce(found, () => build(found, signal), signal)
  await utimes(found, new Date(), new Date())
  await forgetOthers()
  return found
}

async function build(target: string, signal: AbortSignal): Promise<void> {
  const release = await mkdtemp(join(tmpdir(), 'escapement-release-'))
  const draft = await mkdtemp(join(keptSites, 'draft-'))
  const { folder, lock } = await claimFolder()
  try {
    await mkdir(join(release, 'docs'))
    for (const [path, text] of Object.entries(earlier)) await writeFile(join(release, path), text)
    const versions = [
      { name: '0.0.9', root: release },
      { name: 'unreleased', root: repository },
    ]
    const outDir = join(draft, 'site')
    await buildSite({ versions, packages: sitePackages.folder, outDir, work: folder, signal, print: () => {} })
    await rename(outDir, target).catch((thrown: unknown) => {
      if (!existsSync(target)) throw thrown
    })
  } finally {
    await lock.release()
    for (const each of [release, draft]) await rm(each, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** A folder that nobody else has, of the same name in every run that is alone. */
async function claimFolder(): Promise<{ readonly folder: string; readonly lock: FileLock }> {
  for (let number = 1; ; number += 1) {
    const folder = join(sitePackages.folder, `work-${number}`)
    try {
      return { folder, lock: await lockFile(`${folder}.lock`) }
    } catch (thrown) {
      if (!hasCode(thrown, 'STORE_LOCKED')) throw thrown
    }
  }
}

async function keyOf(): Promise<string> {
  const hash = createHash('sha256')
    .update(process.version)
    .update(await readFile(import.meta.filename))
  for (const part of [...parts, ...files])
    for (const path of await filesIn(join(repository, part)))
      hash.update(`\0${relative(repository, path)}\0`).update(await readFile(path))
  return hash.digest('hex').slice(0, 16)
}

async function filesIn(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const names = await readdir(path, { recursive: true, withFileTypes: true })
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !isMade.test(relative(path, file).replaceAll('\\', '/')))
    .toSorted()
}

/** Removes earlier builds but for the newest two. */
async function forgetOthers(): Promise<void> {
  const names = (await readdir(keptSites)).filter((name) => /^[0-9a-f]+$/.test(name))
  const dated = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(keptSites, name))).mtimeMs })),
  )
  for (const { name } of dated.toSorted((a, b) => b.at - a.at).slice(2))
    await rm(join(keptSites, name), { recursive: true, force: true })
}
