import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { AgentDirectory, type Viewer } from '../../src/server/agentDirectory.ts'
import { Announcing } from '../../src/server/announcing.ts'

const turns = async (): Promise<void> => {
  for (let n = 0; n < 10; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A directory whose agents are spawned and woken when the case says so. */
async function held() {
  const store = memoryStore()
  await store.open('a')
  const created = { v: 3, seq: 1, time: 0, type: 'agent.created', agentId: 'a', definition: 'worker', path: [] }
  await store.append('a', [created] as never)
  const asked: (PromiseWithResolvers<unknown> & { readonly what: string })[] = []
  const agents = new Map<string, { readonly id: string; readonly path: readonly string[] }>()
  const ask = async (what: string, id: string): Promise<unknown> => {
    // It is in the list before it is ready.
    agents.set(id, { id, path: [] })
    const one = { ...Promise.withResolvers<unknown>(), what }
    asked.push(one)
    await one.promise
    return agents.get(id)
  }
  const runtime = {
    agent: (id: string) => agents.get(id),
    spawn: (_: unknown, { id }: { readonly id: string }) => ask(`spawn ${id}`, id),
    resume: (id: string) => ask(`resume ${id}`, id),
  }
  const definitions = new Map([['worker', { name: 'worker' }]]) as never
  const directory = new AgentDirectory(runtime as never, store, { definitions })
  const viewer: Viewer = {
    reach: () => true,
    check: () => {},
    checkAdmitted: () => {},
    find: (id) => agents.get(id) as Agent | undefined,
    isHidden: () => false,
  }
  return { directory, viewer, asked, agents, whats: () => asked.map(({ what }) => what) }
}

describe('the agents of a server', (it) => {
  it('are spawned one after the other under one id, however many want it, and others are not kept waiting', async () => {
    const { directory, viewer, asked, whats } = await held()
    const three = [1, 2, 3].map(() => directory.spawn('worker', { id: 'x' }, viewer))
    const other = directory.spawn('worker', { id: 'y' }, viewer)
    await turns()
    assert.equal(whats(), ['spawn x', 'spawn y'])
    asked[1]!.resolve(undefined)
    await other
    asked[0]!.reject(new Error('no'))
    await assert.rejects(three[0]!, /no/)
    for (let n = 2; n < 4; n += 1) {
      await turns()
      assert.is(asked.length, n + 1)
      asked[n]!.resolve(undefined)
    }
    await Promise.all(three.slice(1))
  })

  it('are woken once for all who ask meanwhile, who have them when they are ready', async () => {
    const { directory, viewer, asked, whats } = await held()
    const found: string[] = []
    const ask = (): Promise<unknown> => directory.agent('a', viewer).then(({ id }) => found.push(id))
    const first = ask()
    await turns()
    const second = ask()
    await turns()
    assert.equal([whats(), found], [['resume a'], []])
    asked[0]!.resolve(undefined)
    await Promise.all([first, second])
    assert.equal(found, ['a', 'a'])
  })

  it('that cannot be woken may be asked for again', async () => {
    const { directory, viewer, asked, agents, whats } = await held()
    for (const [n, text] of ['no', 'not yet'].entries()) {
      const asking = directory.agent('a', viewer)
      await turns()
      asked[n]!.reject(new Error(text))
      agents.clear()
      await assert.rejects(asking, new RegExp(text))
    }
    assert.equal(whats(), ['resume a', 'resume a'])
  })
})

describe('what servers on one store announce', (it) => {
  it('is the address of the newest that is left, each said and taken back once', async () => {
    const said: (string | undefined)[] = []
    const store = { ...memoryStore(), announce: async (url: string | undefined) => void said.push(url) }
    const servers = [1, 2, 3].map(() => new Announcing(store, undefined, () => assert.unreachable()))
    const [first, second, third] = servers as [Announcing, Announcing, Announcing]
    await first.at('ws://one')
    await first.at('ws://one')
    await second.at('ws://two')
    // Another one at the address of the first.
    await third.at('ws://one')
    assert.equal(said, ['ws://one', 'ws://two', 'ws://one'])
    await third.end()
    await third.end()
    assert.equal(said.slice(3), ['ws://two'])
    await second.end()
    await second.end()
    assert.equal(said.slice(4), ['ws://one'])
    await first.end()
    assert.equal(said.slice(5), [undefined])
  })
})
