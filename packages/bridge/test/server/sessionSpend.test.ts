import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { spendOf } from '../../../sessions/src/spend/spendOf.ts'
import type { Client } from '../../src/client/client.ts'
import { connect } from '../../src/client/connect.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import type { Grant } from '../../src/server/roles.ts'
import { SpendIndex } from '../../src/server/spendIndex.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

const echo = defineAgent({
  name: 'echo',
  pricing: { input: 1_000, output: 1_000 },
  model: policyModel(() => 'Yes.'),
})

/** A store that notes from where logs are read. */
function noting<S extends Store>(inner: S, reads: (readonly [id: string, from: number])[]): S {
  return {
    ...inner,
    append: (id, records, epoch) => inner.append(id, records, epoch),
    open: (id, options) => inner.open(id, options),
    list: () => inner.list(),
    page: (query) => inner.page!(query),
    close: () => inner.close(),
    read(id, from = 1, limit) {
      if (limit === undefined) reads.push([id, from])
      return inner.read(id, from, limit)
    },
  }
}

async function serving({ cleanup }: CaseContext, store = memoryStore()) {
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close())
  for (const [id, tenant] of [
    ['a1', 't1'],
    ['a2', 't2'],
    ['a3', 't1'],
  ] as const)
    await (await runtime.spawn(echo, { id, metadata: { tenant, user: id } })).prompt('Hello').result
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

const keysOf = async (client: Client, options: Parameters<Client['spend']>[0] = {}) =>
  (await client.spend(options)).groups.map(({ key }) => key ?? '').toSorted()

describe('a client that asks what was spent', (it) => {
  it('is told by session, model or metadata, so many groups, and how many there are', async (context) => {
    const store = memoryStore()
    const { client } = await serving(context, store)
    const one = await client({ role: 'observe' })
    const all = await one.spend()
    assert.equal([all.groups.length, all.total, all.requests], [3, 3, 3])
    assert.is(all.costUsd, (await spendOf(store)).costUsd)
    assert.equal(await keysOf(one, { by: { metadata: 'tenant' } }), ['t1', 't2'])
    assert.equal(await keysOf(one, { by: 'user', metadata: { tenant: 't1' } }), ['a1', 'a3'])
    const { groups, total } = await one.spend({ limit: 1 })
    assert.equal([groups.length, total], [1, 3])
    const since = Date.now() - 3_600_000
    const hour = await one.spend({ by: 'definition', since, every: 300_000 })
    assert.equal(
      hour.groups[0]!.over!.reduce((sum, cost) => sum + cost, 0),
      all.costUsd,
    )
    const none = { agents: 0, tokens: 0 }
    assert.equal(all.saved, { ...none, usd: { low: 0, high: 0 }, unpriced: none })
    assert.is(hour.saved, undefined)
    assert.is((await one.spend({ since: Date.now() + 3_600_000 })).requests, 0)
    await assert.rejects(() => one.spend({ every: 300_000 }), /every: give milliseconds above 0, and since/)
    await assert.rejects(() => one.spend({ by: { metadata: '' } }), /INVALID|key/)
  })

  it('is told of what it may see alone, and of nothing without the right to see all', async (context) => {
    const { client } = await serving(context)
    const grants: readonly (readonly [Grant, readonly string[]])[] = [
      [{ role: 'observe', agents: ['a2'] }, ['a2']],
      [{ role: 'observe', metadata: { tenant: 't1' } }, ['a1', 'a3']],
      [{ role: 'observe', agents: ({ metadata }) => metadata['tenant'] === 't2' }, ['a2']],
      [{ role: 'admin', agents: [] }, []],
    ]
    for (const [grant, ids] of grants) assert.equal(await keysOf(await client(grant)), ids)
    const tenant = await client({ role: 'observe', metadata: { tenant: 't1' } })
    assert.equal(await keysOf(tenant, { metadata: { tenant: 't2' } }), [])
    const talker = await client({ role: 'talk' })
    await assert.rejects(() => talker.spend(), /see\.all/)
  })

  it('makes the server read only what is new', async (context) => {
    const reads: (readonly [id: string, from: number])[] = []
    const store = noting(memoryStore(), reads)
    const { runtime } = await serving(context, store)
    const index = new SpendIndex(store)
    const sum = (since = 0) => index.sum({ query: {}, choose: undefined }, { since })
    reads.length = 0
    const { requests } = await sum()
    assert.equal(reads.map(([id]) => id).toSorted(), ['a1', 'a2', 'a3'])
    reads.length = 0
    assert.is((await sum()).requests, requests)
    assert.is((await sum(1)).requests, requests)
    assert.equal(reads, [])
    await runtime.agent('a2')!.prompt('Once more').result
    await runtime.agent('a2')!.durable()
    reads.length = 0
    assert.is((await sum()).requests, requests + 1)
    assert.equal(
      reads.map(([id, from]) => [id, from > 1]),
      [['a2', true]],
    )
    assert.is((await sum()).costUsd, (await spendOf(store)).costUsd)
  })
})
