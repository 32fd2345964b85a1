import { AgentStore, type Followed } from '../../src/client/agentStore.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { quiet } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { own, prompted, toldAgent } from './toldAgent.ts'

const missing = { code: 'AGENT_NOT_FOUND', message: 'There is none.' } as const
const broken = { code: 'STORE_READ_FAILED', message: 'The disk is gone.' } as const

function stored(snapshot?: Followed['snapshot']) {
  const told = toldAgent()
  const agent = snapshot === undefined ? told.agent : { ...told.agent, snapshot }
  const store = new AgentStore(agent)
  let views = 0
  store.listen(() => (views += 1))
  return { ...told, store, views: () => views, facts: () => store.view.facts }
}

describe('a store that follows an agent', (it) => {
  it('has the runs of that agent alone, and not those of agents below it', async () => {
    const { store, tell, options } = stored()
    store.open()
    await options().onCaughtUp!()
    const start = { type: 'run.start', turnIndex: 0, requestId: 'r', cause: 'prompt', limits: {}, model: { id: 'm' } }
    tell({ ...own, ...start, seq: 1, runId: 'a.1/r0', agentId: 'a.1', path: ['a'] })
    await quiet()
    assert.is(store.view.run, null)
    tell({ ...own, ...start, seq: 1, runId: 'a/r0' })
    await quiet()
    assert.is(store.view.run?.runId, 'a/r0')
    store.close()
  })

  it('shows a run whose process has died as paused', async () => {
    for (const [state, expected] of [
      ['closed', 'paused'],
      ['replying.streaming', 'running'],
    ] as const) {
      const snapshot = async () =>
        ({ state, pause: null, path: [], tree: { id: 'a', children: [] }, approvals: [], asked: [] }) as never
      const { store, tell, options, facts } = stored(snapshot)
      store.open()
      tell({ ...own, type: 'run.start', seq: 1, runId: 'a/r0', turnIndex: 0, requestId: 'r', cause: 'prompt' })
      await options().onCaughtUp!()
      assert.is(facts().status, expected)
      store.close()
    }
  })
})

describe('a store whose agent cannot be followed', (it) => {
  it('says why, until it is tried again: then it is loading, and follows once more', async () => {
    const { store, calls, options, facts, tell, views } = stored()
    store.open()
    await options().onEnd!(broken)
    assert.equal([facts().status, facts().error?.code, views()], ['failed', 'STORE_READ_FAILED', 1])
    // A failed store is not followed again by itself.
    store.open()
    assert.equal(calls, ['from 1'])
    store.retry()
    assert.equal([facts().status, facts().error, views()], ['loading', undefined, 2])
    assert.equal(calls, ['from 1', 'end', 'from 1'])
    tell(prompted(1, 'Hello'))
    await options().onCaughtUp!()
    assert.equal([facts().status, store.view.chat.messages.length], ['idle', 1])
    // Nothing failed: nothing is tried again.
    store.retry()
    assert.is(calls.length, 3)
    store.close()
  })

  it('says so when its state cannot be asked for, unless it was closed meanwhile', async () => {
    const gate = Promise.withResolvers<never>()
    const { store, options, facts } = stored(() => gate.promise)
    store.open()
    const first = options().onCaughtUp!()
    store.close()
    store.open()
    gate.reject(new RuntimeError('BRIDGE_CLOSED', 'It is gone.'))
    await first
    assert.is(facts().status, 'loading')
    await options().onCaughtUp!()
    assert.equal([facts().status, facts().error?.code], ['failed', 'BRIDGE_CLOSED'])
    store.close()
  })

  it('is well once an agent that was not there is', async () => {
    const { store, options, facts } = stored()
    store.open()
    await options().onEnd!(missing)
    assert.is(facts().error?.code, 'AGENT_NOT_FOUND')
    await options().onCaughtUp!()
    assert.equal([facts().status, facts().error], ['idle', undefined])
    store.close()
  })

  it('keeps any other error when the log was read after all', async () => {
    const { store, options, facts } = stored()
    store.open()
    await options().onEnd!(broken)
    await options().onCaughtUp!()
    assert.is(facts().error?.code, 'STORE_READ_FAILED')
    store.close()
  })
})

