import type { PlacedWaiting } from '../../../waking/src/waitingList.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { IncognitoAgents } from '../../src/server/incognitoAgents.ts'
import { PlacedAgents } from '../../src/server/placedAgents.ts'
import { waitingFor } from '../../src/server/waitingAnswer.ts'

describe('the incognito agents of clients', (it) => {
  function owned() {
    const ended: string[] = []
    const agents = new IncognitoAgents()
    const agent = (id: string, more: object = {}) =>
      ({ id, incognito: true, close: async () => void ended.push(id), ...more }) as never
    const isHidden = (id: string, session: string | undefined, path: readonly string[] = [], found?: object): boolean =>
      agents.isHidden({ id, path, agent: found as never }, session)
    return { agents, agent, ended, isHidden }
  }

  it('are seen by the session that spawned them, with all below them, and by no other', () => {
    const { agents, agent, isHidden } = owned()
    agents.add(agent('a'), 's1')
    const seen = (session: string | undefined) => [isHidden('a', session), isHidden('a.1', session, ['a'])]
    assert.equal(
      [seen('s1'), seen('s2'), seen(undefined)],
      [
        [false, false],
        [true, true],
        [true, true],
      ],
    )
    assert.equal([isHidden('b', 's1', [], { incognito: true }), isHidden('b', 's1', [], {})], [true, false])
  })

  it('end with their session, once, and with the server', () => {
    const { agents, agent, ended, isHidden } = owned()
    for (const [id, session] of [
      ['a', 's1'],
      ['b', 's2'],
      ['c', 's2'],
    ] as const)
      agents.add(agent(id), session)
    agents.endSession('s1')
    agents.endSession('s1')
    assert.equal(ended, ['a'])
    // Its id is free for an agent of anybody.
    assert.is(isHidden('a', 's2'), false)
    agents.close()
    agents.close()
    assert.equal(ended, ['a', 'b', 'c'])
  })

  it('that have ended hide no agent that has their id afterwards, and a close that fails hurts nobody', async () => {
    const { agents, agent, ended, isHidden } = owned()
    agents.add(agent('a', { close: () => Promise.reject(new Error('no')) }), 's1')
    agents.add(agent('b'), 's1')
    agents.began(agent('b'))
    assert.equal([isHidden('b', 's2'), isHidden('a', 's2')], [false, true])
    agents.endSession('s1')
    assert.equal(ended, [])
  })
})

describe('agents that an engine places', (it) => {
  const record = (seq: number, type: string, more: object = {}) => ({ v: 3, seq, time: 0, type, ...more })

  async function placed(...more: readonly object[]) {
    const [store, clock] = [memoryStore(), simulatedClock()]
    await store.open('a')
    const created = record(1, 'agent.created', { agentId: 'a', definition: 'worker', path: [] })
    await store.append('a', [created, ...more] as never)
    const parts = { runtime: { agent: () => undefined }, store, clock, definitions: new Map(), newId: () => 'n' }
    return { clock, agents: new PlacedAgents(parts, {} as never) }
  }

  it('are the same object for whoever asks, until the server closes, which leaves no timer', async () => {
    const { agents, clock } = await placed()
    const agent = await agents.open('a')
    assert.is(await agents.open('a'), agent)
    agent.subscribe(() => {})
    assert.is(clock.pending, 1)
    agents.close()
    assert.is(clock.pending, 0)
    assert.is.not(await agents.open('a'), agent)
  })

  it('are not opened once they were stopped', async () => {
    const { agents } = await placed(record(2, 'agent.stopped', { reason: 'done' }))
    await assert.rejects(agents.open('a'), withCode('AGENT_STOPPED'))
  })
})

describe('what waits for people', (it) => {
  const waits = (agentId: string, path: readonly string[], ...asked: readonly number[]): PlacedWaiting =>
    ({
      agentId,
      definition: 'worker',
      title: undefined,
      metadata: undefined,
      isRunning: false,
      path,
      waiting: asked.map((askedAt) => ({
        path,
        pending: { kind: 'call', agentId, key: `k${askedAt}`, input: { secret: 'CANARY' }, askedAt },
      })),
    }) as never

  const asked = (access: object, options: object = {}) => {
    const all = [waits('b', [], 20, 5), waits('a', [], 10), waits('a.1', ['a'], 7), waits('x.1', ['x'], 30)]
    const bridge = { waiting: { find: async function* () { yield* all } } } // oxfmt-ignore
    const everything = {
      waitingQuery: () => ({}),
      reach: () => true,
      isHidden: () => false,
      redact: (one: unknown) => one,
      view: 'all',
      runElsewhere: new Set<string>(),
    }
    return waitingFor(bridge as never, { ...everything, ...access } as never, options)
  }
  const idsOf = async (access: object, options: object = {}) => {
    const { waiting, total } = await asked(access, options)
    return [waiting.map(({ agentId }) => agentId).join(), total]
  }

  it('is listed of the topmost agents within reach that the client may know of, the longest wait first', async () => {
    for (const [what, access, options, expected] of [
      ['all', {}, {}, ['b,a', 2]],
      ['as many as asked for', {}, { limit: 1 }, ['b', 2]],
      ['one below what is out of reach', { reach: ({ id }: { id: string }) => id !== 'x' }, {}, ['b,a,x.1', 3]],
      ['none out of reach', { reach: ({ id }: { id: string }) => id === 'a' }, {}, ['a', 1]],
      ['none that is hidden', { isHidden: (id: string) => id === 'b' }, {}, ['a', 1]],
    ] as const)
      assert.equal(await idsOf(access, options), expected, what)
  })

  it('is redacted, shown as far as the client may see, and runs in whichever process', async () => {
    const shown = async (access: object): Promise<string> => JSON.stringify((await asked(access)).waiting)
    assert.match(await shown({}), 'CANARY')
    assert.not.match(await shown({ view: 'messages' }), 'CANARY')
    const redact = (one: object) => JSON.parse(JSON.stringify(one).replaceAll('CANARY', '***')) as object
    assert.not.match(await shown({ redact }), 'CANARY')
    const { waiting } = await asked({ runElsewhere: new Set(['a']) })
    assert.equal(
      waiting.map(({ agentId, isRunning }) => [agentId, isRunning]),
      [
        ['b', false],
        ['a', true],
      ],
    )
  })
})
