/**
 * `npm run release -- [version] [--dry] [--repository <address>]`: checks, tests with all seeds, dates the changelog, packs, commits and tags. Publishing is left to a
 * person or to a workflow: the last lines say how. With --dry nothing in the repository changes: both packages are packed in a copy and looked at,
 * and the rest is printed.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { wrongInStarter, wrongInTarball, type Tarball } from './releaseTarball.ts'
import { addressOf, withRepository } from './repositoryFields.ts'

const heading = '## [Unreleased]'

/** Returns the part of a changelog under its first heading. Throws when there is nothing to release. */
export function unreleasedPart(text: string): {
  readonly before: string
  readonly part: string
  readonly rest: string
} {
  const at = text.indexOf(`${heading}\n`)
  if (at === -1) throw new Error(`CHANGELOG.md has no "${heading}".`)
  const rest = text.slice(at + heading.length)
  const [part = ''] = rest.split(/^## /m, 1)
  if (!/^- /m.test(part)) throw new Error(`"${heading}" of CHANGELOG.md is empty: there is nothing to release.`)
  return { before: text.slice(0, at), part, rest }
}

/** A changelog with its unreleased part under a version and a day. Throws when there is nothing to release. */
export function releasedChangelog(text: string, version: string, day: string): string {
  const { before, rest } = unreleasedPart(text)
  return `${before}${heading}\n\n## [${version}] - ${day}${rest}`
}

/** The version that comes next by docs/stability.md: a patch where nothing but defects was mended, else a minor one. */
export function nextVersion(current: string, unreleased: string): string {
  const [major = 0, minor = 0, patch = 0] = numbersOf(current)
  const kinds = [...unreleased.matchAll(/^### (\w+)/gm)].map(([, kind]) => kind)
  const isPatch = kinds.length > 0 && kinds.every((kind) => kind === 'Fixed' || kind === 'Security')
  return isPatch ? `${major}.${minor}.${patch + 1}` : `${major}.${minor + 1}.0`
}

const numbersOf = (version: string): readonly number[] => version.split('.').map(Number)

/** Throws unless `next` is a version of three numbers that comes after `current`, or is the first to be released. */
export function checkVersion(next: string, current: string, isFirst: boolean): void {
  if (!/^\d+\.\d+\.\d+$/.test(next)) throw new Error(`"${next}" is no version: give three numbers, such as 1.2.0.`)
  const [a, b] = [numbersOf(next), numbersOf(current)]
  const at = a.findIndex((number, index) => number !== b[index])
  const isLater = at === -1 ? isFirst : a[at]! > b[at]!
  if (!isLater) throw new Error(`${next} does not come after ${current}.`)
}

/** A text with the version of this package changed, where it stands first. Throws when it does not stand there. */
export function withVersion(text: string, current: string, next: string): string {
  const quoted = new RegExp(`(["'])${current.replaceAll('.', '\\.')}\\1`)
  if (!quoted.test(text)) throw new Error(`The version ${current} is not where it was expected.`)
  return text.replace(quoted, (_, quote: string) => `${quote}${next}${quote}`)
}

const root = join(import.meta.dirname, '..', '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const output = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { cwd: root, encoding: 'utf8' }).trim()

/** Plans the changes of a release to the files of the repository, by path. Throws when it cannot be made. */
function planned(
  asked: string | undefined,
  repository: string | undefined,
): { readonly version: string; readonly files: ReadonlyMap<string, string> } {
  const { version: current } = JSON.parse(read('package.json')) as { readonly version: string }
  const { part } = unreleasedPart(read('CHANGELOG.md'))
  const version = asked ?? nextVersion(current, part)
  const isTagged = (tag: string): boolean => output('git', 'tag', '--list', tag) !== ''
  checkVersion(version, current, !isTagged(`v${current}`))
  if (isTagged(`v${version}`)) throw new Error(`There is a tag v${version} already.`)
  if (output('git', 'status', '--porcelain') !== '')
    throw new Error('There are changes that are not committed: commit or stash them first.')
  const day = new Date().toISOString().slice(0, 10)
  const lock = withVersion(withVersion(read('package-lock.json'), current, `${version} `), current, version)
  const address = repositoryAddress(repository)
  const manifest = (file: string, directory?: string): string => {
    const text = withVersion(read(file), current, version)
    return address === undefined ? text : withRepository(text, address, directory)
  }
  const files = new Map([
    ['CHANGELOG.md', releasedChangelog(read('CHANGELOG.md'), version, day)],
    ['package.json', manifest('package.json')],
    ['package-lock.json', lock.replace(`"${version} "`, `"${version}"`)],
    ['src/protocol/version.ts', withVersion(read('src/protocol/version.ts'), current, version)],
    [`${starter}/package.json`, manifest(`${starter}/package.json`, starter)],
  ])
  return { version, files }
}

/** Where the sources are for others: provenance is refused where a package says something else. `given` goes before the remote. */
function repositoryAddress(given: string | undefined): string | undefined {
  if (given !== undefined) {
    const address = addressOf(given)
    if (address !== undefined) return address
    throw new Error(`--repository ${given}: others cannot reach that: give an address such as https://host/owner/name.`)
  }
  try {
    return addressOf(output('git', 'config', '--get', 'remote.origin.url'))
  } catch {
    // There is no such remote.
    return undefined
  }
}

/** The package that starts projects; it has the version of the other. */
const starter = 'create-escapement'

/** Packs both in a copy of what is committed, with these files changed, and says what is wrong. Leaves nothing behind. */
function packCopy(files: ReadonlyMap<string, string>): {
  readonly tarballs: readonly Tarball[]
  readonly wrong: readonly string[]
} {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-release-dry-'))
  const copy = join(folder, 'copy')
  output('git', 'worktree', 'add', '--quiet', '--detach', copy)
  try {
    for (const [file, text] of files) writeFileSync(join(copy, file), text)
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    const pack = (cwd: string): Tarball => {
      const words = ['pack', '--json', '--silent', '--pack-destination', folder]
      const text = execFileSync('npm', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
      // Scripts of the package print before it.
      return (JSON.parse(text.slice(text.indexOf('[\n'))) as [Tarball])[0]
    }
    const tarballs = [pack(copy), pack(join(copy, starter))]
    const manifest = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8')) as Parameters<
      typeof wrongInTarball
    >[1] &
      Parameters<typeof wrongInStarter>[1] & { readonly version: string }
    const starting = JSON.parse(readFileSync(join(copy, starter, 'package.json'), 'utf8')) as typeof manifest
    const wrong = [...wrongInTarball(tarballs[0]!, manifest), ...wrongInStarter(tarballs[1]!, starting)]
    const [one, other] = [manifest.version, starting.version]
    return {
      tarballs,
      wrong: one === other ? wrong : [...wrong, `The packages have two versions: ${one} and ${other}.`],
    }
  } finally {
    output('git', 'worktree', 'remove', '--force', copy)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const noRepository = `
Missing: package.json has no "repository", as no remote "origin" leads to a place that others can reach. Provenance needs the address of the repository
that the workflow runs in. Give it in one of these ways, then run this again:
  npm run release -- --repository https://host/owner/name
  git remote add origin https://host/owner/name.git
  "repository": { "type": "git", "url": "git+https://host/owner/name.git" } in package.json and create-escapement/package.json`

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

function main(): void {
  const flag = { type: 'boolean', default: false } as const
  const options = { dry: flag, 'dry-run': flag, repository: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ allowPositionals: true, options })
  if (positionals.length > 1) throw new Error('Usage: npm run release -- [version] [--dry] [--repository <address>]')
  const isDry = values.dry || values['dry-run']
  const { version, files } = planned(positionals[0], values.repository)
  const run = (program: string, ...args: readonly string[]): void => {
    console.log(`> ${program} ${args.join(' ')}`)
    // With CI set no test is skipped.
    if (!isDry) execFileSync(program, args, { cwd: root, stdio: 'inherit', env: { ...process.env, CI: '1' } })
  }
  console.log(`escapement ${version}`)
  run('npm', 'run', 'check')
  run('npm', 'run', 'test:full')
  const { tarballs, wrong } = packCopy(files)
  for (const { filename, size, unpackedSize, files: packed } of tarballs)
    console.log(`${filename}: ${megabytes(size)}, ${megabytes(unpackedSize)} unpacked, ${packed.length} files`)
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
  try {
    for (const [file, text] of files) {
      console.log(`> write ${file}`)
      if (!isDry) writeFileSync(join(root, file), text)
    }
    run('npm', 'pack')
    run('npm', 'pack', `./${starter}`)
    run('git', 'commit', '--message', `release: ${version}`, ...files.keys())
  } catch (error) {
    run('git', 'restore', ...files.keys())
    throw error
  }
  // With a message, as --follow-tags takes no other tags along.
  run('git', 'tag', `v${version}`, '--message', `escapement ${version}`)
  const { repository } = JSON.parse(files.get('package.json')!) as { readonly repository?: { readonly url?: string } }
  console.log(repository === undefined ? noRepository : `\nThe packages name the repository ${repository.url}.`)
  console.log(`
To publish it: git push --follow-tags. The workflow .github/workflows/release.yml publishes what is tagged, with provenance.
By hand: npm publish escapement-${version}.tgz --provenance=false && npm publish ${starter}-${version}.tgz --provenance=false`)
  if (isDry)
    console.log(`\nNothing was changed. What ${version} says:\n\n${unreleasedPart(read('CHANGELOG.md')).part.trim()}`)
}

if (import.meta.main) {
  try {
    main()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
