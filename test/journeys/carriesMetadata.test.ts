import { createRuntime, defineAgent, memoryStore, type Agent, type Metadata } from '../../src/index.ts'
import { forkSession, listSessions } from '../../src/sessions.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { failsWith } from '../../packages/stores/test/storeFolder.ts'
import { assert, describe } from '../support/suite.ts'
import { sharedStore } from '../support/sharedStore.ts'

const helper = defineAgent({ name: 'helper', model: scriptedModel(['helped', 'helped']), description: 'Helps.' })
const support = defineAgent({
  name: 'support',
  model: scriptedModel([{ toolCalls: [{ name: 'helper', input: { task: 'help' } }] }, 'done']),
  agents: [helper],
})

const ids = (agents: readonly { readonly id: string }[]): string[] => agents.map(({ id }) => id).toSorted()

describe('metadata of agents', (it) => {
  it('is what lists of agents and of sessions are searched by', async ({ cleanup }) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    const metadata = { userId: 'u1', plan: 2, trial: true }
    await runtime.spawn(support, { id: 'a', metadata })
    await runtime.spawn(support, { id: 'b', metadata: { userId: 'u2' } })
    await runtime.open('c', support, { metadata: { userId: 'u1' } })
    await runtime.spawn(support, { id: 'd' })
    assert.equal(runtime.agent('a')?.metadata, metadata)
    assert.equal(ids(runtime.agents({ metadata: { userId: 'u1' } })), ['a', 'c'])
    assert.equal(ids(runtime.agents({ metadata: { userId: 'u1', plan: 2 } })), ['a'])
    assert.equal(ids(runtime.agents({ metadata: { plan: '2' } })), [])
    assert.equal(ids(runtime.agents({ metadata: { userId: 'u1' }, page: { after: 'a' } })), ['c'])
    assert.equal(ids(runtime.agents()), ['a', 'b', 'c', 'd'])
    assert.equal(ids(await listSessions(store, { metadata: { userId: 'u1' } })), ['a', 'c'])
    assert.equal((await listSessions(store)).find(({ id }) => id === 'a')?.metadata, metadata)
  })

  it('survives a restart, and is that of forks and sub-agents too', async () => {
    const store = memoryStore()
    const metadata = { userId: 'u1' }
    const first = await createRuntime({ store: sharedStore(store) })
    const agent = await first.spawn(support, { id: 'a', metadata })
    const seen: (Metadata | undefined)[] = []
    first.onAgent((child: Agent) => seen.push(child.metadata))
    await agent.prompt('go').result
    const child = await agent.spawn(helper, { id: 'beside' })
    assert.equal(child.metadata, metadata)
    assert.equal(seen, [metadata, metadata])
    await first.close()
    const second = await createRuntime({ store: sharedStore(store) })
    await forkSession(store, 'a', 'n1', { id: 'f' })
    assert.equal((await second.resume('f', support)).metadata, metadata)
    const refused = (userId: string) =>
      assert.rejects(second.open('a', support, { metadata: { userId } }), failsWith('AGENT_EXISTS', 'other metadata'))
    await refused('u2')
    assert.is(second.agent('a'), undefined)
    assert.equal((await second.open('a', support, { metadata })).metadata, metadata)
    await refused('u2')
    assert.equal(ids(await listSessions(store, { metadata })), ['a', 'a.1', 'beside', 'f'])
    await second.close()
  })

  it('is as secret as the application wants it', async ({ cleanup }) => {
    const runtime = await createRuntime({ redact: { secrets: { NAME: 'Adelheid-von-Kalb' } } })
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(support, { metadata: { name: 'Adelheid-von-Kalb' } })
    assert.not.ok(JSON.stringify(agent.metadata).includes('Kalb'))
  })
})

const wrong: readonly [string, unknown, string][] = [
  ['nested', { a: { b: 1 } }, 'metadata.a: give a string, a number or a boolean'],
  ['without a value', { a: null }, 'metadata.a'],
  ['with an odd key', { 'a b': 1 }, 'a key has 1 to 64 letters'],
  ['too large', { a: 'x'.repeat(4_096) }, 'give at most 4096 characters as JSON'],
  ['of too many keys', Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`k${n}`, n])), 'give at most 32 keys'],
  ['no object', 'u1', 'metadata'],
]

describe('metadata that cannot be kept', (it) => {
  for (const [title, metadata, says] of wrong)
    it(`is refused: ${title}`, async ({ cleanup }) => {
      const runtime = await createRuntime()
      cleanup(() => runtime.close())
      const given = metadata as Metadata
      await assert.rejects(runtime.spawn(support, { metadata: given }), failsWith('INVALID_OPTION', says))
      assert.throws(() => runtime.agents({ metadata: given }), failsWith('INVALID_OPTION'))
      await assert.rejects(listSessions(memoryStore(), { metadata: given }), failsWith('INVALID_OPTION'))
    })
})
