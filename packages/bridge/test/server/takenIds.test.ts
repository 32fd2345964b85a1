import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { sharedStore } from '../../../../test/support/sharedStore.ts'
import { connect } from '../../src/client/connect.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import type { Dispatch } from '../../src/server/dispatch.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes'), agents: [] })
const [ann, ben, eve] = ['ann', 'ben', 'eve'].map((name) => `token-of-${name}-0123456789`) as [string, string, string]
const tokens = {
  [ann]: { role: 'admin', metadata: { user: 'ann' } },
  [ben]: { role: 'admin', metadata: { user: 'ben' } },
  [eve]: { role: 'admin', agents: ['elsewhere'] },
} as const

/** An engine that has every agent already. */
const full: Dispatch = {
  command: async () => ({}),
  begin: async ({ id }) => {
    throw new RuntimeError('AGENT_EXISTS', `Agent "${id}" has a log in this store.`)
  },
}

describe('an id that is taken', (it) => {
  for (const dispatch of [undefined, full])
    it(`is told to who reaches that agent alone, ${dispatch === undefined ? 'here' : 'by an engine'}`, async ({
      cleanup,
    }) => {
      const store = sharedStore(memoryStore())
      const metadata = { user: 'ann' }
      const before = await createRuntime({ store })
      await before.spawn(echo, { id: 'stored', metadata })
      await before.close()
      const runtime = await createRuntime({ store })
      cleanup(() => runtime.close())
      const running = await runtime.spawn(echo, { id: 'running', metadata })
      await running.spawn(echo, { id: 'below' })
      const server = await runtime.serve({ definitions: [echo], tokens, ...(dispatch && { dispatch }) })
      const by = (token: string) => {
        const client = connect(server.url, { token })
        cleanup(() => client.close())
        return client
      }
      const refusal = async (token: string, id: string): Promise<string> => {
        const thrown = await by(token)
          .spawn('echo', { id })
          .catch((error: unknown) => error)
        assert.instance(thrown, RuntimeError)
        return `${(thrown as RuntimeError).code}: ${(thrown as RuntimeError).message}`
      }
      const outOfReach = await refusal(eve, 'fresh')
      assert.match(outOfReach, /^BRIDGE_FORBIDDEN/)
      for (const id of ['stored', 'running', 'below']) {
        assert.match(await refusal(ann, id), /^AGENT_EXISTS/, id)
        assert.is(await refusal(ben, id), outOfReach, id)
      }
      // A log of which nobody can say whose it is.
      store.read = () => {
        throw new RuntimeError('LOG_CORRUPT', 'The log is broken.')
      }
      assert.is(await refusal(ann, 'stored'), outOfReach)
    })
})
