import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from '../../packages/sqlite/src/sqliteStore.ts'
import { type StoreContractOptions, storeContract } from '../../packages/evaluation/src/testing/storeContract.ts'
import { describe } from '../support/suite.ts'

for (const durability of ['os', 'batch'] as const)
  describe(`SQLite store with durability "${durability}", by contract`, (it) => {
    let dir = ''
    const options: StoreContractOptions = {
      create: async () => {
        dir = await mkdtemp(join(tmpdir(), 'escapement-contract-'))
        return sqliteStore(join(dir, 'agents.db'), { durability })
      },
      reopen: () => sqliteStore(join(dir, 'agents.db'), { durability }),
    }
    for (const { name, run } of storeContract(options))
      it(name, { timeoutMs: 20_000 }, async ({ cleanup }) => {
        cleanup(() => rm(dir, { recursive: true }))
        await run()
      })
  })
