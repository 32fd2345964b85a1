import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { noUsage } from '../../../../src/protocol/messages.ts'
import { Upstream } from '../../src/gateway/upstream.ts'
import { quiet } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { fakeWorker, welcome } from './fakeWorker.ts'
import { type Asked, relayed, worker, yes } from './relayed.ts'

describe('commands of a client of a gateway', (it) => {
  it('stay in order, also behind one whose reach is still looked up, and behind one that is out of reach', async (context) => {
    const one = await worker(context)
    const looks = new Map<string, PromiseWithResolvers<void>>()
    const agents = { slow: one.url, quick: one.url, foreign: one.url }
    const { tell, until, answers, sent } = relayed(context, agents, (agentId) => looks.get(agentId)?.promise)
    tell('agent.prompt', 'quick', 'p0')
    tell('agent.prompt', 'slow', 'p1')
    await until(() => answers().length === 2)
    one.asked.length = 0
    for (const id of ['slow', 'foreign']) looks.set(id, Promise.withResolvers<void>())
    tell('agent.prompt', 'slow', 'p2')
    tell('agent.prompt', 'quick', 'p3')
    tell('agent.prompt', 'foreign', 'p4')
    tell('agent.prompt', 'quick', 'p5')
    looks.get('foreign')!.reject(new Error('there is no such agent'))
    await one.passed()
    assert.equal(one.asked, [])
    looks.get('slow')!.resolve()
    await until(() => answers().length === 6)
    assert.equal(
      one.asked,
      ['p2', 'p3', 'p5'].map((id) => `agent.prompt ${id}`),
    )
    assert.equal(
      sent.filter(({ type }) => type === 'error').map(({ id }) => id),
      ['p4'],
    )
  })
})

describe('a client of a gateway that reads slowly', (it) => {
  it(
    'slows all workers, one that is reached meanwhile too, and all go on once it has read',
    { timeoutMs: 10_000 },
    async (context) => {
      const workers = [await worker(context), await worker(context), await worker(context)]
      const [one, two, late] = workers as [(typeof workers)[0], (typeof workers)[0], (typeof workers)[0]]
      const client = relayed(context, { a1: one.url, a2: two.url, a3: late.url })
      const { tell, until, answers, sent, fills } = client
      tell('agent.prompt', 'a1', 'p1')
      tell('agent.prompt', 'a2', 'p2')
      await until(() => answers().length === 2)
      fills(true)
      one.say({ type: 'error', code: 'NOTE', message: 'the last that fits' })
      await until(() => sent.length === 3)
      for (const each of [one, two]) each.say({ type: 'error', code: 'NOTE', message: 'too much' })
      tell('agent.prompt', 'a3', 'p3')
      await late.until((asked) => asked.length === 1)
      for (const each of workers) await each.passed()
      assert.equal([sent.length, answers()], [3, ['p1', 'p2']], 'what is asked goes out, and no answer comes in')
      fills(false)
      await until(() => sent.length === 6)
      assert.equal(answers(), ['p1', 'p2', 'p3'])
      for (const each of workers) each.say({ type: 'error', code: 'NOTE', message: 'and on' })
      await until(() => sent.length === 9)
    },
  )
})

describe('what a worker refused to let a client read', (it) => {
  it('is asked for no more, wherever its agent is by then', async (context) => {
    const no = ({ type, id }: Asked): readonly object[] =>
      type === 'agent.subscribe'
        ? [{ type: 'error', id, code: 'BRIDGE_LIMIT', message: 'too many' }]
        : yes({ type, id })
    const [one, two] = [await worker(context, no), await worker(context, no)]
    const agents: Record<string, string> = { a1: one.url, a2: two.url }
    const { tell, until, answers, failures } = relayed(context, agents)
    tell('agent.subscribe', 'a1', 's1')
    await until(() => answers().length === 1)
    agents['a1'] = two.url
    one.cut()
    tell('agent.prompt', 'a2', 'p1')
    tell('agent.prompt', 'a1', 'p2')
    await until(() => answers().length === 3)
    await two.passed()
    assert.equal([one.asked, two.asked], [['agent.subscribe s1'], ['agent.prompt p1', 'agent.prompt p2']])
    assert.equal(failures, [])
  })
})

