import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { sharedStore } from '../../../../test/support/sharedStore.ts'
import { describe } from '../../../../test/support/suite.ts'
import { storeFolder } from '../../../stores/test/storeFolder.ts'
import { sqliteStore } from '../../../sqlite/src/sqliteStore.ts'
import { keepsMachines } from './onStores.ts'

describe('a hosted machine in a store', (it) => {
  it('is kept, woken and held by one: in memory', (context) => {
    const store = sharedStore(memoryStore())
    return keepsMachines(context, () => store)
  })

  it('is kept, woken and held by one: in files', { timeoutMs: 10_000 }, async (context) => {
    const { store } = await storeFolder(context)
    await keepsMachines(context, store)
  })

  it('is kept, woken and held by one: in SQLite', { timeoutMs: 10_000 }, async (context) => {
    const { file } = await storeFolder(context)
    await keepsMachines(context, () => sqliteStore(file('hosts.db')))
  })
})
