import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { breather } from '../../../../src/actors/timing/breather.ts'
import { compileGlob } from '../../../../src/actors/parts/permissions/matchGlob.ts'
import { walkFiles } from '../../src/files/walkFiles.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import { workspaceFolder } from './workspaceFolder.ts'

const project = {
  'b.ts': '',
  'a.md': '',
  'src/z.ts': '',
  'src/deep/a.test.ts': '',
  'src.ts': '',
  '.github/ci.yml': '',
  '.git/HEAD': '',
  'node_modules/pkg/index.js': '',
  'sub/node_modules/pkg/index.js': '',
}

describe('list_files', (it) => {
  it('lists every file below, sorted by path, without .git and node_modules', async (context) => {
    const { call } = workspaceFolder(context, project)
    const all = ['.github/ci.yml', 'a.md', 'b.ts', 'src.ts', 'src/deep/a.test.ts', 'src/z.ts']
    assert.is(await call('list_files', {}), all.join('\n'))
    assert.equal(all, all.toSorted())
    assert.is(await call('list_files', { path: 'src' }), 'src/deep/a.test.ts\nsrc/z.ts')
    assert.is(await call('list_files', { path: 'node_modules/pkg' }), 'node_modules/pkg/index.js')
  })

  it('narrows by a glob on names or on paths', async (context) => {
    const { call } = workspaceFolder(context, project)
    assert.is(await call('list_files', { pattern: '*.test.ts' }), 'src/deep/a.test.ts')
    assert.is(await call('list_files', { pattern: 'src/*.ts' }), 'src/z.ts')
    assert.is(await call('list_files', { path: 'src', pattern: 'deep/**' }), 'src/deep/a.test.ts')
    assert.is(await call('list_files', { path: 'src', pattern: 'src/**/*.ts' }), 'src/deep/a.test.ts\nsrc/z.ts')
    assert.is(await call('list_files', { pattern: '*.rs' }), '[no files match *.rs in .]')
  })

  it('says when the list is not whole', async (context) => {
    const { call } = workspaceFolder(context, project)
    assert.match(await call('list_files', { limit: 2 }), /^\.github\/ci\.yml\na\.md\n\[truncated: 2 of 6 files; /)
    assert.not.match(await call('list_files', { limit: 6 }), /truncated/)
  })

  it('answers readably for empty, missing and unreadable folders and for files', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'a.txt': '', 'locked/x.txt': '' })
    mkdirSync(join(dir, 'empty'))
    assert.is(await call('list_files', { path: 'empty' }), '[no files in empty]')
    await assert.rejects(call('list_files', { path: 'missing' }), /"missing" does not exist/)
    await assert.rejects(call('list_files', { path: 'a.txt' }), /is a file, not a folder/)
    chmodSync(join(dir, 'locked'), 0)
    context.cleanup(() => chmodSync(join(dir, 'locked'), 0o700))
    assert.match(await call('list_files', {}), /^a\.txt/)
  })

  it('stops when it is aborted', async (context) => {
    const { call } = workspaceFolder(context, project)
    const signal = AbortSignal.abort(new Error('stop it'))
    await assert.rejects(call('list_files', {}, toolContext({ signal })), /stop it/)
  })

  it('stops in the middle of a folder', async (context) => {
    const { dir } = workspaceFolder(context, { a: '', b: '', c: '' })
    const stop = new AbortController()
    const seen: string[] = []
    await assert.rejects(async () => {
      for await (const { path } of walkFiles(dir, stop.signal, undefined, () => new Promise(setImmediate))) {
        seen.push(path)
        setImmediate(() => stop.abort(new Error('stop it')))
      }
    }, /stop it/)
    assert.equal(seen, ['a'])
  })
})

