import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { markdownMemory } from '../../src/memory/markdownMemory.ts'
import { sqliteMemory } from '../../src/memory/sqliteMemory.ts'
import type { Memory } from '../../../../src/protocol/ports/memory.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { memoryFolder } from './memoryFolder.ts'

/** A process that writes until it has said `enough` records are kept, and is killed then. Resolves to what it said. */
async function killedWriter(args: readonly string[], enough: number, { cleanup }: CaseContext): Promise<string[]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'memoryChild.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  cleanup(async () => {
    child.kill('SIGKILL')
    await closed
  })
  const told: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    told.push(line)
    if (told.length === enough) child.kill('SIGKILL')
  }
  await closed
  return told
}

for (const kind of ['markdown', 'sqlite'])
  describe(`${kind} memory, between processes`, (it) => {
    it(
      'keeps what processes said was kept that were killed while both wrote',
      { timeoutMs: 30_000 },
      async (context) => {
        const dir = await memoryFolder(context)
        const path = kind === 'sqlite' ? join(dir, 'memory.db') : dir
        const told = await Promise.all([
          killedWriter([kind, path, 'a'], 12, context),
          killedWriter([kind, path, 'b'], 15, context),
        ])
        const opened = kind === 'sqlite' ? sqliteMemory(path) : undefined
        context.cleanup(() => opened?.close())
        const memory: Memory = opened ?? markdownMemory(path)
        const kept = new Map((await memory.list()).map((record) => [record.id, record]))
        for (const id of told.flat()) assert.ok(kept.has(id), id)
        assert.equal([...kept.get('shared')!.confirmations].toSorted(), ['a/r0', 'b/r0'])
        assert.equal(await memory.problems!(), [])
        assert.equal((await memory.search('number 3 of b')).length > 0, true)
      },
    )
  })
