import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryWorkspace } from '../../../src/workspace/memoryWorkspace.ts'
import { workspaceTools } from '../../../src/workspace/workspaceTools.ts'
import { MemorySnapshots } from '../../../../stores/src/memory/memorySnapshots.ts'
import { snapshotsOf } from '../../../../../test/support/snapshotsOf.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'
import { treeFolder } from './treeFolder.ts'

const limits = { timeoutMs: 60_000 }
const small = (most: object) =>
  snapshotsOf(new MemorySnapshots({ maxBytes: 1_000_000, maxCount: 100, maxFileBytes: 100_000, ...most }))

describe('commands that cannot be undone, or not as a whole', (it) => {
  it(
    'tells the model at once when a folder is too large, and runs the command all the same',
    limits,
    async (context) => {
      const { run, undo, done } = treeFolder(context, { a: 'a', b: 'b', c: 'c' }, { tree: { maxFiles: 1 } })
      assert.match(
        await run('rm a; echo done'),
        /^done\n\[exit code 0 [^\n]*\nThis cannot be undone: TREE_TOO_LARGE: The workspace has more than 1 files and folders, .* exclude /,
      )
      assert.match((await undo())[0] ?? '', /^TREE_TOO_LARGE: /)
      assert.match(await run('rm b; exit 3'), /\[exit code 3 [^\n]*\nThis cannot be undone: TREE_TOO_LARGE/)
      assert.is(done.length, 2)
      const bytes = treeFolder(context, { a: 'aaaa', 'big/b': 'bbbb', 'x/y/b': 'c' }, { tree: { maxBytes: 7 } })
      assert.match(await bytes.run('rm a'), /TREE_TOO_LARGE: The workspace has more than 7 bytes in its files/)
      const without = treeFolder(context, { a: 'aaaa', 'big/b': 'bbbb' }, { tree: { maxBytes: 7, exclude: ['big'] } })
      assert.not.match(await without.run('rm a big/b'), /TREE/)
      assert.equal([await without.undo(), Object.keys(without.seen())], [[], ['a', 'big']])
    },
  )

  it('leaves folders out by name or path, and .escapement always', limits, async (context) => {
    const files = { 'x/cache/a': 'a', 'data/raw/a': 'a', 'x/data/raw/a': 'a', '.escapement/a': 'a', 'in/a': 'a' }
    const { run, undo, seen } = treeFolder(context, files, { tree: { exclude: ['cache', 'data/raw'] } })
    await run('rm -f x/cache/a data/raw/a x/data/raw/a .escapement/a in/a')
    assert.equal(await undo(), [])
    assert.equal(
      Object.keys(seen()).filter((path) => path.endsWith('/a')),
      ['in/a', 'x/data/raw/a'],
    )
  })

  it(
    'names what is too large to keep, and what is no longer kept, and removes what a command made, of any size',
    limits,
    async (context) => {
      const { dir, run, undo } = treeFolder(
        context,
        { 'large.bin': 'x'.repeat(2000), 'a.txt': 'a' },
        { snapshots: small({ maxFileBytes: 1000 }) },
      )
      await run('rm large.bin a.txt; head -c 5000 /dev/zero > made.bin')
      assert.equal(await undo(), [
        'all else is as before, but not large.bin (its 2000 bytes were not kept: too many, or they may not be read)',
      ])
      assert.equal([existsSync(join(dir, 'made.bin')), readFileSync(join(dir, 'a.txt'), 'utf8')], [false, 'a'])
      const kept = small({})
      const gone = treeFolder(context, { 'a.txt': 'a' }, { snapshots: { ...kept, get: async () => undefined } })
      assert.match(await gone.run('rm a.txt'), /This cannot be undone: .* more room than there is/)
      const full = treeFolder(
        context,
        { 'a.txt': 'a' },
        { snapshots: { ...kept, put: async () => Promise.reject(new Error('the disk is full')) } },
      )
      assert.match(
        await full.run('rm a.txt'),
        /\nThis cannot be undone: what the files were before could not be kept: the disk is full\.$/,
      )
      assert.match((await full.undo())[0] ?? '', /the disk is full$/)
      let isKept = true
      const later = treeFolder(
        context,
        { 'a.txt': 'a' },
        { snapshots: { ...kept, get: async (id) => (isKept ? await kept.get(id) : undefined) } },
      )
      await later.run('rm a.txt')
      isKept = false
      assert.equal(await later.undo(), ['what the files were before is no longer kept'])
    },
  )

  it('keeps large changes in pieces', limits, async (context) => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, String(i).repeat(1000 + i)]))
    const { run, undo, seen } = treeFolder(context, files, { snapshots: small({ maxFileBytes: 4000 }) })
    const before = seen()
    await run('rm f*')
    assert.equal([await undo(), seen()], [[], before])
  })

  it('does not take what file tools wrote meanwhile for the command’s', limits, async (context) => {
    const { dir, call, run, undoOne, done } = treeFolder(context, { 'a.txt': 'one', 'b.txt': 'bee' })
    const running = run('until [ -e go ]; do sleep 0.01; done; echo two > c.txt')
    await call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' })
    await call('delete_file', { path: 'b.txt' })
    await call('write_file', { path: 'go', content: '' })
    await running
    assert.match(String(done.at(-1)?.of), /^files changed by until/)
    assert.is(await undoOne(done.length - 1), undefined)
    assert.equal(
      ['a.txt', 'b.txt', 'c.txt', 'go'].map((path) => existsSync(join(dir, path))),
      [true, false, false, true],
    )
    assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), 'two')
  })

  it(
    'has commands of one agent wait for one another, and does not guess between those of two',
    limits,
    async (context) => {
      const { dir, run, undo, seen, done } = treeFolder(context, { 'a.txt': 'one' })
      const before = seen()
      await Promise.all([
        run('[ ! -e go ] && echo two > a.txt && sleep 0.1 && echo > go'),
        run('[ -e go ] && echo three > a.txt'),
      ])
      assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), 'three\n')
      assert.equal([await undo(), seen()], [[], before])
      done.length = 0
      const both = ['one', 'two'].map((agent) =>
        run(`echo > ${agent}; until [ -e one -a -e two ]; do sleep 0.01; done`, agent),
      )
      for (const said of await Promise.all(both))
        assert.match(said, /\nThis cannot be undone: another call was at work in the workspace at the same time\.$/)
      assert.equal(
        await undo(),
        Array.from({ length: 2 }, () => 'another call was at work in the workspace at the same time'),
      )
      assert.ok(existsSync(join(dir, 'one')))
    },
  )

  it('does nothing for commands that changed nothing, and has no name for each of them', limits, async (context) => {
    const { run, undo, done } = treeFolder(context, { 'a.txt': 'one' })
    await run('cat a.txt')
    await run('echo one | tr -d "\\n" > a.txt')
    await run('exit 1')
    assert.equal(
      done.map(({ of, receipt }) => [of, receipt]),
      Array.from({ length: 3 }, () => ['commands that changed no file', { changes: 0 }]),
    )
    assert.equal(await undo(), [])
  })

  it('keeps what a failing command did', limits, async (context) => {
    const { run, undo, seen } = treeFolder(context, { 'a.txt': 'one' })
    const before = seen()
    assert.match(await run('rm a.txt; exit 1'), /\[exit code 1 after \d+\.\d s\]$/)
    assert.match(await run('echo > b; kill -SEGV $$'), /\[killed by SIGSEGV after/)
    assert.equal([await undo(), seen()], [[], before])
  })

  it('is refused where the files are not in a folder of this machine, and for folders that are none', () => {
    const refusal = (given: () => unknown): string => {
      try {
        given()
        return ''
      } catch (thrown) {
        return (thrown as Error).message
      }
    }
    assert.match(
      refusal(() => workspaceTools(memoryWorkspace(), { snapshots: 'tree' })),
      /can be undone in a folder of this machine alone, and this workspace is none: give snapshots: true/,
    )
    for (const exclude of ['', '/abs', 'a//b', '../a', 'a/..', 'a/'])
      assert.match(
        refusal(() => workspaceTools('.', { snapshots: { tree: { exclude: [exclude] } } })),
        /give names of folders, or paths relative to the workspace/,
      )
    assert.is(
      refusal(() => workspaceTools('.', { snapshots: { tree: { exclude: ['a', '.git', '..a/b..', '.a/.b'] } } })),
      '',
    )
  })
})
