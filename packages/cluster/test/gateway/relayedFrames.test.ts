import type { Command } from '../../../bridge/src/server/front.ts'
import { frames } from '../../../bridge/test/server/commandFrames.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { quiet } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { framesIn } from '../../src/gateway/workerFrames.ts'
import { type Asked, relayed, worker, yes } from './relayed.ts'

/** Commands that are answered by the gateway, from the store; all others are a matter of workers. */
const answeredHere = [
  'agent.share',
  'host.list',
  'session.list',
  'session.search',
  'session.spend',
  'waiting.list',
  'worker.list',
]

describe('every command of a client of a gateway', (it) => {
  it('goes to workers, but for those that the store answers', async (context) => {
    const one = await worker(context)
    const { relay, until, answers } = relayed(context, { a1: one.url, h1: one.url })
    const types = Object.keys(frames) as Command['type'][]
    const taken = types.filter((type, n) => relay.takes({ ...frames[type][0]!, type, id: `c${n}` } as Command))
    assert.equal(types.filter((type) => !taken.includes(type)).toSorted(), answeredHere)
    // Each is answered once: what is about one agent by its worker.
    const spawned = taken.filter((type) => type === 'agent.spawn').length
    await until(() => answers().length >= taken.length - spawned)
    assert.is(new Set(answers()).size, answers().length)
    const told = one.asked.map((line) => line.split(' ')[0])
    for (const type of taken)
      if ('agentId' in frames[type][0]! || 'hostId' in frames[type][0]!) assert.ok(told.includes(type), type)
  })
})

describe('what a client of a gateway is told that it may spawn', (it) => {
  const always = (): boolean => true
  for (const [name, grant, expected] of [
    ['who may do all', { role: 'admin' }, ['echo']],
    ['who has certain agents', { role: 'observe', agents: ['a1'] }, ['echo']],
    ['who may spawn, chosen by a function', { role: 'admin', agents: always }, ['echo']],
    ['who may not, chosen by a function', { role: 'observe', agents: always }, []],
  ] as const)
    it(`is what the worker says of ${name}`, async (context) => {
      const one = await worker(context)
      const { relay } = relayed(context, { a1: one.url }, undefined, undefined, grant)
      await relay.begin()
      assert.equal(relay.definitions, expected)
    })
})

describe('frames of a worker', (it) => {
  it('go on to the client of what it reads there, and of nothing else', async (context) => {
    const [one, two] = [await worker(context), await worker(context)]
    const { tell, until, sent, answers } = relayed(context, { a1: one.url, a2: one.url, a3: two.url })
    tell('agent.subscribe', 'a1', 's1')
    tell('agent.prompt', 'a2', 'p2')
    tell('agent.subscribe', 'a3', 's3')
    await until(() => answers().length === 3)
    sent.length = 0
    const live = (agentId: string) => [
      { type: 'delta', agentId, deltas: [] },
      { type: 'caughtUp', agentId, seq: 0 },
      { type: 'lagging', agentId, seq: 0 },
    ]
    // Not read; read elsewhere; not known; of a kind that no gateway knows.
    for (const frame of [...live('a2'), ...live('a3'), ...live('stranger'), { type: 'novelty', agentId: 'a1' }])
      one.say(frame)
    for (const frame of live('a1')) one.say(frame)
    one.say({ type: 'error', code: 'NOTE', message: 'last' })
    await until(() => sent.some(({ type }) => type === 'error'))
    const read = sent.map(({ type, ...rest }) => [type, (rest as { agentId?: string }).agentId])
    assert.equal(
      read.filter(([type]) => type !== 'error' && type !== 'delta'),
      [
        ['caughtUp', 'a1'],
        ['lagging', 'a1'],
      ],
    )
    assert.ok(read.every(([, agentId]) => agentId === undefined || agentId === 'a1'))
  })

  for (const [what, text] of Object.entries({
    'no JSON': 'x',
    nothing: 'null',
    'a number': '1',
    'a text': '"ok"',
    'a frame without a type': '{}',
    'a type that is no text': '{"type":1}',
    'a known frame without what it must have': '{"type":"ok"}',
    'one such among sound ones': '[{"type":"ok","id":"a","result":null},null]',
  }))
    it(`are none where there is ${what}`, () => assert.is(framesIn(text), undefined))

  it('may be of a type that is not known, alone or in a list', () => {
    assert.equal(framesIn('{"type":"novelty","x":1}'), [{ type: 'novelty', x: 1 }])
    assert.equal(framesIn('[{"type":"novelty"},{"type":"other"}]'), [{ type: 'novelty' }, { type: 'other' }])
    assert.equal(framesIn('[]'), [])
  })
})