describe('a breather', (it) => {
  it('is taken when the event loop has had no turn for a while', async () => {
    let now = 0
    const breathe = breather(() => now)
    assert.is(breathe(), undefined)
    now = 9
    assert.is(breathe(), undefined)
    now = 10
    let hasTurned = false
    setImmediate(() => (hasTurned = true))
    await breathe()
    assert.ok(hasTurned)
    now = 19
    assert.is(breathe(), undefined)
  })

  it('is not taken when the event loop has had its turns by itself, and by all who share it in one', async () => {
    let now = 0
    const breathe = breather(() => now)
    await new Promise((resolve) => setImmediate(resolve))
    now = 100
    assert.is(breathe(), undefined)
    now = 110
    const taken = [breathe(), breathe()]
    assert.ok(taken.every((one) => one !== undefined))
    await Promise.all(taken)
    assert.is(breathe(), undefined)
  })
})

const globs: readonly (readonly [glob: string, path: string, matches: boolean])[] = [
  ['*.ts', 'a.ts', true],
  ['*.ts', 'src/a.ts', true],
  ['*.ts', 'a.tsx', false],
  ['*', '.env', true],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/b/a.ts', false],
  ['./src/*.ts', 'src/a.ts', true],
  ['src/**/*.ts', 'src/a.ts', true],
  ['src/**/*.ts', 'src/b/c/a.ts', true],
  ['src/**/*.ts', 'lib/a.ts', false],
  ['**/test/**', 'a/test/b/c.ts', true],
  ['**/test/**', 'a/tests/b.ts', false],
  ['**', 'a/b', true],
  ['**/*.ts', 'a.ts', true],
  ['a/**/b/**/c', 'a/x/b/y/b/z/c', true],
  ['?.ts', '👋.ts', true],
  ['?.ts', 'ab.ts', false],
  ['[a-c].ts', 'b.ts', true],
  ['[a-c].ts', 'd.ts', false],
  ['[!a-c].ts', 'd.ts', true],
  ['[]].ts', '].ts', true],
  ['[a.ts', '[a.ts', true],
  ['*.{ts,tsx}', 'a.tsx', true],
  ['*.{ts,tsx}', 'a.js', false],
  ['{src,lib}/{a,b{1,2}}.ts', 'lib/b2.ts', true],
  ['{src,lib}/{a,b{1,2}}.ts', 'lib/b.ts', false],
  ['{a}.ts', '{a}.ts', true],
  ['a.b', 'axb', false],
  ['\\*.ts', '*.ts', true],
  ['\\*.ts', 'a.ts', false],
  ['a*b*c', 'aXbXbXc', true],
  ['\\{a,b}', '{a,b}', true],
  ['\\{a,b}', 'a', false],
  ['{a\\,b,c}', 'a,b', true],
  ['{a,{b,c}', '{a,c', true],
  ['{{a,b}', '{b', true],
  ['{a{b,c}}', '{ac}', true],
  ['a}{b,}', 'a}b', true],
  ['x{,y}', 'x', true],
]

describe('globs', (it) => {
  for (const [glob, path, matches] of globs) {
    it(`${matches ? 'match' : 'do not match'} ${path} with ${glob}`, () => {
      assert.is(compileGlob(glob)(path), matches)
    })
  }

  it('take no exponential time and no endless alternatives', () => {
    assert.is(compileGlob(`${'*a'.repeat(50)}b`)('a'.repeat(5000)), false)
    assert.is(compileGlob(`${'**/a/'.repeat(50)}b`)('a/'.repeat(2000)), false)
    assert.throws(() => compileGlob('{a,b}'.repeat(20)), /more than 256 alternatives/)
  })

  it('are refused when they are too long to be matched in no time', () => {
    assert.throws(() => compileGlob('{'.repeat(1001)), /has 1001 characters, more than 1000; use a shorter one/)
    assert.throws(
      () => compileGlob(`{a,b}{a,b}{a,b}{a,b}${'*a'.repeat(200)}`),
      /more than 4000 characters with its braces/,
    )
    assert.throws(() => compileGlob(`{a,b}`.repeat(7) + '{'.repeat(900)), /more than 4000 characters with its braces/)
    assert.is(compileGlob('{'.repeat(1000))('{'.repeat(1000)), true)
  })
})
