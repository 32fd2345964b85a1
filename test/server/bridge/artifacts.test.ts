import { defineAgent } from '../../../src/actors/defineAgent.ts'
import { memoryStore } from '../../../src/stores/memoryStore.ts'
import { scriptedModel } from '../../../src/testing/scriptedModel.ts'
import { calls, tool } from '../../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

const page = '<script>alert(1)</script>'.repeat(100)

/** A served agent, whose tool returned more than is shown. */
async function served(context: CaseContext, options: object = {}) {
  const store = memoryStore()
  const reader = defineAgent({
    name: 'reader',
    model: scriptedModel([calls('a', 'fetch'), 'done']),
    tools: [tool('fetch', () => page)],
    artifacts: { overChars: 1_000 },
  })
  const serving = await serveAgents(context, [reader], { ...options, runtime: { store } })
  const agent = await serving.runtime.spawn(reader, { id: 'a1' })
  await agent.prompt('go').result
  let id = ''
  for await (const record of store.read('a1')) if (record.type === 'tool.end') id = record.message.artifacts![0]!.id
  const get = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${serving.server.port}${path}`, init)
  return { id, get, store }
}

describe('what results of agents name', (it) => {
  it('is saved from a server, and run by no browser', async (context) => {
    const { id, get } = await served(context)
    const response = await get(`/agents/a1/artifacts/${id}`)
    assert.is(response.status, 200)
    assert.is(response.headers.get('content-type'), 'text/plain')
    assert.is(response.headers.get('x-content-type-options'), 'nosniff')
    assert.match(
      response.headers.get('content-disposition')!,
      `attachment; filename*=UTF-8''artifact_${id.slice(0, 12)}`,
    )
    assert.match(response.headers.get('content-security-policy')!, 'sandbox')
    assert.is(await response.text(), page)
    assert.is((await get(`/agents/a1/artifacts/${id}`, { method: 'DELETE' })).status, 405)
  })

  it('is all that is given: nothing else that the store keeps', async (context) => {
    const { get, store } = await served(context)
    const other = await store.snapshots!.put('a1', new TextEncoder().encode('what an undo keeps'))
    const refused = await get(`/agents/a1/artifacts/${other}`)
    assert.is(refused.status, 404)
    assert.match(await refused.text(), 'There is no artifact_')
    assert.is((await get(`/agents/nobody/artifacts/${other}`)).status, 404)
  })

  it('needs a token where there are some', async (context) => {
    const token = 'a-token-of-16-characters'
    const { id, get } = await served(context, { tokens: { [token]: 'observe' } })
    assert.is((await get(`/agents/a1/artifacts/${id}`)).status, 401)
    const headers = { authorization: `Bearer ${token}` }
    assert.is((await get(`/agents/a1/artifacts/${id}`, { headers })).status, 200)
  })
})
