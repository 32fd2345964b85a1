import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { checkVersion, releasedChangelog, withVersion } from '../../scripts/release.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const changelog = (unreleased: string): string =>
  `# Changelog\n\n## [Unreleased]\n\n${unreleased}## [0.1.0] - 2026-01-02\n\n- Ticks.\n`

describe('a release', (it) => {
  it('puts what was unreleased under its version and day, and leaves the rest', () => {
    assert.is(
      releasedChangelog(changelog('### Added\n\n- Chimes.\n\n'), '0.2.0', '2026-03-04'),
      `# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n### Added\n\n- Chimes.\n\n## [0.1.0] - 2026-01-02\n\n- Ticks.\n`,
    )
  })

  it('is refused when nothing is unreleased, or the changelog has no place for it', () => {
    for (const nothing of ['', '### Added\n\n'])
      assert.throws(() => releasedChangelog(changelog(nothing), '0.2.0', '2026-03-04'), /nothing to release/)
    assert.throws(() => releasedChangelog('# Changelog\n', '0.2.0', '2026-03-04'), /has no "## \[Unreleased\]"/)
  })

  it('has a version that comes after the last one; the first may be the one that stands there', () => {
    for (const next of ['0.1.3', '0.2.0', '1.0.0', '0.10.0']) checkVersion(next, '0.1.2', false)
    checkVersion('0.1.2', '0.1.2', true)
    assert.throws(() => checkVersion('0.1.2', '0.1.2', false), /0\.1\.2 does not come after 0\.1\.2/)
    assert.throws(() => checkVersion('0.1.1', '0.1.2', true), /does not come after/)
    for (const wrong of ['1.2', 'v1.2.3', '1.2.3-rc', ''])
      assert.throws(() => checkVersion(wrong, '0.1.2', false), /is no version/)
  })

  it('changes the version where it stands first, and nothing that only looks like it', () => {
    const text = `{ "name": "a", "version": "0.1.0", "x": "0.1.0", "y": "0x1y0" }`
    assert.is(withVersion(text, '0.1.0', '0.2.0'), text.replace('"0.1.0"', '"0.2.0"'))
    assert.throws(() => withVersion(`"0x1y0"`, '0.1.0', '0.2.0'), /not where it was expected/)
  })
})

const script = join(import.meta.dirname, '..', '..', 'scripts', 'release.ts')

/** A repository with something to release, pushed to another; its `npm` writes down what it is told, and fails at `npm <failing>`. */
function repository({ cleanup }: CaseContext, failing = 'nothing') {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-release-'))
  cleanup(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const root = join(folder, 'clone')
  const files = {
    'package.json': `{ "version": "0.1.0", "type": "module" }\n`,
    'package-lock.json': `{ "version": "0.1.0", "packages": { "": { "version": "0.1.0" }, "x": { "version": "0.1.0" } } }\n`,
    'src/protocol/version.ts': `export const version = '0.1.0'\n`,
    'CHANGELOG.md': changelog('- Chimes.\n\n'),
  }
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  mkdirSync(join(root, 'scripts'))
  copyFileSync(script, join(root, 'scripts', 'release.ts'))
  const said = join(folder, 'said')
  writeFileSync(said, '')
  mkdirSync(join(folder, 'bin'))
  const npm = `#!/bin/sh\necho "$* CI=$CI" >> '${said}'\ntest "$1" != '${failing}'\n`
  writeFileSync(join(folder, 'bin', 'npm'), npm, { mode: 0o755 })
  const who = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  }
  const env = { ...process.env, ...who, CI: '', PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH'] ?? ''}` }
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  git('init', '--quiet', '--initial-branch', 'main')
  git('add', '.')
  git('commit', '--quiet', '--message', 'all')
  git('init', '--quiet', '--bare', join(folder, 'origin'))
  git('remote', 'add', 'origin', join(folder, 'origin'))
  git('push', '--quiet', '--set-upstream', 'origin', 'main')
  return {
    git,
    read: (file: string): string => readFileSync(join(root, file), 'utf8'),
    npmCalls: () => readFileSync(said, 'utf8').trimEnd().split('\n'),
    release: (...args: readonly string[]) =>
      spawnSync(process.execPath, [join(root, 'scripts', 'release.ts'), ...args], { cwd: root, env, encoding: 'utf8' }),
  }
}

describe('npm run release', (it) => {
  it(
    'checks, tests all, packs, and leaves a commit and a tag that go along with a push',
    { timeoutMs: 10_000 },
    (context) => {
      const { release, git, read, npmCalls } = repository(context)
      const { status, stdout, stderr } = release('0.2.0')
      assert.is(stderr, '')
      assert.is(status, 0)
      assert.equal(npmCalls(), ['run check CI=1', 'run test:full CI=1', 'pack CI=1'])
      assert.is(read('src/protocol/version.ts'), `export const version = '0.2.0'\n`)
      assert.match(read('package.json'), '"version": "0.2.0"')
      assert.match(
        read('package-lock.json'),
        '"version": "0.2.0", "packages": { "": { "version": "0.2.0" }, "x": { "version": "0.1.0" }',
      )
      assert.match(read('CHANGELOG.md'), /## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n- Chimes\.\n/)
      assert.is(git('status', '--porcelain'), '')
      assert.is(git('log', '-1', '--format=%s'), 'release: 0.2.0\n')
      assert.match(stdout, 'git push --follow-tags && npm publish escapement-0.2.0.tgz')
      git('push', '--quiet', '--follow-tags')
      assert.match(git('ls-remote', '--tags', 'origin'), 'refs/tags/v0.2.0')
    },
  )

  it('changes nothing when it is a dry run, or when something fails', { timeoutMs: 10_000 }, (context) => {
    for (const [failing, args, code] of [
      ['nothing', ['0.2.0', '--dry-run'], 0],
      ['run', ['0.2.0'], 1],
      ['pack', ['0.2.0'], 1],
      ['nothing', ['0.1.0-rc'], 1],
    ] as const) {
      const { release, git } = repository(context, failing)
      assert.is(release(...args).status, code, failing)
      assert.is(git('status', '--porcelain'), '', failing)
      assert.is(git('log', '--format=%s'), 'all\n', failing)
      assert.is(git('tag'), '', failing)
    }
  })

  it('refuses a version that was tagged, before it does anything', { timeoutMs: 10_000 }, (context) => {
    const { release, git, npmCalls } = repository(context)
    git('tag', 'v0.2.0')
    const { status, stderr } = release('0.2.0')
    assert.is(stderr, 'There is a tag v0.2.0 already.\n')
    assert.is(status, 1)
    assert.equal(npmCalls(), [''])
  })
})
