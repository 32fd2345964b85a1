import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { agentMachine } from '../../../../src/machines/agentMachine.ts'
import { chartDrawing } from '../../../charts/src/chartDrawing.ts'
import { hubExits } from '../../../charts/src/hubExits.ts'
import type { ServedChart } from '../../../charts/src/servedChart.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import type { ChartModel } from '../../../charts/src/chartModel.ts'
import type { Endpoint } from '../../src/server/endpoint.ts'
import type { Grant } from '../../src/server/roles.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { readPageFiles } from '../../src/page/pageFiles.ts'
import { storeFolder } from '../../../stores/test/storeFolder.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { serveAgents, type Serving } from './bridgeHarness.ts'

const echo = defineAgent({
  name: 'echo',
  braking: { revert: true },
  model: policyModel(({ messages }) => `${messages.length}`),
})

const get = (serving: Pick<Serving, 'server'>, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${serving.server.port}${path}`, init)

const hello: Endpoint = {
  path: '/hello',
  async answer(_, response, access) {
    response.end(
      `${access.may('spawn')} ${access.definitions.join()} ${access
        .agents()
        .map(({ id }) => id)
        .join()}`,
    )
  },
}

describe('charts of agents', (it) => {
  it('are there in every format, with the state of now and the brakes', { timeoutMs: 20_000 }, async (context) => {
    const serving = await serveAgents(context, [echo])
    await serving.runtime.spawn(echo, { id: 'a1' })
    const model = (await (await get(serving, '/agents/a1/chart.json')).json()) as ChartModel
    assert.equal(
      [model.active, model.brakes],
      [['idle'], { revert: true, prune: true, fold: false, stall: false, policies: false }],
    )
    assert.match(await (await get(serving, '/agents/a1/chart.mmd')).text(), /^stateDiagram-v2/m)
    const svg = await get(serving, '/agents/a1/chart.svg')
    assert.is(svg.headers.get('content-type'), 'image/svg+xml')
    assert.match(await svg.text(), /^<svg/)
    const overview = (await (await get(serving, '/agents/a1/chart.json?detail=overview')).json()) as ChartModel
    assert.is(overview.detail, 'overview')
    const laidOut = (await (await get(serving, '/agents/a1/chart.json?layout=full')).json()) as ServedChart
    assert.equal(
      laidOut.full!.boxes.filter(({ parent }) => parent !== undefined).map(({ id }) => id),
      hubExits(chartDrawing(model))
        .nodes.filter(({ parent }) => parent !== undefined)
        .map(({ id }) => id),
    )
    assert.ok(laidOut.overview!.boxes.some(({ id }) => id === 'replying'))
    const refused = await get(serving, '/agents/a1/chart.json?detail=some')
    assert.match(await refused.text(), 'detail must be overview or full')
    assert.is(refused.status, 400)
  })

  it('of an agent that does not run are those of its definition, read once, and it is not woken', async (context) => {
    const store = memoryStore()
    let readings = 0
    const read: typeof store.read = (...asked) => {
      readings += 1
      return store.read(...asked)
    }
    const serving = await serveAgents(context, [echo], { runtime: { store: { ...store, read } } })
    await (await serving.runtime.spawn(echo, { id: 'a1' })).close()
    readings = 0
    const model = (await (await get(serving, '/agents/a1/chart.json')).json()) as ChartModel
    assert.equal(model.active, [])
    assert.is(readings, 1)
    assert.is(serving.runtime.agent('a1'), undefined)
  })

  it('of an agent whose definition the server does not have are those of any agent', async (context) => {
    const serving = await serveAgents(context, [])
    await (await serving.runtime.spawn(echo, { id: 'a1' })).close()
    const model = (await (await get(serving, '/agents/a1/chart.json')).json()) as ChartModel
    assert.equal([model.id, model.brakes], [agentMachine.id, undefined])
  })

  it('of nobody, or out of reach, are refused with a code', async (context) => {
    const tokens = { 'some-token-0123456789': { role: 'observe', agents: ['mine'] } } as const
    const serving = await serveAgents(context, [echo], { tokens })
    for (const id of ['mine', 'other']) await serving.runtime.spawn(echo, { id })
    const headers = { authorization: 'Bearer some-token-0123456789' }
    const ask = async (path: string, init = {}): Promise<unknown[]> => {
      const response = await get(serving, path, init)
      const text = await response.text()
      return [response.status, text.startsWith('{') ? (JSON.parse(text) as { code: string }).code : text.trim()]
    }
    assert.equal(await ask('/agents/mine/chart.json'), [401, 'The token is missing or wrong.'])
    const own = await get(serving, '/agents/mine/chart.json', { headers })
    await own.text()
    assert.is(own.status, 200)
    assert.equal(await ask('/agents/other/chart.json', { headers }), [403, 'BRIDGE_FORBIDDEN'])
    assert.equal(await ask('/agents/nobody/chart.json', { headers }), [403, 'BRIDGE_FORBIDDEN'])
    assert.equal(await ask('/agents/mine/chart.png', { headers }), [404, 'not found'])
    const open = await serveAgents(context, [echo])
    const response = await get(open, '/agents/nobody/chart.json')
    assert.equal([response.status, ((await response.json()) as { code: string }).code], [404, 'AGENT_NOT_FOUND'])
    assert.is((await get(open, '/agents/%E0%A4%A/chart.json')).status, 400)
  })
})

describe('an endpoint', (it) => {
  it('gets those who were let in, and what they may do', async (context) => {
    const tokens = { 'some-token-0123456789': { role: 'drive', agents: ['a1'] } } as const
    const serving = await serveAgents(context, [echo], { tokens, endpoints: [hello] })
    for (const id of ['a1', 'a2']) await serving.runtime.spawn(echo, { id })
    const refused = await get(serving, '/hello')
    assert.equal([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer'])
    const response = await get(serving, '/hello', { headers: { authorization: 'Bearer some-token-0123456789' } })
    assert.is(await response.text(), 'false echo a1')
  })

  it('is open to pages of allowed origins, also for their first question, and to no other', async (context) => {
    const serving = await serveAgents(context, [echo], { endpoints: [hello], origins: ['https://app.example'] })
    const preflight = await get(serving, '/hello', { method: 'OPTIONS', headers: { origin: 'https://app.example' } })
    assert.equal([preflight.status, preflight.headers.get('access-control-allow-origin')], [204, 'https://app.example'])
    const foreign = await get(serving, '/hello', { headers: { origin: 'https://evil.example' } })
    assert.equal([foreign.status, foreign.headers.get('access-control-allow-origin')], [403, null])
  })

  it('answers below its path too if it says so, unless another has that very path', async (context) => {
    const tells = (path: string, below?: true): Endpoint => ({
      path,
      ...(below === undefined ? {} : { below }),
      answer: (_, response) => void response.end(path),
    })
    const endpoints = [tells('/a', true), tells('/a/b', true), tells('/a/c'), tells('/d')]
    const serving = await serveAgents(context, [echo], { endpoints })
    const answers = await Promise.all(
      ['/a', '/a/x', '/a/b/y', '/a/bc', '/a/c', '/a/c/z', '/d'].map(async (path) => (await get(serving, path)).text()),
    )
    assert.equal(answers, ['/a', '/a', '/a/b', '/a', '/a/c', '/a', '/d'])
    const unknown = await Promise.all(['/ab', '/d/x'].map(async (path) => (await get(serving, path)).status))
    assert.equal(unknown, [404, 404])
  })

  it('that throws is answered for, and harms nobody', async (context) => {
    const broken: Endpoint = {
      path: '/broken',
      answer() {
        throw new Error('oh no')
      },
    }
    const talks: Endpoint = { path: '/talks', connect: (socket) => socket.close(1000, 'bye') }
    const serving = await serveAgents(context, [echo], { endpoints: [broken, talks] })
    const response = await get(serving, '/broken')
    assert.equal([response.status, await response.text()], [500, 'oh no\n'])
    const statuses = ['/talks', '/bridge', '/healthz'].map(async (path) => (await get(serving, path)).status)
    assert.equal(await Promise.all(statuses), [426, 426, 200])
  })

  it('has a path of its own', async (context) => {
    for (const endpoints of [
      [{ ...hello, path: '/bridge' }],
      [hello, hello],
      [{ ...hello, path: 'hello' }],
      [{ path: '/x' }],
    ]) {
      await assert.rejects(serveAgents(context, [echo], { endpoints }), /endpoints/)
    }
  })
})

describe('the inspector page', (it) => {
  it('is read from where it was built, by path', async (context) => {
    const { dir } = await storeFolder(context)
    assert.is((await readPageFiles(join(dir, 'nothing'))).size, 0)
    await mkdir(join(dir, 'assets'))
    await writeFile(join(dir, 'index.html'), '<p>')
    await writeFile(join(dir, 'assets', 'x-12345678.js'), '1')
    await writeFile(join(dir, 'x.secret'), '')
    const files = await readPageFiles(dir)
    assert.equal([...files.keys()].toSorted(), ['/', '/assets/x-12345678.js'])
    assert.equal([files.get('/')!.isLasting, files.get('/assets/x-12345678.js')!.isLasting], [false, true])
  })

  it('is served with a policy that lets in nothing from elsewhere', async (context) => {
    const serving = await serveAgents(context, [echo])
    const response = await get(serving, '/')
    const text = await response.text()
    // A clone in which it was not built says so.
    if (response.status === 503) return assert.match(text, /npm run build:page/)
    const policy = response.headers.get('content-security-policy')!
    assert.match(policy, "default-src 'none'")
    assert.match(policy, `connect-src 'self' ws://127.0.0.1:${serving.server.port}`)
    assert.not.match(policy, 'unsafe')
    assert.not.match(text, /<script>|style=|https?:\/\//)
  })

  it('can be left out, and is on a server of the application’s own', async (context) => {
    const without = await serveAgents(context, [echo], { inspector: false })
    assert.is((await get(without, '/')).status, 404)
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const server = createServer((request, response) => {
      if (!bridge.handle(request, response)) response.end('mine')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    context.cleanup(() => void server.close())
    const bridge = await runtime.serve({ server, endpoints: [hello] })
    const { port } = server.address() as AddressInfo
    const ask = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
    assert.equal([await ask('/'), await ask('/hello'), await ask('/healthz')], ['mine', 'true  ', 'ok\n'])
  })
})

