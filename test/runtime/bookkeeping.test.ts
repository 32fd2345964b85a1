import { RuntimeError } from '../../src/protocol/errors.ts'
import type { Spent } from '../../src/protocol/records.ts'
import type { AgentHost } from '../../src/runtime/agents/agentHost.ts'
import type { Agent, AgentOwner } from '../../src/runtime/agents/agent.ts'
import { hostOf } from '../../src/runtime/agents/agentFacts.ts'
import { Family } from '../../src/runtime/agents/family.ts'
import type { Life } from '../../src/runtime/children/child.ts'
import type { ChildHosts } from '../../src/runtime/children/childHosts.ts'
import type { TreeAgent, TreeTotals } from '../../src/runtime/children/treeAgent.ts'
import { Hosts } from '../../src/runtime/agents/hosts.ts'
import { Registry } from '../../src/runtime/registry.ts'
import { usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

/** A registry that is kept in the plainest way. */
class PlainRegistry {
  readonly all = new Map<string, { readonly host: AgentHost; agent: Agent | undefined }>()
  order: string[] = []

  add(host: AgentHost): boolean {
    if (this.all.get(host.agentId)?.host === host) return false
    this.order = this.order.filter((id) => id !== host.agentId)
    this.all.set(host.agentId, { host, agent: undefined })
    if (host.parent === undefined && !host.incognito) this.order.push(host.agentId)
    return true
  }

  remove(host: AgentHost): void {
    if (this.all.get(host.agentId)?.host !== host) return
    this.all.delete(host.agentId)
    this.order = this.order.filter((id) => id !== host.agentId)
  }
}

const kinds = { root: {}, child: { parent: {} }, hidden: { incognito: true } } as const
const hostOfKind = (agentId: string, kind: keyof typeof kinds): AgentHost =>
  ({
    agentId,
    isLoaded: true,
    parent: undefined,
    incognito: undefined,
    metadata: {},
    ...kinds[kind],
  }) as unknown as AgentHost

type Op = (registry: Registry, plain: PlainRegistry, heard: string[]) => void

const opsOf = (id: string): Op[] => [
  ...(['root', 'child', 'hidden'] as const).map((kind): Op => (registry, plain, heard) => {
    const host = hostOfKind(id, kind)
    const before = heard.length
    const earlier = registry.get(id)
    plain.add(host)
    registry.add(host)
    assert.is(heard.length - before, 1)
    const known = plain.all.get(id)!
    known.agent = registry.get(id)
    assert.is.not(known.agent, earlier)
    assert.is(hostOf(known.agent!), host)
  }),
  (registry, plain, heard) => {
    const known = plain.all.get(id)
    if (known === undefined) return
    const before = heard.length
    // It was unloaded, and is here again.
    for (const isLoaded of [false, true]) {
      Object.assign(known.host, { isLoaded })
      assert.is(plain.add(known.host), false)
      registry.add(known.host)
    }
    assert.is(heard.length, before)
  },
  (registry, plain) => {
    const known = plain.all.get(id)
    registry.remove(hostOfKind(id, 'root'))
    assert.is(registry.get(id), known?.agent)
    if (known === undefined) return
    registry.remove(known.host)
    plain.remove(known.host)
  },
]

describe('the book of the agents of a runtime', (it) => {
  it('says what a plain one says, in every order of up to four changes', () => {
    const ops = [...opsOf('a'), ...opsOf('b')]
    const look = (registry: Registry, plain: PlainRegistry): void => {
      const ids = (agents: readonly Agent[]): string[] => agents.map(({ id }) => id)
      assert.equal(ids(registry.roots()), plain.order)
      for (const [index, after] of plain.order.entries()) {
        assert.equal(ids(registry.roots({ page: { after } })), plain.order.slice(index + 1))
        assert.equal(ids(registry.roots({ page: { after, limit: 1 } })), plain.order.slice(index + 1, index + 2))
      }
      const hidden = [...plain.all.values()].filter(({ host }) => host.incognito)
      assert.equal(ids(registry.everyRoot()), [...plain.order, ...hidden.map(({ host }) => host.agentId)])
      for (const id of ['a', 'b']) {
        assert.is(registry.host(id), plain.all.get(id)?.host)
        assert.is(registry.get(id), plain.all.get(id)?.agent)
        if (plain.order.includes(id)) continue
        assert.throws(() => registry.roots({ page: { after: id } }), /none of the agents without a parent/)
      }
    }
    for (let number = 0; number < ops.length ** 4; number += 1) {
      const registry = new Registry({} as AgentOwner<Agent>)
      const plain = new PlainRegistry()
      const heard: string[] = []
      registry.onAgent(({ id }) => heard.push(id))
      for (let rest = number, step = 0; step < 4; step += 1, rest = Math.floor(rest / ops.length))
        ops[rest % ops.length]!(registry, plain, heard)
      look(registry, plain)
    }
  })
})

interface FakeHost {
  readonly host: AgentHost
  readonly done: PromiseWithResolvers<void>
  releases: number
}

function fakeHost(agentId: string, store: object): FakeHost {
  const done = Promise.withResolvers<void>()
  const fake: FakeHost = {
    done,
    releases: 0,
    host: {
      agentId,
      store,
      release() {
        fake.releases += 1
        return done.promise
      },
    } as unknown as AgentHost,
  }
  return fake
}

describe('the hosts of a runtime', (it) => {
  const hosts = () => {
    const left: AgentHost[] = []
    return { hosts: new Hosts((host) => left.push(host)), left }
  }
  const [one, other] = [{}, {}]
  const isRunning = (thrown: unknown): boolean => thrown instanceof RuntimeError && thrown.code === 'AGENT_EXISTS'

  it('are one for each id, and another of it in the same store alone', () => {
    const { hosts: all } = hosts()
    const first = fakeHost('a', one)
    all.checkFree('a')
    all.add(first.host)
    assert.throws(() => all.checkFree('a'), isRunning)
    all.checkFree('b')
    assert.throws(() => all.add(fakeHost('a', other).host), isRunning)
    assert.is(all.get('a'), first.host)
    const second = fakeHost('a', one)
    all.add(second.host)
    assert.is(all.get('a'), second.host)
  })

  it('are released once, are found until then, and leave the place of another as it is', async () => {
    for (const isReplaced of [false, true])
      for (const fails of [false, true]) {
        const { hosts: all, left } = hosts()
        const first = fakeHost('a', one)
        all.add(first.host)
        await all.released('a')
        const why = new Error('the disk is full')
        const releases = [all.release(first.host), all.release(first.host)].map((each) =>
          each.catch((thrown: unknown) => thrown),
        )
        let isFree = false
        const freed = all.released('a').then(() => (isFree = true))
        const second = fakeHost('a', one)
        if (isReplaced) all.add(second.host)
        const late = all.release(first.host).catch((thrown: unknown) => thrown)
        await new Promise(setImmediate)
        assert.equal([first.releases, left, isFree], [1, [first.host], false])
        assert.is(all.get('a'), isReplaced ? second.host : first.host)
        if (fails) first.done.reject(why)
        else first.done.resolve()
        await freed
        assert.equal(await Promise.all(releases), fails ? [why, why] : [undefined, undefined])
        // Who comes for it once it has its successor hears nothing of its failure.
        assert.is(await late, fails && !isReplaced ? why : undefined)
        assert.is(all.get('a'), isReplaced ? second.host : undefined)
        await all.release(first.host)
        await all.released('nobody')
        assert.equal([first.releases, second.releases], [1, 0])
      }
  })

  it('are released again once they have been unloaded and are here again', async () => {
    const { hosts: all, left } = hosts()
    const only = fakeHost('a', one)
    only.done.resolve()
    for (const life of [1, 2]) {
      all.add(only.host)
      await all.release(only.host)
      assert.equal([only.releases, left.length, all.get('a')], [life, life, undefined])
    }
  })

  it('are all released, though one of them cannot be', async () => {
    const { hosts: all, left } = hosts()
    const three = ['a', 'b', 'c'].map((id) => fakeHost(id, one))
    for (const { host } of three) all.add(host)
    const over = all.releaseAll()
    three[1]!.done.reject(new Error('no'))
    three[0]!.done.resolve()
    three[2]!.done.resolve()
    await over
    assert.equal([left.length, ['a', 'b', 'c'].map((id) => all.get(id))], [3, [undefined, undefined, undefined]])
  })
})

describe('the totals of an agent', (it) => {
  const spent = (input: number, output: number, costUsd = 0, turns = 0): Spent => ({
    usage: usageOf(input, output),
    costUsd,
    turns,
  })
  const life = (
    own: Spent,
    {
      totals = noTotals,
      incognito,
      usedBefore,
    }: { totals?: TreeTotals; incognito?: object; usedBefore?: Spent | undefined } = {},
  ): Life => ({ host: { view: { spent: own }, family: { totals }, incognito }, usedBefore }) as unknown as Life
  const agent = (calls: readonly object[] = [], run: object | null = {}, incognito?: object) =>
    ({ machine: { context: { calls, run, reporters: [] } }, incognito }) as unknown as TreeAgent
  const totalsOf = (of: TreeAgent, lives: readonly Life[]): TreeTotals => {
    const family = new Family(of, {} as ChildHosts)
    if (lives.length > 0) Object.defineProperty(family.children, 'running', { value: lives })
    const { totals } = family
    assert.is(family.totals, totals)
    return totals
  }
  /** One object for all of which there is nothing to say. */
  const noTotals = totalsOf(agent(), [])
  assert.equal(noTotals, { waiting: [], uncounted: undefined })

  it('count each way in which something was used, of each sub-agent and those below it', () => {
    const none = spent(0, 0)
    assert.is(totalsOf(agent(), []), noTotals)
    assert.is(totalsOf(agent(), [life(none), life(none)]), noTotals)
    for (const some of [spent(1, 0), spent(0, 1), spent(0, 0, 0.5), spent(0, 0, 0, 1)]) {
      assert.equal(totalsOf(agent(), [life(some)]).uncounted, some)
      assert.equal(totalsOf(agent(), [life(none, { totals: { waiting: [], uncounted: some } })]).uncounted, some)
      assert.is(totalsOf(agent(), [life(some, { usedBefore: some })]), noTotals)
    }
    const below = { totals: { waiting: [], uncounted: spent(4, 8, 4, 4) }, usedBefore: spent(1, 1, 1, 1) }
    assert.equal(totalsOf(agent(), [life(spent(2, 3, 2, 2), below), life(spent(10, 20, 10, 10))]).uncounted, {
      ...spent(15, 30, 15, 15),
    })
  })

  it('name the calls that wait, of sub-agents too unless those are incognito and the agent is not', () => {
    const statuses = ['held', 'asking', 'asked', 'requested', 'ready', 'checking', 'running', 'paused', 'settled']
    const calls = statuses.map((status) => ({ key: status, status, question: { key: `${status}?` } }))
    const own = [
      { kind: 'approval', key: 'held' },
      { kind: 'question', key: 'asking?' },
      { kind: 'question', key: 'asked?' },
      { kind: 'call', key: 'requested' },
    ]
    assert.equal(totalsOf(agent(calls), []), { waiting: own, uncounted: undefined })
    assert.is(totalsOf(agent(calls, null), []), noTotals)
    const waiting = [{ kind: 'approval', key: 'below' }] as const
    for (const [mine, its, isTold] of [
      [undefined, undefined, true],
      [undefined, {}, false],
      [{}, {}, true],
    ] as const) {
      const lives = [life(spent(0, 0), { totals: { waiting, uncounted: undefined }, ...(its && { incognito: its }) })]
      assert.equal(totalsOf(agent(calls, {}, mine), lives).waiting, isTold ? [...own, ...waiting] : own)
      assert.equal(totalsOf(agent([], null, mine), lives).waiting, isTold ? [...waiting] : [])
    }
  })
})
