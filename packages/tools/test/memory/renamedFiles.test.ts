import { readdirSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '../../../stores/src/lockFile.ts'
import type { Memory } from '../../../../src/protocol/ports/memory.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { markdownMemory } from '../../src/memory/markdownMemory.ts'
import { fileNameOf, oldFileNameOf } from '../../src/memory/memoryFile.ts'
import { fact, memoryFolder } from './memoryFolder.ts'

describe('a file of memories that gets another name while a change waits for it', (it) => {
  const [name, old] = [fileNameOf('user:42'), oldFileNameOf('user:42')]
  const changes: readonly (readonly [string, (memory: Memory) => Promise<unknown>, readonly string[]])[] = [
    ['a new record', (memory) => memory.put(fact('m2', 'Coffee.')), ['Coffee.', 'Tea.']],
    ['another text', (memory) => memory.put(fact('m1', 'Milk.', { updatedAt: 2_000 })), ['Milk.']],
    ['a deletion', (memory) => memory.delete({ scope: 'user:42', id: 'm1' }), []],
  ]
  for (const [what, change, left] of changes)
    it(`is the only one afterwards, with the change: ${what}`, async (context) => {
      const dir = await memoryFolder(context)
      await markdownMemory(dir).put(fact('m1', 'Tea.'))
      await rename(join(dir, name), join(dir, old))
      const lock = await lockFile(join(dir, `${old}.lock`))
      const changed = change(markdownMemory(dir))
      // It has looked for the file once it tries to take the lock.
      while (!readdirSync(dir).some((file) => file.startsWith(`${old}.lock.`)))
        await new Promise((resolve) => setImmediate(resolve))
      await rename(join(dir, old), join(dir, name))
      await lock.release()
      await changed
      assert.equal(
        (await readdir(dir)).filter((file) => file.endsWith('.md')),
        left.length === 0 ? [] : [name],
      )
      const texts = (await markdownMemory(dir).list()).map(({ text }) => text)
      assert.equal(texts.toSorted(), left)
    })
})
