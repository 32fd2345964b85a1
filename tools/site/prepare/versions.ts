import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A version of the repository whose pages are built. */
export interface Version {
  /** `0.2.0`, or `unreleased`. */
  readonly name: string
  /** The folder with its files. */
  readonly root: string
}

/** A version with its place among the others. */
export interface PlacedVersion extends Version {
  readonly label: string
  readonly isReleased: boolean
  readonly isNewest: boolean
  /** Below the root of the site: `` for the newest, `0.1.0/` for others. */
  readonly folder: string
}

const unreleased = 'unreleased'

/** Versions from the newest on; what is not released comes first in the list, and stands at the root while nothing is. Pure. */
export function placed(versions: readonly Version[]): readonly PlacedVersion[] {
  const ordered = versions.toSorted((a, b) => compare(b.name, a.name))
  const newest = ordered.find(({ name }) => name !== unreleased) ?? ordered[0]
  return ordered.map((version) => {
    const isReleased = version.name !== unreleased
    const isNewest = version === newest
    return {
      ...version,
      isReleased,
      isNewest,
      label: isReleased ? version.name : 'Unreleased',
      folder: isNewest ? '' : `${version.name}/`,
    }
  })
}

/** Later versions are larger; what is not released yet is the largest. */
function compare(a: string, b: string): number {
  if (a === unreleased || b === unreleased) return Number(a === unreleased) - Number(b === unreleased)
  return a.localeCompare(b, 'en', { numeric: true })
}

const git = async (root: string, args: readonly string[]): Promise<string> =>
  (await promisify(execFile)('git', [...args], { cwd: root, maxBuffer: 64 * 1024 * 1024 })).stdout

/**
 * The versions that are tagged (`v1.2.3`, those with pages) and the working tree. Each tag is laid out in a folder of `work`; it shares the
 * repository's packages.
 */
export async function taggedVersions(repository: string, work: string): Promise<readonly Version[]> {
  const tags = (await git(repository, ['tag', '--list', 'v*']))
    .split('\n')
    .filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag))
  const released: Version[] = []
  for (const tag of tags) {
    const root = join(work, tag)
    const commit = (await git(repository, ['rev-parse', `${tag}^{commit}`])).trim()
    await layOut(repository, root, { tag, commit })
    if (existsSync(join(root, 'docs'))) released.push({ name: tag.slice(1), root })
  }
  return [...released, { name: unreleased, root: repository }]
}

async function layOut(
  repository: string,
  root: string,
  { tag, commit }: { tag: string; commit: string },
): Promise<void> {
  const mark = join(root, '.commit')
  if (existsSync(mark) && (await readFile(mark, 'utf8')) === commit) return
  await rm(root, { recursive: true, force: true })
  await mkdir(root, { recursive: true })
  const archive = join(root, '.tar')
  await git(repository, ['archive', '--output', archive, tag])
  await promisify(execFile)('tar', ['-xf', archive, '-C', root])
  await rm(archive)
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'))
  await writeFile(mark, commit)
}
