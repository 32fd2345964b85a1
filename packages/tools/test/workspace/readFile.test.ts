import { execFileSync } from 'node:child_process'
import { openSync, ftruncateSync, closeSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { assert, describe } from '../../../../test/support/suite.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import { workspaceFolder } from './workspaceFolder.ts'

const numbered = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join('')

describe('read_file', (it) => {
  it('gives a small file exactly as it is, without its byte order mark', async (context) => {
    const text = 'grüße 👋\r\nzwei\n\n  no newline at the end'
    const { call } = workspaceFolder(context, { 'a b/ü.txt': `\uFEFF${text}` })
    assert.is(await call('read_file', { path: 'a b/ü.txt' }), text)
  })

  it('gives the asked lines under a line that says which they are', async (context) => {
    const { call } = workspaceFolder(context, { 'a.txt': numbered(10), 'b.txt': 'one\ntwo' })
    assert.is(await call('read_file', { path: 'a.txt', offset: 3, limit: 2 }), '[lines 3–4 of 10]\nline 3\nline 4\n')
    assert.is(await call('read_file', { path: 'a.txt', offset: 10 }), '[lines 10–10 of 10]\nline 10\n')
    assert.is(await call('read_file', { path: 'a.txt', limit: 10 }), numbered(10))
    assert.is(await call('read_file', { path: 'b.txt', offset: 2 }), '[lines 2–2 of 2]\ntwo')
    await assert.rejects(call('read_file', { path: 'a.txt', offset: 11 }), /has 10 lines; offset 11 is past its end/)
  })

  it('stops at a whole line when a file does not fit, so that it can be read on from there', async (context) => {
    const text = numbered(20_000)
    const { call } = workspaceFolder(context, { 'long.txt': text })
    let read = ''
    for (let offset = 1; offset <= 20_000;) {
      const part = await call('read_file', { path: 'long.txt', offset })
      const [, first, last] = /^\[lines (\d+)–(\d+) of 20000\]\n/.exec(part) ?? []
      assert.is(Number(first), offset)
      assert.ok(part.length <= 51_000)
      read += part.slice(part.indexOf('\n') + 1)
      offset = Number(last) + 1
    }
    assert.ok(read === text)
  })

  it('gives a file that just fits whole', async (context) => {
    const text = `${'x'.repeat(99)}\n`.repeat(500)
    const { call } = workspaceFolder(context, { 'a.txt': text, 'b.txt': `${text}y` })
    assert.is(await call('read_file', { path: 'a.txt' }), text)
    assert.is(await call('read_file', { path: 'b.txt' }), `[lines 1–500 of 501]\n${text}`)
  })

  it('cuts a line that is too long by itself, between two characters', async (context) => {
    const { call } = workspaceFolder(context, { 'min.js': `${'€'.repeat(40_000)}\nend\n` })
    const text = await call('read_file', { path: 'min.js' })
    assert.ok(text.startsWith('[line 1 of 2, of which only the first 50000 bytes are shown]\n€€'))
    assert.is(text.split('\n')[1], '€'.repeat(16_666))
    assert.is(await call('read_file', { path: 'min.js', offset: 2 }), '[lines 2–2 of 2]\nend\n')
  })

  it('finds lines across the borders of the pieces it reads', async (context) => {
    const lines = Array.from({ length: 9 }, (_, i) => `${i}`.repeat(100_000 + i))
    const { call } = workspaceFolder(context, { 'a.txt': lines.join('\n') })
    const text = await call('read_file', { path: 'a.txt', offset: 8, limit: 1 })
    assert.is(text, `[line 8 of 9, of which only the first 50000 bytes are shown]\n${'7'.repeat(50_000)}`)
  })

  it('reads the beginning of a huge file without holding it', { timeoutMs: 10_000 }, async (context) => {
    const { dir, call } = workspaceFolder(context, { 'huge.txt': `first\nsecond\n${'x'.repeat(10_000)}` })
    const file = openSync(join(dir, 'huge.txt'), 'r+')
    ftruncateSync(file, 400 * 1024 * 1024)
    closeSync(file)
    const before = process.memoryUsage.rss()
    assert.is(await call('read_file', { path: 'huge.txt', limit: 2 }), '[lines 1–2 of 3]\nfirst\nsecond\n')
    assert.ok(process.memoryUsage.rss() - before < 100 * 1024 * 1024)
  })

  it('refuses binary files and text that is not UTF-8, with their size', async (context) => {
    const { call } = workspaceFolder(context, {
      'image.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]),
      'latin1.txt': Buffer.from('grüße', 'latin1'),
    })
    await assert.rejects(call('read_file', { path: 'image.png' }), /"image\.png" is a binary file .*\(7 bytes\)/)
    await assert.rejects(call('read_file', { path: 'latin1.txt' }), /not UTF-8 \(5 bytes\)/)
  })

  it('says that an empty file is empty', async (context) => {
    const { call } = workspaceFolder(context, { 'empty.txt': '' })
    assert.is(await call('read_file', { path: 'empty.txt' }), '[empty.txt is empty]')
  })

  it('names similar files when one is missing', async (context) => {
    const { call } = workspaceFolder(context, { 'src/readFile.ts': '', 'src/other.md': '' })
    await assert.rejects(
      call('read_file', { path: 'src/read_file.ts' }),
      /does not exist; similar names there: "src\/readFile.ts"$/,
    )
    await assert.rejects(
      call('read_file', { path: 'src/zzz' }),
      /does not exist; use list_files to see what is in "src"/,
    )
    await assert.rejects(call('read_file', { path: 'lib/a.ts' }), /does not exist, nor does its folder "lib"/)
    await assert.rejects(call('read_file', { path: 'src/other.md/a.ts' }), /goes through a file as if it were a folder/)
  })

  it('refuses folders, and pipes without waiting for a writer', async (context) => {
    const { dir, call } = workspaceFolder(context)
    mkdirSync(join(dir, 'sub'))
    execFileSync('mkfifo', [join(dir, 'pipe')])
    await assert.rejects(call('read_file', { path: 'sub' }), /"sub" is a folder, not a file; use list_files/)
    await assert.rejects(call('read_file', { path: '.' }), /is a folder/)
    await assert.rejects(call('read_file', { path: 'pipe' }), /is not a regular file/)
  })

  it('stops when it is aborted', async (context) => {
    const { call } = workspaceFolder(context, { 'a.txt': 'one\n' })
    const signal = AbortSignal.abort(new Error('stop it'))
    await assert.rejects(call('read_file', { path: 'a.txt' }, toolContext({ signal })), /stop it/)
  })
})