describe('a store whose agent is missing', (it) => {
  it('has it spawned by the first who can, once, and follows it', async () => {
    const { store, options, calls, facts } = stored()
    const spawned: string[] = []
    store.subscribe(
      () => {},
      async () => void spawned.push('one'),
    )
    store.subscribe(
      () => {},
      async () => void spawned.push('other'),
    )
    await options().onEnd!(missing)
    assert.equal([spawned, calls], [['one'], ['from 1', 'end', 'from 1']])
    // It is missing again: it was spawned once.
    await options().onEnd!(missing)
    assert.equal([spawned, facts().status], [['one'], 'failed'])
    store.close()
  })

  it('is tried again for one who comes later and can spawn it, and for no other', async () => {
    const { store, options, calls } = stored()
    store.subscribe(() => {})
    await options().onEnd!(missing)
    store.subscribe(() => {})
    assert.is(calls.length, 1)
    let spawned = 0
    store.subscribe(
      () => {},
      async () => (spawned += 1),
    )
    await options().onEnd!(missing)
    assert.equal([spawned, calls.filter((call) => call === 'from 1').length], [1, 3])
    store.close()
  })

  it('is not spawned for another error', async () => {
    const { store, options, facts } = stored()
    let spawned = 0
    store.subscribe(
      () => {},
      async () => (spawned += 1),
    )
    await options().onEnd!(broken)
    assert.equal([spawned, facts().status], [0, 'failed'])
    store.close()
  })

  for (const [code, status, follows] of [
    ['AGENT_EXISTS', 'loading', 2],
    ['BRIDGE_FORBIDDEN', 'failed', 1],
  ] as const)
    it(`whose spawning is refused with ${code} is ${status}`, async () => {
      const { store, options, calls, facts } = stored()
      store.subscribe(
        () => {},
        () => Promise.reject(new RuntimeError(code, 'no')),
      )
      await options().onEnd!(missing)
      await quiet()
      assert.equal([facts().status, calls.filter((call) => call === 'from 1').length], [status, follows])
      store.close()
    })

  it('is neither followed nor said to have failed where it was closed while it was spawned', async () => {
    for (const outcome of ['spawned', 'refused'] as const) {
      const { store, options, calls } = stored()
      const gate = Promise.withResolvers<void>()
      store.subscribe(
        () => {},
        () => gate.promise,
      )
      const ended = options().onEnd!(missing)
      store.close()
      if (outcome === 'spawned') gate.resolve()
      else gate.reject(new RuntimeError('BRIDGE_FORBIDDEN', 'no'))
      await ended
      assert.equal(
        [store.isOpen, store.view, calls.filter((call) => call === 'from 1').length],
        [false, store.initial, 1],
      )
    }
  })
})

describe('what waits for people', (it) => {
  const approval = (key: string) => ({ kind: 'approval', key, callId: key, agentId: 'a', name: 'pay', input: {} })
  const answer = (...keys: readonly string[]) => ({
    state: 'idle',
    pause: null,
    path: [],
    tree: { id: 'a', children: [] },
    approvals: [],
    asked: keys.map(approval),
  })

  it('is the same list while the server says the same, and another where a key is another', async () => {
    let said = answer('k1', 'k2')
    const { store, options } = stored((async () => said) as never)
    store.open()
    const pending = async () => {
      await options().onCaughtUp!()
      return store.view.chat.pending
    }
    const first = await pending()
    assert.equal(
      first.map(({ key }) => key),
      ['k1', 'k2'],
    )
    said = answer('k1', 'k2')
    assert.is(await pending(), first)
    for (const keys of [['k1', 'k3'], ['k2', 'k1'], ['k1'], []]) {
      said = answer(...keys)
      assert.equal(
        (await pending()).map(({ key }) => key),
        keys,
      )
    }
    store.close()
  })
})
