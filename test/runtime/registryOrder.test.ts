import type { AgentHost } from '../../src/runtime/agents/agentHost.ts'
import { Registry } from '../../src/runtime/registry.ts'
import { assert, describe } from '../support/suite.ts'

/** The host of an agent, as far as a registry looks at it. */
const hostOf = (agentId: string, more: object = {}): AgentHost => ({ agentId, ...more }) as unknown as AgentHost

function registryOf(...hosts: readonly AgentHost[]) {
  const registry = new Registry({} as never)
  for (const host of hosts) registry.add(host)
  const ids = (): string[] => registry.roots().map(({ id }) => id)
  const after = (agentId: string): string[] => registry.roots({ page: { after: agentId } }).map(({ id }) => id)
  return { registry, ids, after }
}

describe('the roots of a registry', (it) => {
  for (const place of [0, 1, 2])
    it(`are without one that was removed, and that comes last when it is added again: at ${place}`, () => {
      const hosts = ['a', 'b', 'c'].map((id) => hostOf(id))
      const { registry, ids, after } = registryOf(...hosts)
      const removed = hosts[place]!
      for (let times = 0; times < 2; times += 1) registry.remove(removed)
      const others = ['a', 'b', 'c'].filter((id) => id !== removed.agentId)
      assert.equal([ids(), after(others[0]!)], [others, others.slice(1)])
      assert.throws(() => after(removed.agentId), /is none of the agents without a parent/)
      assert.is(registry.get(removed.agentId), undefined)
      registry.add(removed)
      assert.equal(
        [ids(), after(others[1]!), after(removed.agentId)],
        [[...others, removed.agentId], [removed.agentId], []],
      )
    })

  for (const place of [0, 1, 2])
    it(`have one that takes the place of another under its id once, and last: at ${place}`, () => {
      const hosts = ['a', 'b', 'c'].map((id) => hostOf(id))
      const { registry, ids } = registryOf(...hosts)
      const [old, next] = [hosts[place]!, hostOf(hosts[place]!.agentId)]
      registry.add(next)
      const others = ['a', 'b', 'c'].filter((id) => id !== old.agentId)
      assert.equal(ids(), [...others, old.agentId])
      // The one before is let go of only now.
      registry.remove(old)
      assert.equal([ids(), registry.host(old.agentId) === next], [[...others, old.agentId], true])
      registry.add(next)
      assert.is(ids().length, 3)
      registry.remove(next)
      assert.equal(ids(), others)
    })

  it('have neither children nor incognito agents, which are there all the same', () => {
    const [root, child, hidden] = [hostOf('a'), hostOf('b', { parent: {} }), hostOf('c', { incognito: true })]
    const { registry, ids, after } = registryOf(root, child, hidden)
    assert.equal([ids(), registry.everyRoot().map(({ id }) => id)], [['a'], ['a', 'c']])
    for (const { agentId } of [child, hidden]) assert.throws(() => after(agentId), /is none of the agents/)
    for (const host of [child, hidden]) registry.remove(host)
    assert.equal([ids(), registry.get('b'), registry.get('c')], [['a'], undefined, undefined])
  })
})
