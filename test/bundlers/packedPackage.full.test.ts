import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { assert, describe } from '../support/suite.ts'
import { keyOf, packedPackage, parts } from './packedPackage.ts'

const repository = join(import.meta.dirname, '..', '..')
const source = (path: string): string => join(repository, path)

/** Packages that are made into one piece for the package. */
const bundled = [
  'packages/page/src/inspector/main.tsx',
  'packages/page/src/inspector/worker/layoutWorker.ts',
  'packages/charts/src/layoutWorker.ts',
  'packages/tools/src/workspace/searchWorker.ts',
].map(source)

/** Packages that these files import, directly or not: found by reading the sources, as the bundler is not to be believed. */
function importedPackages(entries: readonly string[]): ReadonlySet<string> {
  const files = new Set(entries)
  const packages = new Set<string>()
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    for (const [, from = ''] of text.matchAll(/^(?:import|export) (?!type )(?:[^'"()=/]*? from )?'([^']+)'/gm)) {
      if (from.startsWith('.')) {
        if (/\.tsx?$/.test(from)) files.add(join(dirname(file), from))
      } else if (!from.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(from)![0])
    }
  }
  for (const name of packages) {
    const manifest: unknown = JSON.parse(readFileSync(join(repository, 'node_modules', name, 'package.json'), 'utf8'))
    for (const other of Object.keys((manifest as { dependencies?: object }).dependencies ?? {})) packages.add(other)
  }
  return packages
}

describe('the packed package', (it) => {
  it('depends on xstate, nanoid, ws and zod, and on nothing else', () => {
    const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { dependencies: object }
    assert.equal(Object.keys(manifest.dependencies), ['nanoid', 'ws', 'xstate', 'zod'])
  })

  it('has what runs, and what is read beside it', { timeoutMs: 120_000 }, async ({ signal }) => {
    const folder = await packedPackage(signal)
    const there = ['dist', 'docs', 'LICENSE', 'README.md', 'THIRD-PARTY-NOTICES', 'package.json']
    assert.equal(readdirSync(folder).toSorted(), there.toSorted())
    const pages = ['a2a', 'agUi', 'bundlers', 'errors', 'evaluation', 'protocol', 'quickStart', 'useChat']
    assert.equal(
      readdirSync(join(folder, 'docs')).toSorted(),
      [...pages.map((name) => `${name}.md`), 'protocol.schema.json'].toSorted(),
    )
    assert.ok(readdirSync(join(folder, 'dist', 'inspector')).includes('index.html'))
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const kinds = new Set(paths.flatMap((path) => /\.\w+$/.exec(path)?.[0] ?? []))
    assert.equal([...kinds].toSorted(), ['.css', '.html', '.js', '.json', '.md', '.svg', '.ts'])
    assert.equal(
      paths.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts')),
      [],
    )
    assert.equal(
      paths.filter((path) => path.includes('suites') && path.endsWith('.js')).length,
      readdirSync(join(repository, 'suites'), { recursive: true, encoding: 'utf8' }).filter((path) =>
        path.endsWith('suite.ts'),
      ).length,
    )
  })

  it('names everybody whose code is in it, with the licence', { timeoutMs: 120_000 }, async ({ signal }) => {
    const notices = readFileSync(join(await packedPackage(signal), 'THIRD-PARTY-NOTICES'), 'utf8')
    const sections = notices.split(/^-{80}$/m).slice(1)
    const names = sections.map((section) => section.trim().split(' ', 1)[0])
    const imported = importedPackages(bundled)
    for (const name of ['elkjs', 'preact', '@preact/signals', ...imported])
      assert.ok(names.includes(name), `${name} is in dist, and not among ${names.join(', ')}`)
    for (const section of sections) {
      assert.match(section, /^\n\S+ \d[\w.-]+\nLicense: \S.*\nSource: https:\/\//)
      assert.match(section, /permission|Eclipse Public License/i)
    }
    assert.match(
      sections.find((section) => section.includes('elkjs'))!,
      /EPL-2\.0[^\n]*\nSource: https:\/\/github\.com\//,
    )
  })

  it('is made anew when anything it is made of has other contents or another name', async ({ cleanup }) => {
    const root = mkdtempSync(join(tmpdir(), 'escapement-key-'))
    cleanup(() => rmSync(root, { recursive: true }))
    const fileOf = (part: string): string => (/^[a-z]+$/.test(part) ? join(part, 'inner', 'file') : part)
    for (const part of parts) {
      const file = join(root, fileOf(part))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, part)
    }
    const keys = [await keyOf(root)]
    assert.is(await keyOf(root), keys[0])
    for (const part of parts) {
      writeFileSync(join(root, fileOf(part)), `${part}!`)
      keys.push(await keyOf(root))
    }
    renameSync(join(root, fileOf('src')), join(root, 'src', 'inner', 'other'))
    keys.push(await keyOf(root))
    assert.is(new Set(keys).size, parts.length + 2)
  })
})
