import { agentScripts, inMemory, logsOf } from '../../../test/contracts/agentScripts.ts'
import { inMemoryOfProcess, inProcess } from '../../../test/contracts/hosts.ts'
import { hostScripts } from '../../../test/contracts/hostScripts.ts'
import { postgresStore } from '../src/postgresStore.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { assert } from '../../../test/support/suite.ts'
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
