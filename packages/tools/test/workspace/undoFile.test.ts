import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { inItsFolder } from '../../src/workspace/inItsFolder.ts'
import { replaceFile } from '../../src/workspace/replaceFile.ts'
import { workspaceTools, type WorkspaceToolsOptions } from '../../src/workspace/workspaceTools.ts'
import type { Snapshots } from '../../../../src/protocol/ports/snapshots.ts'
import { MemorySnapshots } from '../../../stores/src/memory/memorySnapshots.ts'
import { snapshotsOf } from '../../../../test/support/snapshotsOf.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import { workspaceFolder } from './workspaceFolder.ts'

/** A workspace that keeps snapshots, with the receipts of its calls. */
function undoable(
  context: Pick<CaseContext, 'cleanup'>,
  files: { readonly [path: string]: string | Uint8Array } = {},
  kept?: Snapshots,
) {
  const { dir, call } = workspaceFolder(context, files, { snapshots: true })
  const tools = workspaceTools(dir, { snapshots: true })
  const snapshots = kept ?? snapshotsOf(new MemorySnapshots())
  const receipts: unknown[] = []
  return {
    dir,
    receipts,
    async did(name: string, input: object): Promise<string> {
      const seen = toolContext({ snapshots })
      const said = await call(name, input, seen)
      receipts.push(seen.receipts.at(-1)!.data)
      return said
    },
    /** Undoes the newest call together with all before it. */
    undo(name: string, all: readonly unknown[] = receipts): Promise<void> {
      const [receipt, ...earlier] = all.toReversed()
      const { signal, callId, key, agent, deps, closeWith } = toolContext()
      const input = { path: 'a', content: '', oldText: 'a', newText: 'b' }
      const tool = tools.find((one) => one.name === name)!
      return tool.undo!({ input, receipt, earlier, signal, callId, key, agent, deps, closeWith, snapshots })
    },
    read: (path: string) => readFileSync(join(dir, path)),
  }
}

