import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { assert, describe } from '../../../../test/support/suite.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import { workspaceFolder } from './workspaceFolder.ts'

describe('write_file', (it) => {
  it('creates a file with the folders it needs and says what it wrote', async (context) => {
    const { dir, call } = workspaceFolder(context)
    assert.is(
      await call('write_file', { path: 'a/b/c.txt', content: 'ü\nzwei' }),
      'Created a/b/c.txt: 7 bytes, 2 lines.',
    )
    assert.is(readFileSync(join(dir, 'a/b/c.txt'), 'utf8'), 'ü\nzwei')
    assert.is(await call('write_file', { path: 'empty', content: '' }), 'Created empty: 0 bytes, 0 lines.')
    assert.is(statSync(join(dir, 'empty')).size, 0)
  })

  it('replaces a file as a whole and keeps its mode', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'run.sh': 'old content\n' })
    chmodSync(join(dir, 'run.sh'), 0o751)
    const said = await call('write_file', { path: 'run.sh', content: 'new\n' })
    assert.is(said, 'Overwrote run.sh: 4 bytes, 1 lines (was 12 bytes).')
    assert.is(readFileSync(join(dir, 'run.sh'), 'utf8'), 'new\n')
    assert.is(statSync(join(dir, 'run.sh')).mode & 0o777, 0o751)
  })

  for (const [before, content, after, said] of [
    ['a\r\nb\r\n', 'x\ny\n', 'x\r\ny\r\n', ' Its line endings (CRLF) were kept.'],
    ['\uFEFFa\n', 'x\n', '\uFEFFx\n', ' Its byte order mark was kept.'],
    ['\uFEFFa\r\n', 'x\n', '\uFEFFx\r\n', ' Its line endings (CRLF) and byte order mark were kept.'],
    ['\uFEFFa\r\n', '\uFEFFx\r\n', '\uFEFFx\r\n', ''],
    ['a\r\nb\nc\n', 'x\ny\n', 'x\ny\n', ''],
    ['a\r\n', 'x\r\ny\n', 'x\r\ny\n', ''],
    ['a\n', 'x\n', 'x\n', ''],
    ['\0a\r\n', 'x\n', 'x\n', ''],
  ] as const)
    it(`keeps what a model does not see of ${JSON.stringify(before)} under ${JSON.stringify(content)}`, async (context) => {
      const { dir, call } = workspaceFolder(context, { 'a.txt': before })
      const told = await call('write_file', { path: 'a.txt', content })
      assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), after)
      assert.is(told.slice(told.indexOf('bytes).') + 'bytes).'.length), said)
    })

  it('puts the new file in place by a rename and leaves nothing behind', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'a.txt': 'old' })
    const before = statSync(join(dir, 'a.txt')).ino
    await call('write_file', { path: 'a.txt', content: 'new' })
    assert.is.not(statSync(join(dir, 'a.txt')).ino, before)
    assert.equal(readdirSync(dir), ['a.txt'])
  })

  it('reports what it changed as the model knows it, and nothing when it fails', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'src/a.txt': 'old' })
    const seen = toolContext()
    await call('write_file', { path: './src/../src/a.txt', content: 'new' }, seen)
    await call('write_file', { path: join(dir, 'b.txt'), content: 'new' }, seen)
    await assert.rejects(call('write_file', { path: 'src', content: '' }, seen), /is a folder/)
    assert.equal(seen.changes, ['src/a.txt', 'b.txt'])
  })

  it('leaves the old file when it is aborted or fails', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'a.txt': 'old', 'file/x': '' })
    const controller = new AbortController()
    const writing = call('write_file', { path: 'a.txt', content: 'new' }, toolContext({ signal: controller.signal }))
    controller.abort(new Error('stop it'))
    await assert.rejects(writing, /stop it/)
    assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), 'old')
    const afterWriting = Object.assign(new AbortController().signal, {
      throwIfAborted: () => {
        if (readdirSync(dir).length > 2) throw new Error(`stop it with ${readdirSync(dir).length} files there`)
      },
    })
    const late = call('write_file', { path: 'a.txt', content: 'new' }, toolContext({ signal: afterWriting }))
    await assert.rejects(late, /stop it with 3 files there/)
    assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), 'old')
    mkdirSync(join(dir, 'folder'))
    await assert.rejects(call('write_file', { path: 'folder', content: '' }), /"folder" is a folder, not a file/)
    await assert.rejects(call('write_file', { path: '.', content: '' }), /is the workspace itself/)
    await assert.rejects(call('write_file', { path: 'a.txt/b', content: '' }), /goes through a file/)
    await assert.rejects(call('write_file', { path: 'n'.repeat(300), content: '' }), /is too long a name/)
    assert.equal(readdirSync(dir), ['a.txt', 'file', 'folder'])
  })
})
