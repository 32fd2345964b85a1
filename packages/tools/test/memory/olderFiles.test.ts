import { createHash } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileNameOf, oldFileNameOf } from '../../src/memory/memoryFile.ts'
import { markdownMemory } from '../../src/memory/markdownMemory.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { fact, memoryFolder } from './memoryFolder.ts'

const texts = (records: readonly { readonly text: string }[]): string[] => records.map(({ text }) => text)

describe('a file of memories', (it) => {
  it('is named by 128 bits of a hash', () => {
    const hash = createHash('sha256').update('user:42').digest('hex')
    assert.is(fileNameOf('user:42'), `user-42-${hash.slice(0, 32)}.md`)
    assert.is(oldFileNameOf('user:42'), `user-42-${hash.slice(0, 8)}.md`)
  })

  it('that has its older, shorter name is read and written where it is', async (context) => {
    const dir = await memoryFolder(context)
    await markdownMemory(dir).put(fact('m1', 'Tea.'))
    await rename(join(dir, fileNameOf('user:42')), join(dir, oldFileNameOf('user:42')))
    const memory = markdownMemory(dir)
    assert.equal(texts(await memory.list()), ['Tea.'])
    assert.equal(texts(await memory.list({ scopes: ['user:42'] })), ['Tea.'])
    await memory.put(fact('m2', 'Coffee.'))
    assert.equal(await readdir(dir), [oldFileNameOf('user:42')])
    assert.equal(texts(await markdownMemory(dir).list()).toSorted(), ['Coffee.', 'Tea.'])
    assert.equal(await memory.problems!(), [])
    assert.is(await memory.delete({ scope: 'user:42' }), 2)
    await memory.put(fact('m3', 'Milk.'))
    assert.equal(await readdir(dir), [fileNameOf('user:42')])
  })

  it('that has the older name of another scope is left to that one', async (context) => {
    const dir = await memoryFolder(context)
    const other = '# Memory of user:other\n\n## A note of theirs\n\nTheirs.\n'
    // As if both had the same short hash.
    await writeFile(join(dir, oldFileNameOf('user:42')), other)
    const memory = markdownMemory(dir)
    assert.equal(await memory.list({ scopes: ['user:42'] }), [])
    await memory.put(fact('m1', 'Tea.'))
    assert.equal(texts(await memory.list({ scopes: ['user:42'] })), ['Tea.'])
    assert.is(await memory.delete({ scope: 'user:42' }), 1)
    assert.is(await readFile(join(dir, oldFileNameOf('user:42')), 'utf8'), other)
  })

  it('that is there by both names is told of, and loses nothing', async (context) => {
    const dir = await memoryFolder(context)
    const memory = markdownMemory(dir)
    await memory.put(fact('m1', 'Tea.'))
    const content = await readFile(join(dir, fileNameOf('user:42')), 'utf8')
    const old = join(dir, oldFileNameOf('user:42'))
    await writeFile(old, content.replace('Tea.', 'Milk.'))
    assert.equal(texts(await memory.list()), ['Tea.'])
    assert.equal(await memory.problems!(), [
      { place: old, problem: `that of user:42 must be named ${fileNameOf('user:42')}` },
    ])
    await memory.put(fact('m2', 'Coffee.'))
    assert.match(await readFile(old, 'utf8'), /Milk\./)
    await rm(join(dir, fileNameOf('user:42')))
    assert.equal(texts(await memory.list()), ['Milk.'])
  })
})