describe('every answer to a browser', (it) => {
  it('is taken for what it is, and given to no page of another site', async (context) => {
    const serving = await serveAgents(context, [echo], { endpoints: [hello] })
    await serving.runtime.spawn(echo, { id: 'a1' })
    const paths = [
      '/',
      '/healthz',
      '/bridge',
      '/nothing',
      '/hello',
      '/agents/a1/chart.json',
      '/agents/nobody/chart.svg',
    ]
    for (const path of [...paths, `/agents/a1/artifacts/${'0'.repeat(64)}`]) {
      const response = await get(serving, path)
      await response.arrayBuffer()
      const { headers } = response
      assert.is(headers.get('x-content-type-options'), 'nosniff', path)
      assert.is(headers.get('cross-origin-resource-policy'), 'same-origin', path)
    }
  })

  it('is a refusal where a page of another site has it asked for, unless there are tokens', async (context) => {
    const tokens = { 'the-token-of-an-admin': 'admin' } as const
    const open = await serveAgents(context, [echo], { endpoints: [hello] })
    const guarded = await serveAgents(context, [echo], { endpoints: [hello], tokens })
    await open.runtime.spawn(echo, { id: 'a1' })
    const authorization = 'Bearer the-token-of-an-admin'
    for (const path of ['/hello', '/agents/a1/chart.svg', `/agents/a1/artifacts/${'0'.repeat(64)}`])
      for (const site of ['cross-site', 'same-site', 'same-origin', 'none']) {
        const refused = await get(open, path, { headers: { 'sec-fetch-site': site } })
        await refused.arrayBuffer()
        assert.is(refused.status === 403, site.endsWith('-site'), `${path} ${site}`)
        const allowed = await get(guarded, path, { headers: { 'sec-fetch-site': site, authorization } })
        await allowed.arrayBuffer()
        assert.is.not(allowed.status, 403)
      }
  })

  it('is a refusal where a page of another site has it asked for with the cookies of a user, but for a link that they follow', async (context) => {
    const authenticate = ({ headers }: { headers: { cookie?: string | undefined } }): Grant | null =>
      headers.cookie === 'user=anna' ? { role: 'admin', owner: 'anna' } : null
    const served = await serveAgents(context, [echo], { endpoints: [hello], authenticate })
    await served.runtime.spawn(echo, { id: 'a1' })
    for (const path of ['/hello', '/agents/a1/chart.svg'])
      for (const site of ['cross-site', 'same-site', 'same-origin', 'none'])
        for (const dest of ['image', 'iframe', 'empty', 'document']) {
          const headers = { cookie: 'user=anna', 'sec-fetch-site': site, 'sec-fetch-dest': dest }
          const answer = await get(served, path, { headers })
          await answer.arrayBuffer()
          assert.is(answer.status === 403, site.endsWith('-site') && dest !== 'document', `${path} ${site} ${dest}`)
        }
  })
})
