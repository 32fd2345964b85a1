import { randomUUID } from 'node:crypto'
import { postgresStore } from '../src/postgresStore.ts'
import { storeContract, type StoreContractOptions } from '../../evaluation/src/testing/storeContract.ts'
import { describeWithPostgres } from './postgres.ts'

describeWithPostgres('PostgreSQL store, by contract', (it) => {
  let url = ''
  let schema = ''
  const options: StoreContractOptions = {
    create: () => postgresStore(url, { schema: (schema = `s_${randomUUID().replaceAll('-', '')}`) }),
    reopen: () => postgresStore(url, { schema }),
  }
  for (const { name, run } of storeContract(options))
    it(name, async (context) => {
      url = context.url
      await run()
    })
})
