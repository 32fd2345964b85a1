import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { seenFrom } from '../../src/server/places.ts'
import type { ServeOptions } from '../../src/server/serveOptions.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { serveAgents } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'ok') })

describe('a server below a path', (it) => {
  it('has the bridge, its health and its charts there, and nothing elsewhere', async (context) => {
    const { server, runtime, connect } = await serveAgents(context, [echo], { base: '/agents/' })
    assert.match(server.url, /:\d+\/agents\/bridge$/)
    await connect().ready
    // As a person writes it.
    await connect({}, `http://127.0.0.1:${server.port}/agents`).ready
    await runtime.spawn(echo, { id: 'a1' })
    const statusOf = async (path: string): Promise<number> => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { redirect: 'manual' })
      await response.arrayBuffer()
      return response.status
    }
    assert.is(await statusOf('/agents/healthz'), 200)
    assert.is(await statusOf('/agents/bridge'), 426)
    assert.is(await statusOf('/agents/agents/a1/chart.json'), 200)
    for (const path of ['/', '/healthz', '/bridge', '/agents/a1/chart.json', '/agentsx', '/assets/index.js'])
      assert.is(await statusOf(path), 404, path)
    assert.ok([200, 503].includes(await statusOf('/agents/')), 'the page')
  })

  it('leads to its page where the last slash is missing, below whatever a proxy adds', async (context) => {
    const { server } = await serveAgents(context, [echo], { base: '/x/agents/' })
    const origin = `http://127.0.0.1:${server.port}`
    const response = await fetch(`${origin}/x/agents?a=1`, { redirect: 'manual' })
    assert.is(response.status, 308)
    const location = response.headers.get('location')!
    assert.is(new URL(location, `${origin}/x/agents?a=1`).pathname, '/x/agents/')
    assert.is(new URL(location, 'https://public.example/deep/x/agents').href, 'https://public.example/deep/x/agents/')
    const bare = await serveAgents(context, [echo], { base: '/x/agents/', inspector: false })
    assert.is((await fetch(`http://127.0.0.1:${bare.server.port}/x/agents`)).status, 404)
  })

  it('leaves other paths of an application’s own server alone', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const http = createServer((request, response) => {
      if (!bridge.handle(request, response)) response.end(`own ${request.url}`)
    })
    const bridge = await runtime.serve({ server: http, base: '/agents/', inspector: true })
    context.cleanup(() => http.close())
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    for (const path of ['/', '/healthz', '/agentsx', '/assets/app.js'])
      assert.is(await (await fetch(origin + path)).text(), `own ${path}`)
    assert.is(await (await fetch(`${origin}/agents/healthz`)).text(), 'ok\n')
    http.closeAllConnections()
  })

  it('is told where the bridge is, seen from the page', () => {
    assert.is(seenFrom('/', '/bridge'), 'bridge')
    assert.is(seenFrom('/', '/api/agents'), 'api/agents')
    assert.is(seenFrom('/agents/', '/agents/bridge'), 'bridge')
    assert.is(seenFrom('/agents/', '/bridge'), '../bridge')
    assert.is(seenFrom('/a/b/', '/c'), '../../c')
  })

  it('is given a path that a proxy can forward, and origins that a policy can name', async (context) => {
    const wrong: readonly Partial<ServeOptions>[] = [
      { base: 'agents/' },
      { base: '/agents' },
      { base: '/a/../b/' },
      { base: '//' },
      { base: '/a b/' },
      { base: '/a"><script>/' },
      { path: '/../bridge' },
      { base: '/agents/', path: '/agents/healthz' },
      { base: '/agents/', endpoints: [{ path: '/agents/healthz', connect: () => {} }] },
      { inspector: { frameAncestors: ['*'] } },
      { inspector: { frameAncestors: ['https://*.example'] } },
      { inspector: { frameAncestors: ['https://app.example/'] } },
      { inspector: { frameAncestors: ['https://app.example; script-src *'] } },
      { inspector: { frameAncestors: ['javascript:alert(1)'] } },
      { inspector: { frames: [] } as object },
    ]
    for (const options of wrong)
      await assert.rejects(serveAgents(context, [echo], options), withCode('INVALID_OPTION'), JSON.stringify(options))
    await serveAgents(context, [echo], { base: '/~me/v1.2/', path: '/healthz' })
  })
})
