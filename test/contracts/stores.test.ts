import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { type StoreContractOptions, storeContract } from '../../packages/evaluation/src/testing/storeContract.ts'
import type { FileStoreOptions } from '../../packages/stores/src/syncPolicy.ts'
import { describe } from '../support/suite.ts'

describe('memory store, by contract', (it) => {
  for (const { name, run } of storeContract({ create: memoryStore })) it(name, run)
})

const fileStores = (options?: FileStoreOptions): { options: StoreContractOptions; remove(): Promise<void> } => {
  let dir = ''
  return {
    options: {
      create: async () => fileStore((dir = await mkdtemp(join(tmpdir(), 'escapement-contract-'))), options),
      reopen: () => fileStore(dir, options),
    },
    remove: () => rm(dir, { recursive: true }),
  }
}

for (const durability of ['os', 'batch', 'each'] as const)
  describe(`file store with durability "${durability}", by contract`, (it) => {
    const { options, remove } = fileStores({ durability, batchMs: 1 })
    for (const { name, run } of storeContract(options))
      it(name, { timeoutMs: 20_000 }, async ({ cleanup }) => {
        cleanup(remove)
        await run()
      })
  })
