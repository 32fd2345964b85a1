import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { Client } from '../../src/client/client.ts'
import { connect } from '../../src/client/connect.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import type { Grant } from '../../src/server/roles.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { startFleet } from '../../../cluster/test/gateway/fleet.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'Yes.') })

/** Two tenants who said the same word, and one of them another. */
const said: readonly (readonly [id: string, text: string, metadata: Metadata])[] = [
  ['a1', 'The kingfisher dives', { tenant: 't1' }],
  ['a2', 'A kingfisher waits', { tenant: 't2' }],
  ['a3', 'The heron waits', { tenant: 't1' }],
]

async function serving({ cleanup }: CaseContext, store = memoryStore()) {
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close())
  for (const [id, text, metadata] of said) {
    const agent = await runtime.spawn(echo, { id, metadata })
    await agent.prompt(text).result
  }
  /** A client that may see so much. */
  const client = async (grant: Grant): Promise<Client> => {
    const token = 'a-token-of-some-length'
    const server = await runtime.serve({ definitions: [echo], tokens: { [token]: grant } })
    const one = connect(server.url, { token })
    cleanup(() => one.close())
    return one
  }
  return { runtime, client }
}

const found = async (client: Client, text: string, options: { limit?: number; metadata?: Metadata } = {}) => {
  const { hits, sessions } = await client.search(text, options)
  const ids = hits.map(({ agentId }) => agentId).toSorted()
  assert.equal(sessions.map(({ agentId }) => agentId).toSorted(), [...new Set(ids)])
  return ids
}

describe('a client that looks for what was said', (it) => {
  it('finds the records that have all words, and the sessions that they are of', async (context) => {
    const { client } = await serving(context)
    const looking = await client({ role: 'observe' })
    const { hits, sessions } = await looking.search('dives KINGFISHER')
    assert.is(hits.length, 1)
    const [{ agentId, seq, excerpt }] = hits as [(typeof hits)[0]]
    assert.is(agentId, 'a1')
    assert.match(excerpt, /The kingfisher dives/)
    for await (const event of looking.agent('a1').events({ fromSeq: seq })) {
      assert.match(JSON.stringify(event), /The kingfisher dives/)
      break
    }
    assert.equal(
      sessions.map((session) => [session.agentId, session.title]),
      [['a1', 'The kingfisher dives']],
    )
    assert.equal(await found(looking, 'waits'), ['a2', 'a3'])
    assert.is((await found(looking, 'waits', { limit: 1 })).length, 1)
    assert.equal(await found(looking, 'waits', { metadata: { tenant: 't1' } }), ['a3'])
    for (const text of ['', ' ', '"', '* OR -', 'no such word', '\u0000']) assert.equal(await found(looking, text), [])
  })

  it('finds nothing of what it may not see', async (context) => {
    const { client } = await serving(context)
    const grants: readonly (readonly [Grant, readonly string[]])[] = [
      [{ role: 'observe', agents: ['a2'] }, ['a2']],
      [{ role: 'observe', metadata: { tenant: 't1' } }, ['a1']],
      [{ role: 'observe', agents: ({ metadata }) => metadata['tenant'] === 't2' }, ['a2']],
      [{ role: 'admin', agents: [] }, []],
    ]
    for (const [grant, ids] of grants) assert.equal(await found(await client(grant), 'kingfisher'), ids)
    const tenant = await client({ role: 'observe', metadata: { tenant: 't1' } })
    assert.equal(await found(tenant, 'kingfisher', { metadata: { tenant: 't2' } }), [])
    // The best may be of others.
    for (const [id, whose] of [
      ['a1', 't1'],
      ['a2', 't2'],
    ] as const)
      for (const grant of [
        { role: 'observe', agents: (agent: { readonly id: string }) => agent.id === id },
        { role: 'observe', agents: [id] },
        { role: 'observe', metadata: { tenant: whose } },
      ] as const)
        assert.equal(await found(await client(grant), 'kingfisher', { limit: 1 }), [id])
  })

  it('is told what is wrong with what it asks, or with the store, and may ask again', async (context) => {
    const inner = memoryStore()
    let isBroken = true
    const search: NonNullable<typeof inner.search> = async (query) => {
      if (isBroken) throw new RuntimeError('STORE_READ_FAILED', 'The index is gone.')
      return await inner.search!(query)
    }
    const { client } = await serving(context, Object.assign(Object.create(inner) as typeof inner, { search }))
    const looking = await client({ role: 'observe' })
    const codeOf = (asked: Promise<unknown>): Promise<unknown> =>
      asked.catch((thrown: unknown) => (thrown as RuntimeError).code)
    assert.is(await codeOf(looking.search('heron')), 'STORE_READ_FAILED')
    isBroken = false
    assert.equal(await found(looking, 'heron'), ['a3'])
    for (const asked of [looking.search('x'.repeat(1_001)), looking.search('heron', { limit: 101 })])
      assert.is(await codeOf(asked), 'BRIDGE_FRAME')
  })

  it('is answered by a gateway, from the store that its workers share', async (context) => {
    const fleet = await startFleet(context, [echo])
    const client = fleet.connect(await fleet.startGateway())
    for (const [id, text] of said) {
      const agent = await client.spawn('echo', { id })
      await agent.prompt(text).result
    }
    assert.equal(await found(client, 'kingfisher'), ['a1', 'a2'])
  })
})
