import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { markdownMemory } from '../../packages/tools/src/memory/markdownMemory.ts'
import { sqliteMemory } from '../../packages/tools/src/memory/sqliteMemory.ts'
import type { Memory } from '../../src/protocol/ports/memory.ts'
import { memoryContract } from '../../packages/evaluation/src/testing/memoryContract.ts'
import { assert, describe } from '../support/suite.ts'

const kinds: { readonly [name: string]: (dir: string) => Memory } = {
  'markdown memory': markdownMemory,
  'sqlite memory': (dir) => sqliteMemory(join(dir, 'memory.db')),
}

for (const [name, open] of Object.entries(kinds))
  describe(`${name}, by contract`, (it) => {
    let dir = ''
    const create = async (): Promise<Memory> => open((dir = await mkdtemp(join(tmpdir(), 'escapement-memory-'))))
    for (const { name: promise, run } of memoryContract({ create, reopen: () => open(dir) }))
      it(promise, { timeoutMs: 20_000 }, async ({ cleanup }) => {
        cleanup(() => rm(dir, { recursive: true }))
        await run()
      })
  })

describe('the memory contract', (it) => {
  const failuresOf = async (breakIt: (memory: Memory) => Partial<Memory>): Promise<string[]> => {
    const failed: string[] = []
    const create = (): Memory => {
      const memory = sqliteMemory(':memory:')
      const { put, search, list, delete: remove } = memory
      const whole = { put, search, list, delete: remove }
      for (const [key, method] of Object.entries(whole)) Object.assign(whole, { [key]: method.bind(memory) })
      return { ...whole, ...breakIt(memory), close: () => memory.close() } as Memory
    }
    for (const { name, run } of memoryContract({ create }))
      await run().catch((thrown: unknown) => failed.push(`${name}: ${thrown instanceof Error ? thrown.message : ''}`))
    return failed
  }

  it('finds nothing wrong with a memory that keeps it', async () => {
    assert.equal(await failuresOf(() => ({})), [])
  })

  const breaches: { readonly [what: string]: { breakIt(memory: Memory): Partial<Memory>; found: RegExp } } = {
    'forgets whose a record is': {
      breakIt: (memory) => ({ search: (query) => memory.search(query) }),
      found: /keeps scopes apart/,
    },
    'takes what is tainted for known': {
      breakIt: (memory) => ({ list: ({ trusted: _, ...filter } = {}) => memory.list(filter) }),
      found: /list must give what is trusted/,
    },
    'lets the last put win': {
      breakIt: (memory) => ({
        put: async (record) => {
          if (typeof record?.id === 'string') await memory.delete({ scope: record.scope, id: record.id })
          return memory.put(record)
        },
      }),
      found: /every run must be noted/,
    },
    'deletes everything when nothing is said': {
      breakIt: (memory) => ({
        delete: async (which) => {
          if (Object.keys(which).length > 0) return memory.delete(which)
          return memory.delete({ scope: 'user:a' })
        },
      }),
      found: /must refuse to delete everything/,
    },
    'does not sort': {
      breakIt: (memory) => ({ list: async (filter) => (await memory.list(filter)).toReversed() }),
      found: /the newest goes first/,
    },
  }
  for (const [what, { breakIt, found }] of Object.entries(breaches))
    it(`tells of a memory that ${what}`, async () => assert.match((await failuresOf(breakIt)).join('\n'), found))
})
