import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { checkVersion, nextVersion, releasedChangelog, withVersion } from '../../tools/release/release.ts'
import { sizeBudget, wrongInStarter, wrongInTarball, type Tarball } from '../../tools/release/releaseTarball.ts'
import { addressOf, withRepository } from '../../tools/release/repositoryFields.ts'
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

const manifest = {
  exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' }, './package.json': './package.json' },
  publishConfig: { access: 'public', provenance: true },
}

const packed: Tarball = {
  filename: 'escapement-0.2.0.tgz',
  size: 1_000,
  unpackedSize: 5_000,
  files: [
    'package.json',
    'README.md',
    'LICENSE',
    'THIRD-PARTY-NOTICES',
    'dist/cli.js',
    'dist/index.js',
    'dist/index.d.ts',
  ].map((path) => ({ path, size: 2_000 })),
}

describe('the next version', (it) => {
  it('is a minor one, or a patch where nothing but defects was mended', () => {
    assert.is(nextVersion('0.1.0', '\n### Added\n\n- Chimes.\n'), '0.2.0')
    assert.is(nextVersion('0.1.4', '\n### Fixed\n\n- It ticks.\n\n### Changed\n\n- It tocks.\n'), '0.2.0')
    assert.is(nextVersion('0.1.4', '\n### Fixed\n\n- It ticks.\n\n### Security\n\n- A lock.\n'), '0.1.5')
    assert.is(nextVersion('1.9.3', '\n- Ticks.\n'), '1.10.0')
  })
})

describe('the tarball of a release', (it) => {
  const wrong = (change: Partial<Tarball>, of: Parameters<typeof wrongInTarball>[1] = manifest): readonly string[] =>
    wrongInTarball({ ...packed, ...change }, of)

  it('has its doors, its licence, its notices, and is published with provenance', () => {
    assert.equal(wrong({}), [])
    for (const path of packed.files.map((file) => file.path))
      assert.equal(wrong({ files: packed.files.filter((file) => file.path !== path) }), [`${path} is missing.`])
    assert.match(
      wrong({ files: packed.files.map((file) => ({ ...file, size: 10 })) }).join(),
      'THIRD-PARTY-NOTICES names no package.',
    )
    assert.match(wrong({}, { ...manifest, publishConfig: { access: 'public' } }).join(), '"provenance": true')
  })

  it('has no tests, no secrets and nothing of one machine', () => {
    for (const path of ['test/a.test.ts', '.npmrc', 'templates/.env', 'docs/.DS_Store', 'a/tsconfig.tsbuildinfo'])
      assert.equal(wrong({ files: [...packed.files, { path, size: 1 }] }), [`${path} does not belong in it.`])
    assert.equal(wrong({ files: [...packed.files, { path: 'docs/environment.md', size: 1 }] }), [])
  })

  it('has no sources, and nothing that can be made of the rest', () => {
    for (const path of [
      'src/index.ts',
      'docs/decisions/001-a.md',
      'dist/index.js.map',
      'dist/inspector/assets/a.js.br',
    ])
      assert.equal(wrong({ files: [...packed.files, { path, size: 1 }] }), [`${path} does not belong in it.`])
    assert.equal(wrong({ files: [...packed.files, { path: 'templates/web/src/main.ts', size: 1 }] }), [])
  })

  it('has a starter beside it with its program, its licence and its page', () => {
    const starter = {
      ...packed,
      files: ['package.json', 'README.md', 'LICENSE', 'dist/main.js'].map((path) => ({ path, size: 1 })),
    }
    const bin = { 'create-escapement': 'dist/main.js' }
    assert.equal(wrongInStarter(starter, { bin }), [])
    for (const { path } of starter.files)
      assert.equal(wrongInStarter({ ...starter, files: starter.files.filter((file) => file.path !== path) }, { bin }), [
        `${path} is missing from the starter.`,
      ])
    assert.match(wrongInStarter({ ...starter, size: 300_000 }, { bin }).join(), 'above its budget')
  })

  it('keeps within its budget', () => {
    for (const [change, name] of [
      [{ size: sizeBudget.tarball + 1 }, 'tarball'],
      [{ unpackedSize: sizeBudget.unpacked + 1 }, 'unpacked'],
      [
        { files: [...packed.files, ...Array.from({ length: sizeBudget.files }, () => ({ path: 'a', size: 1 }))] },
        'files',
      ],
    ] as const)
      assert.match(wrong(change).join(), new RegExp(`^${name} is \\d+, above its budget of \\d+`))
  })
})

describe('where the sources of a release are', (it) => {
  it('is what the remote says, without names and passwords', () => {
    for (const remote of [
      'https://github.com/ann/clock.git',
      'https://ann:secret@github.com/ann/clock',
      'git@github.com:ann/clock.git',
      'ssh://git@github.com/ann/clock.git/',
      'git+https://github.com/ann/clock.git',
    ])
      assert.is(addressOf(remote), 'https://github.com/ann/clock', remote)
    for (const remote of ['/home/ann/clock', '../clock.git', 'file:///clock', 'C:\\clock', ''])
      assert.is(addressOf(remote), undefined, remote)
  })

  it('stands after the licence, with the page and the place for mistakes, unless they are there', () => {
    const text = `{\n  "name": "a",\n  "license": "MIT",\n  "type": "module"\n}\n`
    const made = withRepository(text, 'https://github.com/ann/clock', 'starter')
    assert.equal(Object.keys(JSON.parse(made) as object), ['name', 'license', 'homepage', 'bugs', 'repository', 'type'])
    assert.equal((JSON.parse(made) as { repository: object }).repository, {
      type: 'git',
      url: 'git+https://github.com/ann/clock.git',
      directory: 'starter',
    })
    assert.is(withRepository(made, 'https://example.com/other/one'), made)
  })
})

