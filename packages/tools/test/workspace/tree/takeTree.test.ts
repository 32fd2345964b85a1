import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Contents } from '../../../src/workspace/tree/contents.ts'
import { takeTree } from '../../../src/workspace/tree/takeTree.ts'
import { changesBetween } from '../../../src/workspace/tree/treeChanges.ts'
import type { Tree, TreeState } from '../../../src/workspace/tree/treeEntry.ts'
import { assert, describe, type CaseContext } from '../../../../../test/support/suite.ts'
import { workspaceFolder } from '../workspaceFolder.ts'

const file = (hash: string, mode = 0o644): TreeState => ({ type: 'file', mode, size: 1, hash, stamp: hash })
const folder = (mode = 0o755): TreeState => ({ type: 'folder', mode })
const closed = (mode = 0o755): TreeState => ({ type: 'folder', mode, isClosed: true })
const tree = (states: { readonly [path: string]: TreeState }): Tree => new Map(Object.entries(states))

function taking(context: CaseContext, files: { readonly [path: string]: string }) {
  const { dir } = workspaceFolder(context, files)
  const contents = new Contents()
  context.cleanup(() => contents.close())
  const limits = { maxFiles: 1000, maxBytes: 10_000, maxFileBytes: 1000 }
  const options = { contents, exclude: new Set<string>(), limits, signal: context.signal }
  return { dir, contents, take: (before?: Tree, now = (): number => 0) => takeTree(dir, { ...options, before, now }) }
}

/** A time long after all files were written. */
const later = (): number => Number.MAX_SAFE_INTEGER

describe('a look at a folder', (it) => {
  it('reads a file again that was just written, as it may change within the same tick, and no other', async (context) => {
    const { dir, take } = taking(context, { 'a.txt': 'one', 'b.txt': 'two' })
    const first = await take()
    assert.ok([...first.values()].every((state) => state.type === 'file' && state.stamp === ''))
    const second = await take(first, later)
    assert.ok([...second.values()].every((state) => state.type === 'file' && state.stamp !== ''))
    const third = await take(second)
    assert.is(third.get('a.txt'), second.get('a.txt'))
    writeFileSync(join(dir, 'a.txt'), 'more')
    const fourth = await take(third)
    assert.equal(
      changesBetween(third, fourth).map(({ path }) => path),
      ['a.txt'],
    )
    assert.is(fourth.get('b.txt'), second.get('b.txt'))
  })

  it('gives contents back, keeps equal ones once, and begins again after it was closed', async (context) => {
    const { contents, take } = taking(context, { 'a.txt': 'same', 'b.txt': 'same', 'c.txt': '' })
    const seen = await take()
    const a = seen.get('a.txt')
    assert.ok(a?.type === 'file')
    assert.equal([contents.size, new TextDecoder().decode(contents.get(a.hash!))], [4, 'same'])
    contents.close()
    assert.equal([contents.get(a.hash!), contents.size], [undefined, 0])
    const again = await take(seen)
    assert.equal(changesBetween(seen, again), [])
    assert.is(contents.get(a.hash!)?.length, 4)
  })

  it('does not look at the objects of git, wherever the repository is, and at folders of that name elsewhere', async (context) => {
    const files = {
      '.git/HEAD': 'ref: refs/heads/main',
      '.git/objects/ab/cd': 'x',
      '.git/refs/heads/objects/x': 'x',
      '.git/modules/sub/HEAD': 'ref',
      '.git/modules/sub/objects/pack/p': 'x',
      'sub/.git/HEAD': 'ref',
      'sub/.git/lfs/objects/o': 'x',
      'objects/o': 'x',
    }
    const { take } = taking(context, files)
    const paths = [...(await take())].flatMap(([path, state]) => (state.type === 'file' ? path : [])).toSorted()
    assert.equal(paths, [
      '.git/HEAD',
      '.git/modules/sub/HEAD',
      '.git/refs/heads/objects/x',
      'objects/o',
      'sub/.git/HEAD',
    ])
  })

  it('is aborted with its reason', async (context) => {
    const { dir } = workspaceFolder(context, { a: 'a' })
    const contents = new Contents()
    const limits = { maxFiles: 10, maxBytes: 10, maxFileBytes: 10 }
    const signal = AbortSignal.abort(new Error('stop it'))
    await assert.rejects(
      takeTree(dir, { before: undefined, contents, exclude: new Set(), limits, signal }),
      /^stop it$/,
    )
  })
})

describe('what differs between two looks', (it) => {
  const between = (before: Tree, after: Tree) =>
    changesBetween(before, after).map(({ path, lost }) => (lost === undefined ? path : `${path}: ${lost}`))

  it('never takes what could not be seen for new, or for gone', () => {
    const hidden = tree({ a: closed(0o000), 'b.txt': file('1') })
    const open = tree({ a: folder(0o755), 'a/x': file('1'), 'a/y': folder(), 'a/y/z': file('2'), 'b.txt': file('1') })
    assert.equal(between(hidden, open), ['a: what was in it may not be read'])
    assert.equal(between(open, hidden), ['a: what was in it may not be read'])
    assert.equal(between(hidden, tree({ 'b.txt': file('1') })), ['a: what was in it may not be read'])
    const git = tree({ '.git': folder(), '.git/objects': closed() })
    const headless = tree({ '.git': folder(), '.git/objects': folder(), '.git/objects/ab': file('1') })
    assert.equal(between(git, headless), ['.git/objects: what git had stored in it was not kept'])
  })

  it('knows a file that is not kept by its stamp, and names it', () => {
    const large = (stamp: string): Tree => tree({ a: { type: 'file', mode: 0o644, size: 9, stamp } })
    assert.equal(between(large('1'), large('1')), [])
    assert.equal(between(large('1'), large('2')), ['a: its 9 bytes were not kept: too many, or they may not be read'])
    assert.equal(between(tree({}), large('2')), ['a'])
    assert.equal(between(tree({ p: { type: 'other' } }), tree({ p: { type: 'other' } })), [])
    assert.equal(between(tree({ p: { type: 'other' } }), tree({})), ['p: it is no file, link or folder'])
  })
})