describe('an agent that is followed through the directory', (it) => {
  const begun = async (context: Parameters<typeof relayed>[0]) => {
    const [one, two] = [await worker(context), await worker(context)]
    const agents: Record<string, string> = { a1: one.url }
    const all = relayed(context, agents)
    all.tell('agent.subscribe', 'a1', 's1')
    await all.until(() => all.sent.length === 1)
    const look = async (): Promise<void> => {
      await all.finderClock.advance(250)
      await quiet()
    }
    return { one, two, agents, look, ...all }
  }

  it('is read where it was for as long as the directory says so', async (context) => {
    const { one, look } = await begun(context)
    await look()
    await look()
    await one.passed()
    assert.equal(one.asked, ['agent.subscribe s1'])
  })

  it('is read on where it is now, and no more where it was', async (context) => {
    const { one, two, agents, look } = await begun(context)
    agents['a1'] = two.url
    await look()
    await two.until((asked) => asked.length === 1)
    await one.until((asked) => asked.length === 2)
    await look()
    await two.passed()
    assert.ok(one.asked[1]!.startsWith('agent.unsubscribe '))
    assert.is(two.asked.length, 1)
  })

  it('is followed no more once it is not read', async (context) => {
    const { two, agents, look, tell, until, sent, finderClock } = await begun(context)
    tell('agent.unsubscribe', 'a1', 'u1')
    await until(() => sent.length === 2)
    agents['a1'] = two.url
    await look()
    await look()
    assert.equal([two.asked, finderClock.pending], [[], 0])
  })
})

describe('a worker that refuses', (it) => {
  const refusing = (code: string) => (command: Asked) =>
    [{ type: 'error', id: command.id, code, message: 'no' }] as const

  for (const [code, told] of Object.entries({
    // Of one worker alone: no matter of the client.
    AGENT_DETACHED: 'AGENT_UNREACHABLE',
    STORE_LEASE_LOST: 'AGENT_UNREACHABLE',
    RUNTIME_CLOSED: 'AGENT_UNREACHABLE',
    // Believed in the end.
    AGENT_ELSEWHERE: 'AGENT_ELSEWHERE',
    STORE_LOCKED: 'STORE_LOCKED',
  }))
    it(`a command with ${code} is asked eight times again, and the client told ${told} once`, async (context) => {
      const one = await worker(context, refusing(code))
      const { tell, sent, finderClock } = relayed(context, { a1: one.url }, undefined, (clock) => clock)
      tell('agent.prompt', 'a1', 'p1')
      while (sent.length === 0) {
        await finderClock.advance(100)
        await quiet()
      }
      await one.passed()
      assert.is(one.asked.length, 9)
      assert.equal(
        sent.map((frame) => [frame.type, frame.id, (frame as { code?: string }).code]),
        [['error', 'p1', told]],
      )
    })

  for (const code of ['BRIDGE_FORBIDDEN', 'AGENT_NOT_FOUND', 'INVALID_OPTION', 'STORE_READ_FAILED'])
    it(`a command with ${code} is believed at once`, async (context) => {
      const one = await worker(context, refusing(code))
      const { tell, until, sent } = relayed(context, { a1: one.url })
      tell('agent.prompt', 'a1', 'p1')
      await until(() => sent.length === 1)
      await one.passed()
      assert.equal([one.asked.length, (sent[0] as { code?: string }).code], [1, code])
    })

  for (const [code, isFinal] of [
    ['BRIDGE_FORBIDDEN', true],
    ['AGENT_NOT_FOUND', true],
    ['AGENT_ELSEWHERE', false],
    ['STORE_READ_FAILED', false],
    ['STORE_OPEN_FAILED', false],
  ] as const)
    it(`to let read on with ${code} has the client ${isFinal ? 'come back' : 'wait'}`, async (context) => {
      let refuses = true
      const [one, two] = [
        await worker(context),
        await worker(context, (command) =>
          command.type === 'agent.subscribe' && refuses ? refusing(code)(command) : yes(command),
        ),
      ]
      const agents: Record<string, string> = { a1: one.url }
      const all = relayed(context, agents, undefined, (clock) => clock)
      const { tell, sent, finderClock, failures, until } = all
      tell('agent.subscribe', 'a1', 's1')
      await until(() => sent.length === 1)
      agents['a1'] = two.url
      one.cut()
      const isDone = (): boolean => failures.length > 0 || two.asked.length >= 12
      for (let turn = 0; !isDone() && turn < 2_000; turn += 1) {
        await finderClock.advance(100)
        await quiet()
      }
      assert.equal(failures, isFinal ? [code] : [])
      if (isFinal) return
      // It is told once that the agent is away.
      assert.equal(
        sent.slice(1).map((frame) => [frame.type, (frame as { code?: string }).code]),
        [['error', 'AGENT_UNREACHABLE']],
      )
      refuses = false
      const asked = two.asked.length
      for (let turn = 0; two.asked.length === asked && turn < 200; turn += 1) {
        await finderClock.advance(2_000)
        await quiet()
      }
      two.say({ type: 'caughtUp', agentId: 'a1', seq: 0 })
      await until(() => sent.length === 3)
      assert.is(sent[2]!.type, 'caughtUp')
    })
})

describe('a client that has left', (it) => {
  it('has no worker hear of a command whose reach was looked up meanwhile', async (context) => {
    const one = await worker(context)
    const look = Promise.withResolvers<void>()
    const { relay, tell } = relayed(
      context,
      { a1: one.url },
      () => look.promise,
      () => systemClock,
    )
    tell('agent.prompt', 'a1', 'p1')
    relay.close()
    look.resolve()
    await quiet()
    await one.passed()
    assert.equal(one.asked, [])
  })
})