describe('undoing what file tools did', (it) => {
  it('brings back each byte of a file that was overwritten, with its mode', async (context) => {
    const bytes = randomBytes(3_000)
    const { dir, did, undo, read } = undoable(context, { 'a.bin': bytes })
    chmodSync(join(dir, 'a.bin'), 0o640)
    await did('write_file', { path: 'a.bin', content: 'text' })
    await undo('write_file')
    assert.ok(read('a.bin').equals(bytes))
    assert.is(statSync(join(dir, 'a.bin')).mode & 0o777, 0o640)
    assert.equal(readdirSync(dir), ['a.bin'])
  })

  it('goes back over several calls of one file at once', async (context) => {
    const { did, undo, read } = undoable(context, { 'a.txt': 'one' })
    await did('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' })
    await did('write_file', { path: 'a.txt', content: 'three' })
    await did('delete_file', { path: 'a.txt' })
    await undo('delete_file')
    assert.is(read('a.txt').toString(), 'one')
    // Again, as after a crash: nothing is left to do.
    await undo('delete_file')
    assert.is(read('a.txt').toString(), 'one')
  })

  it('removes a file that was not there, with the folders that were made for it', async (context) => {
    const { dir, did, undo } = undoable(context, { 'a/x': '' })
    await did('write_file', { path: 'a/b/c/new.txt', content: 'new' })
    await undo('write_file')
    assert.equal([readdirSync(join(dir, 'a')), existsSync(join(dir, 'a/b'))], [['x'], false])
  })

  it('leaves a folder that it made once something else is in it', async (context) => {
    const { dir, did, undo } = undoable(context)
    await did('write_file', { path: 'b/c/new.txt', content: 'new' })
    writeFileSync(join(dir, 'b/other'), '')
    await undo('write_file')
    assert.equal(readdirSync(join(dir, 'b')), ['other'])
  })

  it('brings back a deleted file with its mode', async (context) => {
    const { dir, did, undo } = undoable(context, { 'run.sh': 'echo' })
    chmodSync(join(dir, 'run.sh'), 0o751)
    assert.is(await did('delete_file', { path: 'run.sh' }), 'Deleted run.sh.')
    assert.ok(!existsSync(join(dir, 'run.sh')))
    await undo('delete_file')
    assert.is(statSync(join(dir, 'run.sh')).mode & 0o777, 0o751)
  })

  it('changes nothing when something else changed the file since or in between, and says so', async (context) => {
    const { dir, did, undo, read } = undoable(context, { 'a.txt': 'one' })
    await did('write_file', { path: 'a.txt', content: 'two' })
    writeFileSync(join(dir, 'a.txt'), 'mine')
    await assert.rejects(undo('write_file'), /^it was changed by something else since$/)
    assert.is(read('a.txt').toString(), 'mine')
    await did('write_file', { path: 'a.txt', content: 'three' })
    await assert.rejects(undo('write_file'), /^it was changed by something else in between$/)
    assert.is(read('a.txt').toString(), 'three')
    rmSync(join(dir, 'a.txt'))
    await assert.rejects(undo('write_file'), /^it is gone$/)
    assert.ok(!existsSync(join(dir, 'a.txt')))
  })

  it('leaves alone what stands in place of the file: a folder, a link, a renamed folder', async (context) => {
    const { dir, did, undo, receipts } = undoable(context, { 'a.txt': 'one', 'src/b.txt': 'b', 'real.txt': 'two' })
    await did('write_file', { path: 'a.txt', content: 'two' })
    rmSync(join(dir, 'a.txt'))
    mkdirSync(join(dir, 'a.txt'))
    await assert.rejects(undo('write_file'), /no regular file/)
    rmSync(join(dir, 'a.txt'), { recursive: true })
    symlinkSync(join(dir, 'real.txt'), join(dir, 'a.txt'))
    await assert.rejects(undo('write_file'), /something else stands at its path/)
    assert.is(readFileSync(join(dir, 'real.txt'), 'utf8'), 'two')
    await did('delete_file', { path: 'src/b.txt' })
    renameSync(join(dir, 'src'), join(dir, 'moved'))
    await assert.rejects(undo('delete_file', receipts.slice(-1)), /^its folder is gone$/)
    assert.equal(readdirSync(join(dir, 'moved')), [])
  })

  it('deletes nothing outside when a folder becomes a link while a call is at work', async (context) => {
    const elsewhere = workspaceFolder(context, { 'a.txt': 'theirs' })
    const memory = snapshotsOf(new MemorySnapshots())
    const swap = (): void => {
      renameSync(join(dir, 'src'), join(dir, 'moved'))
      symlinkSync(elsewhere.dir, join(dir, 'src'))
    }
    const put: Snapshots['put'] = async (bytes) => {
      swap()
      return await memory.put(bytes)
    }
    const { dir, did } = undoable(context, { 'src/a.txt': 'one' }, { ...memory, put })
    await assert.rejects(did('delete_file', { path: 'src/a.txt' }))
    assert.is(readFileSync(join(elsewhere.dir, 'a.txt'), 'utf8'), 'theirs')
  })

  if (process.platform === 'linux')
    it('goes on in the folder that it found, whatever its name leads to by then', async (context) => {
      const elsewhere = workspaceFolder(context, { 'a.txt': 'theirs' })
      const { dir } = workspaceFolder(context, { 'src/a.txt': 'one', 'src/b.txt': 'two' })
      await inItsFolder(join(dir, 'src/a.txt'), async (place) => {
        renameSync(join(dir, 'src'), join(dir, 'moved'))
        symlinkSync(elsewhere.dir, join(dir, 'src'))
        rmSync(place)
      })
      assert.equal([readdirSync(join(dir, 'moved')), readdirSync(elsewhere.dir)], [['b.txt'], ['a.txt']])
      await assert.rejects(inItsFolder(join(dir, 'src/a.txt'), async (place) => rmSync(place)))
      mkdirSync(join(dir, 'in'))
      renameSync(join(dir, 'src'), join(dir, 'in/src'))
      mkdirSync(join(elsewhere.dir, 'deep'))
      await assert.rejects(
        inItsFolder(join(dir, 'in/src/deep/x'), async () => {}),
        /changed its place meanwhile/,
      )
      await assert.rejects(replaceFile(join(dir, 'in/src/deep/x'), 'x', context.signal), /changed its place meanwhile/)
      assert.equal(readdirSync(join(elsewhere.dir, 'deep')), [])
    })

  it('never follows a link out of the workspace', async (context) => {
    const outside = workspaceFolder(context, { 'a.txt': 'two' })
    const { dir, did, undo } = undoable(context, { 'src/a.txt': 'one' })
    await did('write_file', { path: 'src/a.txt', content: 'two' })
    rmSync(join(dir, 'src'), { recursive: true })
    symlinkSync(outside.dir, join(dir, 'src'))
    await assert.rejects(undo('write_file'), /outside the workspace/)
    assert.is(readFileSync(join(outside.dir, 'a.txt'), 'utf8'), 'two')
  })

  it('says at once, and again when it is to be undone, what was too large to keep', async (context) => {
    const small = snapshotsOf(new MemorySnapshots({ maxBytes: 100, maxCount: 10, maxFileBytes: 10 }))
    const { did, undo, read } = undoable(context, { 'a.txt': 'eleven byte' }, small)
    const said = await did('write_file', { path: 'a.txt', content: 'two' })
    assert.match(said, /\nThis cannot be undone: the file had 11 bytes before, more than is kept of a file \(10\)\.$/)
    await assert.rejects(undo('write_file'), /^the file had 11 bytes before/)
    assert.is(read('a.txt').toString(), 'two')
  })

  it('says what is no longer kept, and what could not be', async (context) => {
    const kept = snapshotsOf(new MemorySnapshots())
    const full = { ...kept, put: () => Promise.reject(new Error('the disk is full')) }
    const failing = undoable(context, { 'a.txt': 'one' }, full)
    assert.match(
      await failing.did('write_file', { path: 'a.txt', content: 'two' }),
      /could not be kept: the disk is full/,
    )
    await assert.rejects(failing.undo('write_file'), /the disk is full/)
    const evicting = undoable(context, { 'a.txt': 'one' }, { ...kept, get: async () => undefined })
    await evicting.did('write_file', { path: 'a.txt', content: 'two' })
    await assert.rejects(evicting.undo('write_file'), /^what it was before is no longer kept$/)
    assert.is(evicting.read('a.txt').toString(), 'two')
  })

  it('keeps the same content once, and nothing of a call that failed before it acted', async (context) => {
    const store = new MemorySnapshots()
    let puts = 0
    const kept = snapshotsOf(store)
    const counting = { ...kept, put: (bytes: Uint8Array) => ((puts += 1), kept.put(bytes)) }
    const { did, receipts } = undoable(context, { 'a.txt': 'one' }, counting)
    await did('write_file', { path: 'a.txt', content: 'two' })
    await assert.rejects(did('edit_file', { path: 'a.txt', oldText: 'three', newText: 'x' }))
    await assert.rejects(did('delete_file', { path: 'nowhere' }), /does not exist/)
    await assert.rejects(did('delete_file', { path: '.' }), /is a folder/)
    assert.equal([puts, receipts.length], [1, 1])
  })

  it('is off by default: the same tools, with the same effects', (context) => {
    const { dir } = workspaceFolder(context)
    const said = (options?: WorkspaceToolsOptions) =>
      workspaceTools(dir, options).map(({ name, effects, undo }) => [name, effects, undo === undefined])
    assert.equal(said(), said({ snapshots: false }))
    assert.ok(said().every(([name, effects, none]) => name !== 'delete_file' && effects !== 'reversible' && none))
    const changed = said({ snapshots: true }).filter(([, effects]) => effects === 'reversible')
    assert.equal(
      changed.map(([name]) => name),
      ['write_file', 'edit_file', 'delete_file'],
    )
  })
})
