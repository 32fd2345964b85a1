import { keptArtifact } from '../../src/server/artifacts/keptArtifact.ts'
import type { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { allRights, rightsOf, type Right } from '../../../wire/src/rights.ts'
import { AgentAccess } from '../../src/server/agentAccess.ts'
import { AgentDirectory } from '../../src/server/agentDirectory.ts'
import type { Bridge } from '../../src/server/bridge.ts'
import { GivenAgents } from '../../src/server/clientAgent.ts'
import type { Grant } from '../../src/server/roles.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

interface Made {
  readonly id: string
  readonly path?: readonly string[]
  readonly metadata?: Record<string, string>
  readonly incognito?: boolean
  readonly isLoaded?: boolean
  readonly callId?: string
}

const waiting = [{ kind: 'approval', agentId: 'x', callId: 'c', key: 'k', name: 'pay', input: {} }]

/** A server with these agents; what is done to them is said. */
async function served({
  running = [],
  stored = [],
  dispatches = false,
}: {
  running?: readonly Made[]
  stored?: readonly Made[]
  dispatches?: boolean
}) {
  const done: string[] = []
  const store = memoryStore()
  const agentOf = ({ id, path = [], metadata, incognito = false, isLoaded = true }: Made) => ({
    id,
    path,
    metadata,
    incognito,
    isLoaded,
    state: 'idle',
    definition: `${id}-kind`,
    children: () => running.filter((one) => (one.path ?? []).at(-1) === id).map((one) => agents.get(one.id)),
    pending: () => waiting,
    wake: async () => void (isLoaded || done.push(`load ${id}`)),
  })
  const agents: Map<string, unknown> = new Map()
  for (const one of running) agents.set(one.id, agentOf(one))
  for (const { id, path = [], metadata, callId } of [...running, ...stored]) {
    const record = {
      v: 3,
      seq: 1,
      time: 0,
      type: 'agent.created',
      agentId: id,
      definition: 'worker',
      path,
      ...(metadata === undefined ? {} : { metadata }),
    }
    const parent =
      path.length === 0 ? {} : { parent: { agentId: path.at(-1), ...(callId === undefined ? {} : { callId }) } }
    const prompt = {
      v: 3,
      seq: 2,
      time: 0,
      type: 'message.added',
      runId: 'r',
      turnIndex: 0,
      nodeId: 1,
      parentId: null,
      message: { role: 'user', content: [{ type: 'text', text: 'said' }] },
    }
    const start = {
      v: 3,
      seq: 3,
      time: 0,
      type: 'tool.start',
      runId: 'r',
      turnIndex: 0,
      callId: 'c',
      name: 'pay',
      input: { secret: 1 },
    }
    await store.open(id)
    await store.append(id, [{ ...record, ...parent }, prompt, start] as never)
  }
  const roots = () => running.filter(({ path = [] }) => path.length === 0).map(({ id }) => agents.get(id))
  const runtime = {
    agents: () => roots(),
    agent: (id: string) => agents.get(id),
    resume: async (id: string) => {
      done.push(`wake ${id}`)
      const woken = agentOf({ id })
      agents.set(id, woken)
      return woken
    },
    onAgent: (listener: (agent: unknown) => void) => {
      for (const one of agents.values()) listener(one)
      return () => {}
    },
  }
  const definitions = new Map([
    ['worker', { name: 'worker', description: 'works' }],
    ['quiet', { name: 'quiet', description: '' }],
    ['own-kind', { name: 'own-kind', description: 'x' }],
    ['child-kind', { name: 'child-kind', description: 'y' }],
  ])
  const dispatch = dispatches ? { begin: async ({ id }: { id: string }) => void done.push(`begin ${id}`) } : undefined
  const bridge = {
    runtime,
    store,
    definitions,
    dispatch,
    given: new GivenAgents(),
    agents: new AgentDirectory(runtime as never, store, {
      definitions: definitions as never,
      dispatch: dispatch as never,
    }),
    incognito: { isHidden: ({ agent }: { agent?: Made }) => agent?.incognito === true },
    followed: {
      open: async (id: string) => (done.push(`read ${id}`), { id, pending: () => waiting, wake: async () => {} }),
    },
    logOf: () => store,
    newId: () => 'new',
  } as unknown as Bridge
  const client = (grant: Grant, isGranted = (): boolean => true): AgentAccess =>
    new AgentAccess(bridge, grant, { permit: { isGranted } })
  return { done, client }
}

const seeing = ['see.messages'] as const

describe('the agents that a client reaches', (it) => {
  it('are driven by who may talk or control, and read by anybody else, who wakes none', async () => {
    for (const [may, expected] of [
      [[...seeing, 'talk'], ['wake a']],
      [[...seeing, 'control'], ['wake a']],
      [[...seeing, 'approve', 'answer.own', 'use', 'spawn', 'share', 'operate'], ['read a']],
    ] as const) {
      const { done, client } = await served({ stored: [{ id: 'a' }] })
      assert.is((await client({ may }).driven('a')).id, 'a')
      assert.equal(done, expected)
    }
  })

  it('are read from their log where they are unloaded or where an engine has them, and never woken by that', async () => {
    for (const [agent, dispatches, expected] of [
      [{ id: 'a' }, false, []],
      [{ id: 'a', isLoaded: false }, false, ['read a']],
      [{ id: 'a' }, true, ['read a']],
    ] as const) {
      const { done, client } = await served({ running: [agent], dispatches })
      await client({ may: [...seeing] }).reading('a')
      assert.equal(done, expected)
    }
  })

  it('are driven where an engine has them', async () => {
    const { done, client } = await served({ running: [{ id: 'a' }], dispatches: true })
    await client({ may: [...seeing, 'talk'] }).driven('a')
    assert.equal(done, ['read a'])
  })

  it('are none for who sees nothing, and none that are out of reach, running or not', async () => {
    for (const place of ['running', 'stored'] as const) {
      const { done, client } = await served({ [place]: [{ id: 'a', metadata: { user: 'anna' } }] })
      for (const call of ['driven', 'reading'] as const) {
        await assert.rejects(client({ may: ['talk', 'control'] })[call]('a'), withCode('BRIDGE_FORBIDDEN'))
        await assert.rejects(client({ role: 'admin', agents: ['b'] })[call]('a'), withCode('BRIDGE_FORBIDDEN'))
        await assert.rejects(
          client({ role: 'admin', metadata: { user: 'ben' } })[call]('a'),
          withCode('AGENT_NOT_FOUND'),
        )
        await assert.rejects(client({ role: 'admin', agents: () => false })[call]('a'), withCode('AGENT_NOT_FOUND'))
        await assert.rejects(client({ role: 'admin' })[call]('nobody'), withCode('AGENT_NOT_FOUND'))
      }
      assert.equal(done, [])
      assert.is((await client({ role: 'admin', metadata: { user: 'anna' } }).reading('a')).id, 'a')
    }
  })

  it('are listed from the topmost, those below one of them left out, and named if they matter to the client', async () => {
    const running = [{ id: 'own' }, { id: 'child', path: ['own'] }, { id: 'other' }]
    const { client } = await served({ running })
    const topmost = (grant: Grant): string[] =>
      client(grant)
        .topmost()
        .map(({ id }) => id)
    assert.equal(topmost({ role: 'observe' }), ['own', 'other'])
    assert.equal(topmost({ role: 'observe', agents: ['child'] }), ['child'])
    assert.equal(topmost({ role: 'observe', agents: ['own'] }), ['own'])
    assert.equal(client({ role: 'observe', agents: ['child'] }).knownDefinitions, ['child-kind'])
    assert.equal(client({ role: 'observe', agents: ['own'] }).knownDefinitions, ['own-kind', 'child-kind'])
    // None that is not served.
    assert.equal(client({ role: 'observe', agents: ['other'] }).knownDefinitions, [])
    assert.is(client({ role: 'observe' }).knownDefinitions.length, 4)
    assert.is(client({ role: 'admin', agents: ['child'] }).knownDefinitions.length, 4)
    assert.equal(client({ role: 'admin' }).descriptions, { worker: 'works', 'own-kind': 'x', 'child-kind': 'y' })
    assert.is(client({ role: 'drive' }).descriptions, undefined)
  })

  it('are told as they begin, but for those out of reach or incognito', async () => {
    const running = [{ id: 'a' }, { id: 'b' }, { id: 'secret', incognito: true }]
    const { client } = await served({ running })
    const heard = (grant: Grant): string[] => {
      const ids: string[] = []
      client(grant).onAgent(({ id }) => void ids.push(id))
      return ids
    }
    assert.equal(heard({ role: 'observe' }), ['a', 'b'])
    assert.equal(heard({ role: 'observe', agents: ['b', 'secret'] }), ['b'])
    assert.is(client({ role: 'admin' }).find('secret'), undefined)
    assert.is(client({ role: 'admin' }).find('a')?.id, 'a')
  })
})

const begin = (access: AgentAccess): Promise<unknown> => access.begin('worker', { id: 'w' })

describe('a client whose permission is withdrawn', (it) => {
  const cases: readonly (readonly [
    what: string,
    made: Parameters<typeof served>[0],
    ask: (access: AgentAccess) => Promise<unknown>,
    done: readonly (readonly string[])[],
  ])[] = [
    ['at rest', { stored: [{ id: 'a' }] }, (access) => access.driven('a'), [[], ['wake a']]],
    ['unloaded', { running: [{ id: 'a', isLoaded: false }] }, (access) => access.driven('a'), [['load a']]],
    ['placed by an engine', { running: [{ id: 'a' }], dispatches: true }, (access) => access.driven('a'), [['read a']]],
    ['begun by an engine', { dispatches: true, stored: [{ id: 'w' }] }, begin, [[], ['begin w', 'read w']]],
  ]
  for (const [what, made, ask, dones] of cases)
    for (const expected of dones)
      it(`has nothing done for it after ${expected.join(', ') || 'nothing'}: an agent ${what}`, async () => {
        const { done, client } = await served(made)
        const access = client({ role: 'admin' }, () => done.length < expected.length)
        await assert.rejects(ask(access), withCode('BRIDGE_UNAUTHORISED'))
        assert.equal(done, expected)
      })
})

describe('what a client may decide', (it) => {
  const decide = async (
    may: readonly Right[],
    made: { running?: readonly Made[]; stored?: readonly Made[] },
    decision = 'deny',
  ) => {
    const { done, client } = await served(made)
    await client({ may }).mayDecide('a', { callId: 'k', decision })
    return done
  }

  it('is looked up without waking the agent, and not at all for who may decide anything', async () => {
    assert.equal(await decide(['approve', 'answer.own'], { stored: [{ id: 'a' }] }), [])
    assert.equal(await decide(['approve'], { stored: [{ id: 'a' }] }), ['read a'])
    assert.equal(await decide(['approve'], { running: [{ id: 'a' }] }), [])
    assert.equal(await decide(['approve'], { running: [{ id: 'a', isLoaded: false }] }), ['read a'])
    for (const made of [{ stored: [{ id: 'a' }] }, { running: [{ id: 'a' }] }]) {
      await assert.rejects(decide(['answer.own'], made), withCode('BRIDGE_FORBIDDEN'))
      await assert.rejects(decide(['answer.own'], made, 'answer'), withCode('BRIDGE_FORBIDDEN'))
    }
  })

  it('is nothing of an agent out of reach', async () => {
    for (const place of ['running', 'stored'] as const) {
      const { done, client } = await served({ [place]: [{ id: 'a' }] })
      const asked = client({ may: ['approve'], agents: ['b'] }).mayDecide('a', { callId: 'k', decision: 'approve' })
      await assert.rejects(asked, withCode('BRIDGE_FORBIDDEN', 'does not reach'))
      assert.equal(done, [])
    }
  })
})

describe('what a client reads of a log', (it) => {
  const inputs = async (grant: Grant, id: string, made: { running?: readonly Made[]; stored?: readonly Made[] }) => {
    const { client } = await served(made)
    const records: LogRecord[] = []
    for await (const record of client(grant).records(id)) records.push(record)
    const text = JSON.stringify(records)
    return [records.length, text.includes('"said"'), text.includes('secret')]
  }
  const made = { stored: [{ id: 'a' }, { id: 'a.1', path: ['a'], callId: 'c' }, { id: 'a.2', path: ['a'] }] }

  it('is what it may see of that agent: of one that carries out a call, nothing that was said to it', async () => {
    assert.equal(await inputs({ may: ['see.all'] }, 'a', made), [3, true, true])
    assert.equal(await inputs({ may: ['see.messages'] }, 'a', made), [3, true, false])
    assert.equal(await inputs({ may: ['see.all'] }, 'a.1', made), [3, true, true])
    assert.equal((await inputs({ may: ['see.messages'] }, 'a.1', made)).slice(1), [false, false])
    assert.equal(await inputs({ may: ['see.messages'] }, 'a.2', made), [3, true, false])
    await assert.rejects(inputs({ may: ['talk'] }, 'a', made), withCode('BRIDGE_FORBIDDEN'))
    await assert.rejects(inputs({ may: ['see.all'], agents: ['b'] }, 'a', made), withCode('BRIDGE_FORBIDDEN'))
  })

  it('has no artifacts for who does not see all', async () => {
    const { client } = await served(made)
    await assert.rejects(keptArtifact(client({ may: ['see.messages'] }), 'a', 'x'), withCode('BRIDGE_FORBIDDEN'))
    await assert.rejects(client({ may: ['see.messages'] }).charted('a'), withCode('BRIDGE_FORBIDDEN'))
    assert.is(await keptArtifact(client({ may: ['see.all'] }), 'a', 'x'), undefined)
  })
})

/** Ways to read of an agent, each with the right that it needs. */
const readings: readonly (readonly [needs: Right, what: string, read: (access: AgentAccess) => Promise<unknown>])[] = [
  ['see.messages', 'its records', (access) => access.records('a').next()],
  ['see.messages', 'itself', (access) => access.reading('a')],
  ['see.messages', 'itself, to drive it', (access) => access.driven('a')],
  ['see.all', 'what is kept beside its log', (access) => access.keptBeside('a', 'x')],
  ['see.all', 'its chart', (access) => access.charted('a')],
]

describe('whatever a client reads of an agent', (it) => {
  for (const [needs, what, read] of readings)
    it(`needs ${needs}, and the agent within reach: ${what}`, async () => {
      const others = allRights.filter((right) => !rightsOf({ may: [right] }).has(needs))
      for (const place of ['running', 'stored'] as const) {
        const { done, client } = await served({ [place]: [{ id: 'a', metadata: { user: 'anna' } }] })
        await assert.rejects(read(client({ may: others })), withCode('BRIDGE_FORBIDDEN'))
        await assert.rejects(read(client({ role: 'admin', agents: ['b'] })), withCode('BRIDGE_FORBIDDEN'))
        for (const whose of [{ metadata: { user: 'ben' } }, { agents: () => false }])
          await assert.rejects(read(client({ role: 'admin', ...whose })), withCode('AGENT_NOT_FOUND'))
        assert.equal(done, [])
        await read(client({ may: [needs], metadata: { user: 'anna' } }))
      }
    })
})

describe('what a client begins', (it) => {
  it('has the metadata of its grant, which it may not set otherwise, and is within reach', async () => {
    const { client } = await served({})
    assert.equal(client({ role: 'admin' }).birth('worker'), { id: 'worker-new', definition: 'worker' })
    const owned = client({ role: 'admin', metadata: { user: 'anna' } })
    assert.equal(owned.birth('worker', { id: 'w', metadata: { topic: 'x' } }), {
      id: 'w',
      definition: 'worker',
      metadata: { topic: 'x', user: 'anna' },
    })
    assert.equal(owned.birth('worker', { metadata: { user: 'anna' } }).metadata, { user: 'anna' })
    const forbidden = withCode('BRIDGE_FORBIDDEN')
    assert.throws(() => owned.birth('worker', { metadata: { user: 'ben' } }), forbidden)
    assert.throws(() => client({ role: 'admin', agents: ['a'] }).birth('worker', { id: 'b' }), forbidden)
    assert.throws(() => client({ role: 'drive' }).birth('worker'), forbidden)
    assert.throws(() => client({ role: 'admin' }).birth('nothing'), withCode('INVALID_OPTION'))
  })

  it('begins where an engine has it, for who may see it too', async () => {
    const { done, client } = await served({ dispatches: true, stored: [{ id: 'w' }] })
    assert.is((await client({ role: 'admin' }).begin('worker', { id: 'w' })).id, 'w')
    assert.equal(done, ['begin w', 'read w'])
    await assert.rejects(client({ may: ['spawn'] }).begin('worker'), withCode('BRIDGE_FORBIDDEN'))
    assert.is(done.length, 2)
  })

  it('is refused with what it lacks and what it has', () => {
    const refused = (grant: Grant): string => {
      try {
        new AgentAccess({} as Bridge, grant).must(['use', 'control'], 'x')
      } catch (thrown) {
        return (thrown as RuntimeError).message
      }
      return 'allowed'
    }
    assert.match(
      refused({ may: ['talk', 'see.all'] }),
      '"x" needs the right "use" or "control"; this token has talk, see.all, see.messages',
    )
    assert.match(refused({ may: [] }), 'this token has none')
    assert.match(refused({ role: 'observe' }), 'has the role "observe"')
    for (const right of allRights)
      assert.is(refused({ may: [right] }) === 'allowed', right === 'use' || right === 'control')
  })

  it('tells a client from others by who it is and what it may', () => {
    const of = (grant: Grant, who?: string) => new AgentAccess({} as Bridge, grant, { sessionId: 's', who })
    assert.is(of({ role: 'drive' }, 'a').isLike(of({ role: 'drive' }, 'a')), true)
    assert.is(of({ role: 'drive' }, 'a').isLike(of({ role: 'drive' }, 'b')), false)
    assert.is(of({ role: 'drive' }, 'a').isLike(of({ role: 'talk' }, 'a')), false)
    assert.is(of({ role: 'drive' }).isLike(of({ may: [...of({ role: 'drive' }).rights] })), true)
  })
})