describe('a client of a gateway that watches the agents', (it) => {
  it('is told that those of a lost worker are gone, and of them once it is back', async (context) => {
    const one = await worker(context)
    const { relay, until, sent, finderClock } = relayed(context, { a1: one.url }, undefined, (clock) => clock)
    const agent = {
      agentId: 'a1',
      definition: 'echo',
      path: [],
      state: 'idle',
      seq: 3,
      head: null,
      pendingApprovals: [],
      spent: { usage: noUsage, costUsd: 0, turns: 0 },
    }
    const told = (): readonly (readonly string[])[] =>
      sent.flatMap((frame) => {
        const { type, agents = [], gone = [] } = frame as Told
        return type === 'agents' ? [[...agents.map(({ agentId }) => agentId), ...gone.map((id) => `-${id}`)]] : []
      })
    relay.takes({ type: 'agent.watch', id: 'w1' })
    await one.until((asked) => asked.length === 1)
    one.say({ type: 'agents', agents: [agent], gone: [] })
    await until(() => told().length === 2)
    one.cut()
    await until(() => told().length === 3)
    assert.equal(told(), [[], ['a1'], ['-a1']])
    await finderClock.advance(1_000)
    await one.until((asked) => asked.filter((each) => each.startsWith('agent.watch')).length === 2)
    one.say({ type: 'agents', agents: [agent], gone: [] })
    await until(() => told().length === 4)
    assert.equal(told().at(-1), ['a1'])
  })
})

interface Told {
  readonly type: string
  readonly agents?: readonly { readonly agentId: string }[]
  readonly gone?: readonly string[]
}

describe('an agent that goes elsewhere', (it) => {
  it('is answered for by who has it now, whatever its old worker still says', async (context) => {
    const agents: Record<string, string> = {}
    const old = await worker(context, ({ id }) => {
      if (id !== 'p2') return []
      agents['a1'] = now.url
      return [
        { type: 'error', id: 'p1', code: 'AGENT_ELSEWHERE', message: 'gone' },
        { type: 'ok', id, result: 'of before' },
      ]
    })
    const now = await worker(context, ({ id }) => [{ type: 'ok', id, result: 'as it is' }])
    agents['a1'] = old.url
    const { tell, until, sent } = relayed(context, agents)
    tell('agent.prompt', 'a1', 'p1')
    tell('agent.prompt', 'a1', 'p2')
    await until(() => sent.length === 2)
    assert.equal(
      sent.map((frame) => [frame.id, (frame as { result?: unknown }).result]),
      [
        ['p1', 'as it is'],
        ['p2', 'as it is'],
      ],
    )
  })

  it('is looked for no more once the client has left that read it', async (context) => {
    const one = await worker(context)
    const { relay, tell, until, sent, finderClock } = relayed(context, { a1: one.url })
    tell('agent.subscribe', 'a1', 's1')
    await until(() => sent.length === 1)
    assert.is(finderClock.pending, 1)
    relay.close()
    for (let looks = 0; looks < 2; looks += 1) {
      await finderClock.advance(250)
      await quiet()
    }
    assert.is(finderClock.pending, 0)
  })
})

describe('an agent that nobody has any more', (it) => {
  it('is looked for no more once who wanted to read it was refused', async (context) => {
    const agents: Record<string, string> = {}
    const one = await worker(context, () => {
      delete agents['a1']
      return []
    })
    agents['a1'] = one.url
    const { tell, sent, finderClock } = relayed(context, agents, undefined, (clock) => clock)
    tell('agent.subscribe', 'a1', 's1')
    await one.until((asked) => asked.length === 1)
    one.cut()
    const isRefused = (): boolean => sent.some(({ id, type }) => id === 's1' && type === 'error')
    while (!isRefused()) {
      await finderClock.advance(250)
      await quiet()
    }
    for (let looks = 0; looks < 2; looks += 1) {
      await finderClock.advance(250)
      await quiet()
    }
    assert.is(finderClock.pending, 0)
  })
})

describe('a worker that was paused before its welcome', (it) => {
  it('is heard where its client had read by then', async (context) => {
    const hello = Promise.withResolvers<void>()
    const fake = await fakeWorker(context, () => {
      hello.resolve()
      return []
    })
    const heard = Promise.withResolvers<string>()
    const frame = ({ type }: { readonly type: string }): void => heard.resolve(type)
    const upstream = new Upstream(fake.url, 'token', { clock: systemClock, frame, closed: () => {} })
    context.cleanup(() => upstream.close())
    upstream.pause()
    await hello.promise
    upstream.resume()
    fake.say(welcome)
    await upstream.welcome
    fake.say({ type: 'lagging', agentId: 'a1', seq: 1 })
    assert.is(await heard.promise, 'lagging')
  })
})