const script = join(import.meta.dirname, '..', '..', 'tools', 'release', 'release.ts')

/** A repository with something to release, pushed to another; its `npm` writes down what it is told, and fails at `npm <failing>`. */
function repository({ cleanup }: CaseContext, failing = 'nothing', tarball: Tarball = packed) {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-release-'))
  cleanup(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const root = join(folder, 'clone')
  const files = {
    'package.json': `{"version":"0.1.0","type":"module",\n  "license": "MIT",\n${JSON.stringify(manifest).slice(1)}\n`,
    'create-escapement/package.json': `{ "version": "0.1.0" }\n`,
    'package-lock.json': `{ "version": "0.1.0", "packages": { "": { "version": "0.1.0" }, "x": { "version": "0.1.0" } } }\n`,
    'src/protocol/version.ts': `export const version = '0.1.0'\n`,
    'CHANGELOG.md': changelog('- Chimes.\n\n'),
  }
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  mkdirSync(join(root, 'tools', 'release'), { recursive: true })
  for (const name of ['release.ts', 'releaseTarball.ts', 'repositoryFields.ts'])
    copyFileSync(join(dirname(script), name), join(root, 'tools', 'release', name))
  const said = join(folder, 'said')
  writeFileSync(said, '')
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'packed.json'), JSON.stringify([tarball], null, 2))
  // What scripts of the package print comes before the list.
  const list = `grep -o '"version":"[0-9.]*"' package.json | head -1 >> '${said}'; echo '> build'; cat '${join(folder, 'packed.json')}'`
  const npm = `#!/bin/sh\nif test "$2" = --json; then ${list}; exit; fi\necho "$* CI=$CI" >> '${said}'\ntest "$1" != '${failing}'\n`
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
      spawnSync(process.execPath, [join(root, 'tools', 'release', 'release.ts'), ...args], {
        cwd: root,
        env,
        encoding: 'utf8',
      }),
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
      assert.equal(npmCalls(), [
        'run check CI=1',
        'run test:full CI=1',
        // What is looked at has the new version already.
        '"version":"0.2.0"',
        'pack CI=1',
        'pack ./create-escapement CI=1',
      ])
      assert.is(read('src/protocol/version.ts'), `export const version = '0.2.0'\n`)
      assert.match(read('package.json'), '"version":"0.2.0"')
      assert.match(read('create-escapement/package.json'), '"version": "0.2.0"')
      assert.match(
        read('package-lock.json'),
        '"version": "0.2.0", "packages": { "": { "version": "0.2.0" }, "x": { "version": "0.1.0" }',
      )
      assert.match(read('CHANGELOG.md'), /## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n- Chimes\.\n/)
      assert.is(git('status', '--porcelain'), '')
      assert.is(git('log', '-1', '--format=%s'), 'release: 0.2.0\n')
      assert.match(stdout, 'escapement-0.2.0.tgz: 0.0 MB, 0.0 MB unpacked, 7 files')
      assert.match(stdout, 'git push --follow-tags')
      assert.match(stdout, 'package.json has no "repository"')
      assert.match(stdout, 'npm run release -- --repository https://host/owner/name')
      git('push', '--quiet', '--follow-tags')
      assert.match(git('ls-remote', '--tags', 'origin'), 'refs/tags/v0.2.0')
    },
  )

  it('changes nothing when it is a dry run, or when something fails', { timeoutMs: 10_000 }, (context) => {
    for (const [failing, args, code] of [
      ['nothing', ['0.2.0', '--dry-run'], 0],
      ['nothing', ['--dry'], 0],
      ['run', ['0.2.0'], 1],
      ['pack', ['0.2.0'], 1],
      ['nothing', ['0.1.0-rc'], 1],
    ] as const) {
      const { release, git } = repository(context, failing)
      assert.is(release(...args).status, code, failing)
      assert.is(git('status', '--porcelain'), '', failing)
      assert.is(git('log', '--format=%s'), 'all\n', failing)
      assert.is(git('tag'), '', failing)
      assert.is(git('worktree', 'list').trim().split('\n').length, 1, failing)
    }
  })

  it('takes the next version where none is given, and says what it would do', { timeoutMs: 10_000 }, (context) => {
    const { release, npmCalls } = repository(context)
    const { stdout } = release('--dry')
    assert.match(stdout, /^escapement 0\.2\.0\n> npm run check\n/)
    assert.match(stdout, 'Nothing was changed. What 0.2.0 says:\n\n- Chimes.')
    assert.equal(npmCalls(), ['"version":"0.2.0"'])
  })

  it(
    'takes the address of the repository as an option, and refuses one that others cannot reach',
    { timeoutMs: 10_000 },
    (context) => {
      const { release, npmCalls } = repository(context)
      const { status, stdout } = release('--dry', '--repository', 'git@example.com:owner/name.git')
      assert.is(status, 0)
      assert.match(stdout, 'The packages name the repository git+https://example.com/owner/name.git.')
      const refused = release('--dry', '--repository', '../elsewhere')
      assert.is(refused.status, 1)
      assert.match(refused.stderr, '--repository ../elsewhere: others cannot reach that: give an address such as')
      assert.is(npmCalls().length, 1)
    },
  )

  it('refuses a tarball in which something is wrong, and changes nothing', { timeoutMs: 10_000 }, (context) => {
    const files = [...packed.files, { path: '.env', size: 1 }]
    const { release, git } = repository(context, 'nothing', { ...packed, files })
    const { status, stderr } = release()
    assert.is(status, 1)
    assert.is(stderr, '.env does not belong in it.\n')
    assert.is(git('status', '--porcelain'), '')
    assert.is(git('tag'), '')
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
