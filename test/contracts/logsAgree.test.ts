import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../../src/protocol/ports/store.ts'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { sqliteStore } from '../../packages/sqlite/src/sqliteStore.ts'
import { assert, describe } from '../support/suite.ts'
import { agentScripts, inMemory, logsOf } from './agentScripts.ts'
import { inMemoryOfProcess, inProcess } from './hosts.ts'
import { hostScripts } from './hostScripts.ts'

const places: { readonly [name: string]: (dir: string) => Store } = {
  'in files': (dir) => fileStore(dir),
  'in files that are synced': (dir) => fileStore(dir, { durability: 'batch', batchMs: 1 }),
  'in SQLite': (dir) => sqliteStore(join(dir, 'agents.db')),
  'in SQLite that is synced': (dir) => sqliteStore(join(dir, 'agents.db'), { durability: 'batch' }),
}

describe('the logs of agents, wherever they work,', (it) => {
  for (const [what, script] of Object.entries(hostScripts))
    for (const [where, open] of Object.entries(places))
      it(`that ${what} are the same ${where} as in memory`, { timeoutMs: 10_000 }, async (context) => {
        const dir = await mkdtemp(join(tmpdir(), 'escapement-logs-'))
        context.cleanup(() => rm(dir, { recursive: true }))
        const expected = await inMemoryOfProcess(script(), context)
        assert.ok(JSON.stringify(expected).length > 1000)
        assert.equal(await inProcess(script(), context, () => open(dir)), expected)
      })
})

describe('the logs of agents', (it) => {
  for (const [what, script] of Object.entries(agentScripts))
    for (const [where, open] of Object.entries(places))
      it(`that ${what} are the same ${where} as in memory`, { timeoutMs: 10_000 }, async (context) => {
        const dir = await mkdtemp(join(tmpdir(), 'escapement-logs-'))
        context.cleanup(() => rm(dir, { recursive: true }))
        const expected = await logsOf(script, inMemory(memoryStore()), context)
        assert.ok(Object.values(expected).flat().length > 10)
        assert.equal(await logsOf(script, { open: () => open(dir) }, context), expected)
      })
})
