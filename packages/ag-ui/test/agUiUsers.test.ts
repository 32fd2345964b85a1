import { agUi } from '../../../src/agUi.ts'
import { defineAgent, policyModel } from '../../../src/index.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })

describe('threads of users whom the application tells apart', (it) => {
  it('are theirs alone', async (context) => {
    const { runtime, server } = await serveAgents(context, [echo], {
      endpoints: [agUi()],
      authenticate: (_, token) => (token === undefined ? null : { role: 'admin', metadata: { userId: token } }),
    })
    const run = async (token: string | undefined, threadId: string): Promise<number> => {
      const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
      const response = await fetch(`http://127.0.0.1:${server.port}/ag-ui`, {
        method: 'POST',
        headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
        body: JSON.stringify({
          threadId,
          runId: `${token} in ${threadId}`,
          state: {},
          messages: [{ id: 'm1', role: 'user', content: 'hi' }],
          tools: [],
          context: [],
          forwardedProps: {},
        }),
      })
      await response.text()
      return response.status
    }
    assert.is(await run('ann', 'thread-1'), 200)
    assert.equal(runtime.agent('thread-1')?.metadata, { userId: 'ann' })
    assert.is(await run('bob', 'thread-1'), 404)
    assert.is(await run('bob', 'thread-2'), 200)
    assert.is(await run(undefined, 'thread-2'), 401)
  })
})
