import { someRuns } from '../../../../test/support/seeds.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { placesOf } from '../../src/workspace/placesOf.ts'
import { caller, workspaceFolder } from './workspaceFolder.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'

const poem = 'one\ntwo\nthree\nfour\nfive\nsix\n'

describe('edit_file', (it) => {
  it('replaces text that occurs once and shows the changed lines', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'a.txt': poem })
    const said = await call('edit_file', { path: 'a.txt', oldText: 'three\nfo', newText: '3\nnew\nfo' })
    assert.is(said, 'Edited a.txt: 1 replacement.\n@@ -1,5 +1,6 @@\n one\n two\n-three\n+3\n+new\n four\n five')
    assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), 'one\ntwo\n3\nnew\nfour\nfive\nsix\n')
  })

  it('reports what it changed as the model knows it, and nothing when it fails', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'src/a.txt': poem })
    const seen = toolContext()
    await call('edit_file', { path: join(dir, 'src/a.txt'), oldText: 'two', newText: '2' }, seen)
    await assert.rejects(call('edit_file', { path: 'src/a.txt', oldText: 'two', newText: '2' }, seen), /src\/a\.txt/)
    assert.equal(seen.changes, ['src/a.txt'])
  })

  it('shows no line after the last one', async (context) => {
    const { call } = workspaceFolder(context, { 'a.txt': 'one\ntwo\n' })
    const said = await call('edit_file', { path: 'a.txt', oldText: 'two', newText: '2' })
    assert.is(said, 'Edited a.txt: 1 replacement.\n@@ -1,2 +1,2 @@\n one\n-two\n+2')
  })

  it('takes the new text literally', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'a.txt': 'price: X\n' })
    await call('edit_file', { path: 'a.txt', oldText: 'X', newText: "$& $1 $' \\n" })
    assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), "price: $& $1 $' \\n\n")
  })

  it('refuses text that occurs more than once and says where', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'a.txt': 'x = 1\ny = 1\nz = 1\n', 'b.txt': 'aaa' })
    await assert.rejects(
      call('edit_file', { path: 'a.txt', oldText: ' = 1', newText: ' = 2' }),
      /a\.txt: oldText occurs 3 times, at lines 1, 2, 3; add surrounding lines/,
    )
    await assert.rejects(
      call('edit_file', { path: 'b.txt', oldText: 'aa', newText: 'b' }),
      /occurs 2 times, at lines 1;/,
    )
    assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), 'x = 1\ny = 1\nz = 1\n')
  })

  it('replaces every occurrence when asked, and shows each place with its new line number', async (context) => {
    const lines = Array.from({ length: 20 }, (_, i) => `${i + 1}`)
    lines[1] = 'X X'
    lines[15] = 'X'
    const { dir, call } = workspaceFolder(context, { 'a.txt': lines.join('\n') })
    const said = await call('edit_file', { path: 'a.txt', oldText: 'X', newText: 'y\ny', all: true })
    assert.is(
      said,
      'Edited a.txt: 3 replacements.\n@@ -1,4 +1,6 @@\n 1\n-X X\n+y\n+y y\n+y\n 3\n 4\n@@ -14,5 +16,6 @@\n 14\n 15\n-X\n+y\n+y\n 17\n 18',
    )
    assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), lines.join('\n').replaceAll('X', 'y\ny'))
  })

  it('shows the most similar line when the text is not there', async (context) => {
    const { call } = workspaceFolder(context, {
      'a.ts': 'import x\nconst total = sum(values)\n  if (a) {\n    b()\n  }\n',
    })
    await assert.rejects(
      call('edit_file', { path: 'a.ts', oldText: 'const totals = sum(value)', newText: '' }),
      /not found\. The most similar line is 2:\nconst total = sum\(values\)\n/,
    )
    await assert.rejects(
      call('edit_file', { path: 'a.ts', oldText: 'if (a) {\n\tb()\n}', newText: '' }),
      /differs only in white space from line 3; copy it exactly as it is there:\n {2}if \(a\) \{\n {4}b\(\)\n {2}\}/,
    )
    await assert.rejects(
      call('edit_file', { path: 'a.ts', oldText: '@@@@@', newText: '' }),
      /Nothing in the file is similar/,
    )
  })

  it('refuses an edit that changes nothing or has nothing to find', async (context) => {
    const { call } = workspaceFolder(context, { 'a.txt': poem, 'empty.txt': '' })
    await assert.rejects(call('edit_file', { path: 'a.txt', oldText: 'two', newText: 'two' }), /are the same/)
    await assert.rejects(call('edit_file', { path: 'a.txt', oldText: '', newText: 'x' }), /oldText is empty/)
    await assert.rejects(call('edit_file', { path: 'empty.txt', oldText: 'a', newText: 'b' }), /not found/)
  })

  it('keeps CRLF and the byte order mark, whichever line endings the model writes', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'a.txt': '\uFEFFone\r\ntwo\r\nthree\r\n' })
    const read = () => readFileSync(join(dir, 'a.txt'), 'utf8')
    await call('edit_file', { path: 'a.txt', oldText: 'one\ntwo', newText: '1\n1½\n2' })
    assert.is(read(), '\uFEFF1\r\n1½\r\n2\r\nthree\r\n')
    await call('edit_file', { path: 'a.txt', oldText: '2\r\nthree', newText: '2\r\n3' })
    assert.is(read(), '\uFEFF1\r\n1½\r\n2\r\n3\r\n')
    await call('edit_file', { path: 'a.txt', oldText: '\n1½', newText: '' })
    assert.is(read(), '\uFEFF1\r\n2\r\n3\r\n')
    await call('edit_file', { path: 'a.txt', oldText: '2\n', newText: '' })
    assert.is(read(), '\uFEFF1\r\n3\r\n')
  })

  for (const [before, oldText, newText, after] of [
    ['\uFEFFone\n', '\uFEFFone', '\uFEFFONE', '\uFEFFONE\n'],
    ['\uFEFFone\n', 'one', '\uFEFFONE', '\uFEFFONE\n'],
    ['one\n', '\uFEFFone', '\uFEFFONE', 'ONE\n'],
    ['one\ntwo\n', 'two', '\uFEFFTWO', 'one\n\uFEFFTWO\n'],
    ['a\uFEFFb\n', 'a\uFEFFb', 'c', 'c\n'],
  ] as const)
    it(`writes one byte order mark at most: ${JSON.stringify([before, oldText, newText])}`, async (context) => {
      const { dir, call } = workspaceFolder(context, { 'a.txt': before })
      await call('edit_file', { path: 'a.txt', oldText, newText })
      assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), after)
    })

  it('leaves the lines outside the edit as they are in a file of mixed line endings', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'a.txt': 'a\r\nb\nc\r\nd\ne\n' })
    await call('edit_file', { path: 'a.txt', oldText: 'b\nc', newText: 'B\nC' })
    assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), 'a\r\nB\nC\r\nd\ne\n')
  })

  it('keeps CRLF that the model writes into a file without any', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'a.txt': 'head\nbody\n' })
    await call('edit_file', { path: 'a.txt', oldText: 'head', newText: 'a\r\nb' })
    assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), 'a\r\nb\nbody\n')
  })

  it('refuses binary files, text that is not UTF-8, files that are missing or too large', async (context) => {
    const latin1 = Buffer.from('grüße', 'latin1')
    const { dir, call } = workspaceFolder(context, { 'a.bin': 'a\0b', 'latin1.txt': latin1 })
    writeFileSync(join(dir, 'large.txt'), 'x'.repeat(10 * 1024 * 1024 + 1))
    await assert.rejects(call('edit_file', { path: 'a.bin', oldText: 'a', newText: 'b' }), /binary file/)
    await assert.rejects(call('edit_file', { path: 'latin1.txt', oldText: 'gr', newText: 'b' }), /not UTF-8/)
    await assert.rejects(call('edit_file', { path: 'missing', oldText: 'a', newText: 'b' }), /does not exist/)
    await assert.rejects(call('edit_file', { path: 'large.txt', oldText: 'x', newText: 'b' }), /too large to edit/)
    assert.equal(readFileSync(join(dir, 'latin1.txt')), latin1)
  })

  it('loses no edit when many are made at once, by several sets of tools', async (context) => {
    const names = Array.from({ length: 20 }, (_, i) => `name${String.fromCharCode(97 + i)}`)
    const { dir, call } = workspaceFolder(context, { 'a.txt': names.join('\n') })
    const other = caller(dir)
    await Promise.all(
      names.map((name, i) =>
        (i % 2 === 0 ? call : other)('edit_file', { path: 'a.txt', oldText: name, newText: `${name}!` }),
      ),
    )
    assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), names.map((name) => `${name}!`).join('\n'))
  })

  it('is not held up by a long line with a place in every word', async (context) => {
    const rows = Array.from({ length: 40_000 }, (_, id) => ({ id, name: `item ${id}`, price: 1.5 }))
    const { dir, call } = workspaceFolder(context, { 'a.json': JSON.stringify(rows) })
    const said = await call('edit_file', { path: 'a.json', oldText: '"price"', newText: '"cost"', all: true })
    assert.match(said, /^Edited a\.json: 40000 replacements\.\n@@ -1,1 \+1,1 @@\n-\[\{"id":0/)
    assert.is(readFileSync(join(dir, 'a.json'), 'utf8'), JSON.stringify(rows).replaceAll('"price"', '"cost"'))
  })

  it('is not held up by text that almost occurs everywhere', async (context) => {
    const { call } = workspaceFolder(context, {
      'letters.txt': 'a'.repeat(1_000_000),
      'lines.txt': 'x\n'.repeat(20_000),
      'alike.txt': `${'ab'.repeat(100)}\n`.repeat(20_000),
    })
    const half = 'a'.repeat(400_000)
    for (const [path, oldText, seen] of [
      ['letters.txt', `${half}b${half}`, /not found/],
      ['lines.txt', `${' x\n'.repeat(10_000)}z`, /not found/],
      ['alike.txt', `${'ab'.repeat(99)}c`, /The most similar line is 1:/],
    ] as const)
      await assert.rejects(call('edit_file', { path, oldText, newText: 'b' }), seen)
  })

  it('refuses to replace a text that occurs all over a large file', async (context) => {
    const { call } = workspaceFolder(context, { 'a.txt': 'a'.repeat(100_001) })
    await assert.rejects(
      call('edit_file', { path: 'a.txt', oldText: 'a', newText: 'b', all: true }),
      /oldText occurs more than 100000 times, too often for one edit/,
    )
  })
})

describe('the places of a text', (it) => {
  it('are those that a search from the left finds', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '👋'), maxLength: 30 })
    fc.assert(
      fc.property(letters, letters.filter(Boolean), fc.integer({ min: 1, max: 9 }), (text, wanted, most) => {
        const places: number[] = []
        for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) places.push(at)
        assert.equal(placesOf(text, wanted, most), places.slice(0, most))
      }),
      { seed: 12, numRuns: someRuns(2_000) },
    )
  })
})
