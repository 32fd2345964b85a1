import type { Client } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import type { Runtime } from '../../../bridge/src/createRuntime.ts'
import { lastingStore } from '../../../bridge/test/server/bridgeHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { call, openHost, ways, type Way } from './mcpHarness.ts'

const Plan = z.object({ title: z.string(), secret: z.string().optional() })

const rename = defineTool({
  name: 'rename',
  description: 'Renames the plan.',
  input: z.object({ title: z.string() }),
  run: ({ title }, { state }) => {
    state.of(Plan).set({ title })
    return 'ok'
  },
})

const planner = defineAgent({
  name: 'planner',
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'rename', input: { title: 'Move house' } }] } : 'Done.',
  ),
  tools: [rename],
  state: { schema: Plan, initial: { title: '' } },
})
const plain = defineAgent({ name: 'plain', model: policyModel(() => 'ok') })

const stateIn = async (client: Client, uri: string): Promise<{ version: number; state: unknown; session: string }> => {
  const [content] = (await client.readResource({ uri })).contents
  assert.is(content?.mimeType, 'application/json')
  return JSON.parse((content as { text: string }).text)
}

/** Addresses that the client is told of, and a promise for the next one. */
function heardBy(client: Client) {
  const uris: string[] = []
  let next = Promise.withResolvers<void>()
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    uris.push(params.uri)
    next.resolve()
    next = Promise.withResolvers()
  })
  return { uris, next: () => next.promise }
}

/** Asks to be told of changes, as the client's version of the protocol does; returns what ends it. */
async function follow(client: Client, way: Way, uri: string): Promise<() => Promise<unknown>> {
  if (way.endsWith('modern')) {
    const subscription = await client.listen({ resourceSubscriptions: [uri] })
    return () => subscription.close()
  }
  await client.subscribeResource({ uri })
  return () => client.unsubscribeResource({ uri })
}

const retitle = (runtime: Runtime, id: string, title: string): Promise<unknown> =>
  runtime.agent(id)!.updateState((draft) => ({ ...(draft as object), title }))

