import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { page, serveArtifact } from './artifactHarness.ts'

/** The same, and how to ask for it. */
async function served(context: CaseContext, options: object = {}) {
  const { artifact, origin, store } = await serveArtifact(context, options)
  const get = (path: string, init: RequestInit = {}): Promise<Response> => fetch(`${origin}${path}`, init)
  return { id: artifact.id, get, store }
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
