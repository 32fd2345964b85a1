import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { recordsBetween } from '../../../evaluation/src/testing/contractDemands.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { forkSession } from '../../../sessions/src/forkSession.ts'
import { quiet, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { readCarried } from '../../src/restate/carried.ts'
import { Definitions } from '../../src/restate/definitions.ts'
import { refusalOf } from '../../src/restate/engineErrors.ts'
import { LogFollower } from '../../src/restate/logFollower.ts'
import { Seats } from '../../src/restate/seats.ts'
import { storedState } from '../../src/restate/storedState.ts'
import { agentsIn, searchIn, sessionsIn, snapshotIn } from '../../src/restate/storeFrames.ts'
import { wasRecorded } from '../../src/restate/wasRecorded.ts'

describe('the seat of an agent', (it) => {
  it('is one attempt’s at a time, in whatever order the others come, and free once all have left', async () => {
    const seats = new Seats()
    const order: number[] = []
    const frees: (() => void)[] = []
    for (let one = 0; one < 4; one += 1)
      void seats.take('a').then((free) => {
        order.push(one)
        frees.push(free)
      })
    for (let held = 1; held <= 4; held += 1) {
      await quiet()
      assert.equal([order.length, seats.has('a')], [held, true])
      frees.at(-1)!()
    }
    frees[0]!()
    assert.is(seats.has('a'), false)
    const free = await seats.take('a')
    // One who has left leaves once.
    frees[0]!()
    assert.is(seats.has('a'), true)
    free()
  })
})

describe('a command that an engine carries', (it) => {
  it('begins an agent that must be new only where that is said', () => {
    for (const [isNew, expected] of [
      [true, true],
      [false, false],
      [undefined, false],
    ] as const)
      assert.equal(readCarried('a', 'open', isNew === undefined ? {} : { isNew }, 'r').command, {
        type: 'open',
        isNew: expected,
      })
    assert.throws(() => readCarried('a', 'abort', [], 'r'), withCode('INVALID_OPTION'))
  })

  it('is worth another attempt after what passes, and after errors of nobody’s', () => {
    for (const [code, passes] of [
      ['RUNTIME_CLOSED', true],
      ['AGENT_ELSEWHERE', true],
      ['STORE_LEASE_LOST', true],
      ['STORE_LOCKED', true],
      ['AGENT_STOPPED', false],
      ['QUEUE_FULL', false],
    ] as const)
      assert.is(refusalOf(new RuntimeError(code, 'x')) === undefined, passes, code)
    assert.is(refusalOf(new Error('x')), undefined)
  })
})

describe('the definitions of a worker', (it) => {
  const define = (name: string, more: object = {}): AgentDefinition =>
    defineAgent({ name, description: name, model: scriptedModel([]), ...more })

  it('are those named, before those of the same names below them', () => {
    const below = define('b', { instructions: 'below' })
    const own = define('b', { instructions: 'own' })
    const all = new Definitions([define('a', { agents: [below] }), own])
    assert.is(all.of('x', 'b', undefined), own)
    assert.equal(all.names, ['a', 'b'])
  })

  it('are told by the log, else by the request, else by there being one alone', () => {
    const [a, b] = [define('a'), define('b')]
    const [both, one] = [new Definitions([a, b]), new Definitions([a])]
    assert.equal([both.of('x', 'a', 'a'), both.of('x', undefined, 'b'), one.of('x', undefined, undefined)], [a, b, a])
    for (const [all, logged, asked] of [
      [both, 'a', 'b'],
      [both, undefined, undefined],
      [one, 'b', undefined],
    ] as const)
      assert.throws(() => all.of('x', logged, asked), withCode('INVALID_DEFINITION'))
  })

  it('have another fingerprint with another model', () => {
    const of = (id: string): string =>
      new Definitions([define('a', { model: { ...scriptedModel([]), id } })]).fingerprint('a')
    assert.is(of('one:x'), of('one:x'))
    assert.is.not(of('one:x'), of('one:y'))
  })
})

describe('a log that is followed', (it) => {
  async function followed(after = 0) {
    const [store, clock] = [memoryStore(), simulatedClock()]
    const lease = await store.open('a')
    const created = { v: 3, seq: 1, time: 0, type: 'agent.created', agentId: 'a', definition: 'x', path: ['root'] }
    await store.append('a', [created, ...recordsBetween(2, 3)] as never, lease.epoch)
    const told: string[] = []
    let isBroken = false
    let hold: Promise<void> | undefined
    const read: typeof store.read = async function* (...given) {
      await hold
      if (isBroken) throw new Error('no')
      yield* store.read(...given)
    }
    const onEvent = ({ seq, path }: { readonly seq: number; readonly path: readonly string[] }): void => {
      told.push(`${seq} ${path.join()}`)
    }
    const follow = (more: object = {}) =>
      new LogFollower({
        agentId: 'a',
        store: { read },
        clock,
        pollMs: 100,
        after,
        onEvent,
        onCaughtUp: (seq) => told.push(`caught up ${seq}`),
        onFailure: () => told.push('failed'),
        ...more,
      })
    const breaks = (now: boolean): void => void (isBroken = now)
    const holds = (until: Promise<void> | undefined): void => void (hold = until)
    return { store, clock, told, follow, breaks, holds }
  }

  it('is told with the path of its agent, from any record on, and again after it could not be read', async () => {
    const { clock, told, follow, breaks } = await followed(1)
    breaks(true)
    const follower = follow()
    await quiet()
    breaks(false)
    await clock.advance(100)
    await quiet()
    assert.equal(told, ['failed', '2 root', '3 root', 'caught up 3'])
    follower.close()
  })

  it('is told no more once it is left, whether it is just being read, or cannot be', async () => {
    for (const isBroken of [false, true]) {
      const { clock, told, follow, breaks, holds } = await followed()
      const { promise, resolve } = Promise.withResolvers<void>()
      holds(promise)
      const follower = follow()
      await quiet()
      follower.close()
      breaks(isBroken)
      resolve()
      await quiet()
      assert.equal([told, clock.pending], [[], 0])
    }
  })

  it('is left in the middle of what is being told', async () => {
    const { clock, told, follow } = await followed()
    const follower: LogFollower = follow({
      onEvent: ({ seq }: { readonly seq: number }) => {
        told.push(String(seq))
        follower.close()
      },
    })
    await quiet()
    assert.equal([told, clock.pending], [['1'], 0])
  })

  it('has a request once it is recorded: each record is read once, and a store that fails is asked again', async () => {
    const { store, clock } = await followed()
    const starts: (number | undefined)[] = []
    let failures = 1
    const read: typeof store.read = (id, from, limit) => {
      if (from !== 1 && failures-- > 0) throw new Error('no')
      starts.push(from)
      return store.read(id, from, limit)
    }
    let isThere = false
    const ended = new AbortController()
    const asked = { store: { read }, clock, pollMs: 100, agentId: 'a', requestId: 'r', signal: ended.signal }
    void wasRecorded(asked).then(() => (isThere = true))
    await quiet()
    await clock.advance(100)
    await quiet()
    assert.equal([isThere, starts], [false, [1]])
    const start = {
      v: 3,
      seq: 4,
      time: 0,
      type: 'run.start',
      runId: 'x',
      turnIndex: 0,
      cause: 'resume',
      requestId: 'r',
    }
    await store.append('a', [start] as never)
    await clock.advance(100)
    await quiet()
    assert.equal([isThere, starts, clock.pending], [true, [1, 4], 0])
  })
})

describe('what a client of an engine reads in the store', (it) => {
  it('are agents, sessions and hits by what it asks for, and how each stands', async ({ cleanup }) => {
    const store = { ...memoryStore(), close: async () => {} }
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close().catch(() => {}))
    const helper = defineAgent({ name: 'helper', description: 'helps', model: scriptedModel(['a word']) })
    const calls = { toolCalls: [{ name: 'helper', input: { task: 'a word' } }] }
    const model = scriptedModel([calls, 'a word, and a word', 'a word'])
    const worker = defineAgent({ name: 'worker', agents: [helper], model })
    const agent = await runtime.spawn(worker, { id: 'a', metadata: { user: 'anna' } })
    await agent.prompt('a word').result
    const other = await runtime.spawn(worker, { id: 'b', metadata: { user: 'ben' } })
    await other.prompt('go').result
    await other.stop()
    await forkSession(store, 'a', 'n1', { id: 'f' })
    await runtime.close()
    const shelf = { store, definitions: new Map([['worker', worker]]) }
    const frame = { id: '1' } as never as { readonly id: string }
    const agents = async (more: object = {}) => {
      const found = (await agentsIn(shelf, { ...frame, type: 'agent.list', ...more } as never)) as {
        readonly agents: readonly { readonly agentId: string }[]
        readonly total: number
      }
      return [found.agents.map(({ agentId }) => agentId).join(), found.total]
    }
    assert.equal(
      [await agents(), await agents({ metadata: { user: 'ben' } })],
      [
        ['a,b,f', 3],
        ['b', 1],
      ],
    )
    const sessions = async (more: object = {}) => {
      const found = (await sessionsIn(shelf, { ...frame, type: 'session.list', ...more } as never)) as {
        readonly sessions: readonly { readonly agentId: string }[]
      }
      return found.sessions.map(({ agentId }) => agentId).toSorted()
    }
    assert.equal([await sessions(), await sessions({ forkedFrom: 'a' })], [['a', 'a.1', 'b', 'f'], ['f']])
    await assert.rejects(sessions({ running: true }), withCode('ENGINE_UNSUPPORTED'))
    const found = (await searchIn(shelf, { ...frame, type: 'session.search', text: 'word' } as never)) as {
      readonly hits: readonly object[]
      readonly sessions: readonly object[]
    }
    assert.ok(found.hits.length > found.sessions.length)
    const states = await Promise.all(['a', 'b'].map((id) => snapshotIn(shelf, id)))
    assert.equal(
      states.map((one) => (one as { readonly state: string }).state),
      ['completed', 'stopped'],
    )
    const { seq, runs, isStopped } = await storedState(store, 'a')
    assert.equal([seq === agent.lastSeq, runs, isStopped], [true, 1, false])
    assert.is((await storedState(store, 'b')).isStopped, true)
  })
})