describe('the state of an agent, over MCP', (it) => {
  for (const way of ways)
    it(`is a resource that is read and followed (${way})`, async (context) => {
      const { connect, runtime } = await openHost(context, [planner, plain])
      const client = await connect(way)
      assert.ok(client.getServerCapabilities()?.resources?.subscribe)
      const { session } = await call(client, 'planner', { task: 'plan' })
      const uri = `state://${session}`
      const { resources } = await client.listResources()
      assert.equal(
        resources.map((one) => one.uri),
        [uri],
      )
      const { resourceTemplates } = await client.listResourceTemplates()
      assert.equal(
        resourceTemplates.map(({ uriTemplate }) => uriTemplate),
        ['state://{session}'],
      )
      const first = await stateIn(client, uri)
      assert.equal(first, { version: runtime.agent(session)!.stateVersion, state: { title: 'Move house' }, session })
      const heard = heardBy(client)
      const end = await follow(client, way, uri)
      const told = heard.next()
      await retitle(runtime, session, 'Paint walls')
      await told
      assert.equal(heard.uris, [uri])
      assert.equal((await stateIn(client, uri)).state, { title: 'Paint walls' })
      await end()
      await retitle(runtime, session, 'Sell house')
      assert.equal((await stateIn(client, uri)).state, { title: 'Sell house' })
      assert.is(heard.uris.length, 1)
    })

  it('of an agent at rest is read without waking it', async (context) => {
    const store = lastingStore()
    const first = await openHost(context, [planner], { store })
    const agent = await first.runtime.spawn(planner, { id: 'p' })
    await agent.updateState(() => ({ title: 'Move house' }))
    await first.runtime.close()
    const { connect, runtime } = await openHost(context, [planner], { store })
    const client = await connect('HTTP, modern')
    assert.equal((await stateIn(client, 'state://p')).state, { title: 'Move house' })
    assert.is(runtime.agent('p'), undefined)
    const heard = heardBy(client)
    await client.listen({ resourceSubscriptions: ['state://p'] })
    const told = heard.next()
    await runtime.open('p', planner)
    await retitle(runtime, 'p', 'Paint walls')
    await told
    assert.equal(heard.uris, ['state://p'])
  })

  it('begins as the definition says', async (context) => {
    const { connect, runtime } = await openHost(context, [planner])
    await runtime.spawn(planner, { id: 'p' })
    const client = await connect('HTTP, legacy')
    assert.equal(await stateIn(client, 'state://p'), { version: 0, state: { title: '' }, session: 'p' })
  })

  for (const way of ways)
    it(`is refused in words for an address that has none (${way})`, async (context) => {
      const { connect, runtime } = await openHost(context, [planner, plain])
      await runtime.spawn(plain, { id: 'none' })
      await runtime.spawn(defineAgent({ name: 'other', model: policyModel(() => '') }), { id: 'other' })
      const client = await connect(way)
      const cases = [
        ['state://none', /STATE_OFF/],
        ['state://other', /is no tool here.*INVALID_OPTION/],
        ['state://nobody', /AGENT_NOT_FOUND/],
        ['state://../../etc/passwd', /INVALID_OPTION/],
        ['state://%E0%A4%A', /INVALID_OPTION/],
        ['file:///etc/passwd', /INVALID_OPTION/],
        [`state://${'x'.repeat(10_000)}`, /INVALID_OPTION/],
      ] as const
      for (const [uri, message] of cases) {
        await assert.rejects(client.readResource({ uri }), message)
        await assert.rejects(follow(client, way, uri), message)
      }
    })

  it('is for clients that see everything, within their reach', async (context) => {
    const tokens = {
      'all-of-sixteen-characters': { role: 'admin' },
      'talk-of-sixteen-characters': { role: 'talk' },
      'own-of-sixteen-characters': { role: 'admin', agents: ['mine'] },
    } as const
    const { connect, runtime } = await openHost(context, [planner], { serve: { tokens } })
    await runtime.spawn(planner, { id: 'p' })
    for (const way of ['HTTP, legacy', 'HTTP, modern'] as const) {
      const talking = await connect(way, { token: 'talk-of-sixteen-characters' })
      assert.equal((await talking.listResources()).resources, [])
      assert.equal((await talking.listResourceTemplates()).resourceTemplates, [])
      await assert.rejects(talking.readResource({ uri: 'state://p' }), /BRIDGE_FORBIDDEN/)
      await assert.rejects(follow(talking, way, 'state://p'), /BRIDGE_FORBIDDEN/)
      const own = await connect(way, { token: 'own-of-sixteen-characters' })
      assert.equal((await own.listResources()).resources, [])
      await assert.rejects(own.readResource({ uri: 'state://p' }), /BRIDGE_FORBIDDEN/)
      await assert.rejects(follow(own, way, 'state://p'), /BRIDGE_FORBIDDEN/)
      const all = await connect(way, { token: 'all-of-sixteen-characters' })
      assert.is((await all.listResources()).resources.length, 1)
    }
  })

  it('is followed for a hundred sessions of a client, and no more', async (context) => {
    const { connect, runtime } = await openHost(context, [planner])
    const uris = Array.from({ length: 101 }, (_, n) => `state://p${n}`)
    for (let n = 0; n <= 100; n += 1) await runtime.spawn(planner, { id: `p${n}` })
    const legacy = await connect('HTTP, legacy')
    for (const uri of uris.slice(0, 100)) await legacy.subscribeResource({ uri })
    await assert.rejects(legacy.subscribeResource({ uri: uris[100]! }), /100 states at most/)
    await legacy.subscribeResource({ uri: uris[0]! })
    const modern = await connect('HTTP, modern')
    await assert.rejects(modern.listen({ resourceSubscriptions: uris }), /100 states at most/)
    assert.is((await modern.listResources()).resources.length, 100)
  })

  it('is not offered where no agent has any', async (context) => {
    const { connect } = await openHost(context, [plain])
    for (const way of ways) assert.is((await connect(way)).getServerCapabilities()?.resources, undefined)
  })
})
