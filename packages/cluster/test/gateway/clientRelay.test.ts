import { once } from 'node:events'
import { WebSocket } from 'ws'
import { systemClock, type Clock } from '../../../../src/protocol/ports/clock.ts'
import { toErrorInfo } from '../../../../src/protocol/errors.ts'
import type { Command, FrontClient } from '../../../bridge/src/server/front.ts'
import { AgentFinder } from '../../src/gateway/agentFinder.ts'
import { ClientRelay } from '../../src/gateway/clientRelay.ts'
import { Upstream } from '../../src/gateway/upstream.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { quiet } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { fakeWorker, welcome } from './fakeWorker.ts'

interface Asked {
  readonly type: string
  readonly id: string
}

/** A worker that answers each command with what `answer` says of it; `asked`: what it was told. */
async function worker(context: CaseContext, answer: (command: Asked) => readonly object[] = yes) {
  const asked: string[] = []
  const heard: (() => void)[] = []
  const fake = await fakeWorker(context, (text) => {
    const command = JSON.parse(text) as Asked
    if (command.type === 'hello') return [welcome]
    asked.push(`${command.type} ${command.id}`)
    for (const resolve of heard.splice(0)) resolve()
    return answer(command)
  })
  const until = async (isThere: (list: readonly string[]) => boolean): Promise<void> => {
    while (!isThere(asked)) await new Promise<void>((resolve) => heard.push(resolve))
  }
  /** Resolves once what it has sent so far would have come, where somebody reads. */
  const passed = async (): Promise<void> => {
    const socket = new WebSocket(fake.url)
    context.cleanup(() => socket.terminate())
    await once(socket, 'open')
    for (let turn = 0; turn < 5; turn += 1) {
      socket.send('{"type":"hello"}')
      await once(socket, 'message')
    }
    socket.terminate()
  }
  return { ...fake, asked, until, passed }
}

const yes = ({ id }: Asked): readonly object[] => [{ type: 'ok', id, result: null }]

/** One client of a gateway to these agents, by the address of each. */
function relayed(
  context: CaseContext,
  agents: Readonly<Record<string, string>>,
  checkReach: (agentId: string) => Promise<void> | undefined = () => undefined,
  clockOf: (finderClock: Clock) => Clock = () => systemClock,
) {
  const finderClock = simulatedClock()
  const finder = new AgentFinder({
    whoHas: (agentId) => {
      const url = agents[agentId]
      // Without an address: who has it serves nobody.
      return url === undefined ? undefined : url === '' ? {} : { url }
    },
    workers: async () => Object.values(agents),
    place: undefined,
    clock: finderClock,
    failed: () => {},
  })
  const sent: { readonly type: string; readonly id?: string; readonly message?: string }[] = []
  const heard: (() => void)[] = []
  const drains: (() => void)[] = []
  const outbox = {
    isFull: false,
    send(frame: string) {
      sent.push(JSON.parse(frame) as Asked)
      for (const resolve of heard.splice(0)) resolve()
    },
    onDrain: (call: () => void) => {
      drains.push(call)
      return () => {}
    },
    flush: () => {},
  }
  const failures: string[] = []
  const client: FrontClient = {
    permit: { grant: { role: 'admin' }, owner: undefined, isGranted: () => true },
    session: { id: 's', isProven: true },
    outbox,
    fail: ({ code }) => void failures.push(code),
  }
  const gateway = {
    finder,
    clock: clockOf(finderClock),
    tokensOf: () => () => 'token',
    checkReach,
    outward: (thrown: unknown) => toErrorInfo(thrown, 'INTERNAL'),
    entriesOf: async () => [],
    lostWorker: () => {},
  }
  const relay = new ClientRelay(gateway, client)
  context.cleanup(() => {
    relay.close()
    finder.close()
  })
  return {
    relay,
    sent,
    finderClock,
    failures,
    tell: (type: string, agentId: string, id: string): void =>
      void relay.takes({ type, agentId, id, content: 'x' } as unknown as Command),
    until: async (isThere: () => boolean): Promise<void> => {
      while (!isThere()) await new Promise<void>((resolve) => heard.push(resolve))
    },
    fills: (isFull: boolean): void => {
      outbox.isFull = isFull
      if (!isFull) for (const call of drains.splice(0)) call()
    },
    answers: () => sent.flatMap(({ id }) => (id === undefined ? [] : [id])),
  }
}

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
