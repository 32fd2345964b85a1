/**
 * `npm run release -- <version> [--dry-run]`: checks, tests with all seeds, dates the changelog, packs, commits and tags. Publishing is
 * left to a person: the last line says how. With --dry-run it checks what it is given and prints what it would do.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const heading = '## [Unreleased]'

/** A changelog with its unreleased part under a version and a day. Throws when there is nothing to release. */
export function releasedChangelog(text: string, version: string, day: string): string {
  const at = text.indexOf(`${heading}\n`)
  if (at === -1) throw new Error(`CHANGELOG.md has no "${heading}".`)
  const rest = text.slice(at + heading.length)
  const [unreleased = ''] = rest.split(/^## /m, 1)
  if (!/^- /m.test(unreleased)) throw new Error(`"${heading}" of CHANGELOG.md is empty: there is nothing to release.`)
  return `${text.slice(0, at)}${heading}\n\n## [${version}] - ${day}${rest}`
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

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const output = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { cwd: root, encoding: 'utf8' }).trim()

/** What a release does to the files of the repository, by path. Throws when it cannot be made. */
function planned(version: string): ReadonlyMap<string, string> {
  const { version: current } = JSON.parse(read('package.json')) as { readonly version: string }
  const isTagged = (tag: string): boolean => output('git', 'tag', '--list', tag) !== ''
  checkVersion(version, current, !isTagged(`v${current}`))
  if (isTagged(`v${version}`)) throw new Error(`There is a tag v${version} already.`)
  if (output('git', 'status', '--porcelain') !== '')
    throw new Error('There are changes that are not committed: commit or stash them first.')
  const day = new Date().toISOString().slice(0, 10)
  const lock = withVersion(withVersion(read('package-lock.json'), current, `${version} `), current, version)
  return new Map([
    ['CHANGELOG.md', releasedChangelog(read('CHANGELOG.md'), version, day)],
    ['package.json', withVersion(read('package.json'), current, version)],
    ['package-lock.json', lock.replace(`"${version} "`, `"${version}"`)],
    ['src/protocol/version.ts', withVersion(read('src/protocol/version.ts'), current, version)],
  ])
}

function main(): void {
  const options = { 'dry-run': { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ allowPositionals: true, options })
  const [version, ...others] = positionals
  if (version === undefined || others.length > 0) throw new Error('Usage: npm run release -- <version> [--dry-run]')
  const files = planned(version)
  const run = (program: string, ...args: readonly string[]): void => {
    console.log(`> ${program} ${args.join(' ')}`)
    // With CI set no test is skipped.
    if (!values['dry-run'])
      execFileSync(program, args, { cwd: root, stdio: 'inherit', env: { ...process.env, CI: '1' } })
  }
  run('npm', 'run', 'check')
  run('npm', 'run', 'test:full')
  try {
    for (const [file, text] of files) {
      console.log(`> write ${file}`)
      if (!values['dry-run']) writeFileSync(join(root, file), text)
    }
    run('npm', 'pack')
    run('git', 'commit', '--message', `release: ${version}`, ...files.keys())
  } catch (error) {
    run('git', 'restore', ...files.keys())
    throw error
  }
  // With a message, as --follow-tags takes no other tags along.
  run('git', 'tag', `v${version}`, '--message', `escapement ${version}`)
  console.log(`\nTo publish it: git push --follow-tags && npm publish escapement-${version}.tgz`)
}

if (import.meta.main) {
  try {
    main()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
