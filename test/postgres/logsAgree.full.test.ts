import { agentScripts, inMemory, logsOf } from '../contracts/agentScripts.ts'
import { inMemoryOfProcess, inProcess } from '../contracts/hosts.ts'
import { hostScripts } from '../contracts/hostScripts.ts'
import { postgresStore } from '../../src/stores/postgres/postgresStore.ts'
import { memoryStore } from '../../src/stores/memoryStore.ts'
import { assert } from '../support/suite.ts'
import { describeWithPostgres } from './postgres.ts'

describeWithPostgres('the logs of agents', (it) => {
  for (const [what, script] of Object.entries(agentScripts))
    it(`that ${what} are the same in PostgreSQL as in memory`, async (context) => {
      const { url, schema } = context
      const expected = await logsOf(script, inMemory(memoryStore()), context)
      assert.equal(await logsOf(script, { open: () => postgresStore(url, { schema }) }, context), expected)
    })

  for (const [what, script] of Object.entries(hostScripts))
    it(`that ${what}, wherever they work, are the same in PostgreSQL as in memory`, async (context) => {
      const { url, schema } = context
      const expected = await inMemoryOfProcess(script(), context)
      assert.equal(await inProcess(script(), context, () => postgresStore(url, { schema })), expected)
    })
})
