import { AgentStore, type Followed } from '../../src/client/agentStore.ts'
import { conversationStore } from '../../src/client/conversationStore.ts'
import { Counted } from '../../src/client/counted.ts'
import { RemoteAgent, type AgentOwner } from '../../src/client/remoteAgent.ts'
import { RemoteFeed } from '../../src/client/remoteFeed.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { foldRun, type RunView } from '../../src/client/fold/foldRun.ts'
import { createRuntime, defineAgent, memoryStore, policyModel, type AgentEvent } from '../../../../src/index.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { serveAgents } from '../server/bridgeHarness.ts'
import { own, prompted, toldAgent } from './toldAgent.ts'
import { quiet, tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const talker = defineAgent({ name: 'talker', model: policyModel(() => 'Good day.') })

describe('the store of an agent', (it) => {
  it('is open while somebody listens, and 100 ms longer', async () => {
    const clock = simulatedClock()
    const { agent, calls, tell } = toldAgent()
    const store = new AgentStore(agent, { clock })
    const leave = [store.subscribe(() => {}), store.subscribe(() => {})]
    leave[0]!()
    leave[0]!()
    await clock.advance(1_000)
    assert.equal(calls, ['from 1'])
    tell(prompted(1, 'Hello'))
    leave[1]!()
    await clock.advance(99)
    const last = store.subscribe(() => {})
    await clock.advance(1_000)
    assert.equal(calls, ['from 1'])
    last()
    await clock.advance(100)
    assert.equal(calls, ['from 1', 'end'])
    // It goes on where it was.
    store.subscribe(() => {})
    assert.equal(calls, ['from 1', 'end', 'from 2'])
    assert.is(clock.pending, 0)
  })

  it('tells once of changes that came together, and not before the log is read', async () => {
    const { agent, tell, options } = toldAgent()
    const store = new AgentStore(agent)
    let told = 0
    store.subscribe(() => (told += 1))
    for (const seq of [1, 2, 3]) tell(prompted(seq, 'Hello'))
    await quiet()
    assert.is(told, 0)
    assert.is(store.view.chat.messages.length, 0)
    await options().onCaughtUp!()
    assert.is(store.view.chat.messages.length, 3)
    assert.is(store.view.facts.status, 'idle')
    told = 0
    for (const seq of [4, 5]) tell(prompted(seq, 'Hello'))
    await quiet()
    assert.is(told, 1)
    const { view } = store
    tell({ ...own, seq: 5, type: 'turn.start', runId: 'a/r1', turnIndex: 1 })
    await quiet()
    assert.is(store.view, view)
    assert.ok(Object.isFrozen(view) && Object.isFrozen(view.facts))
    store.close()
  })

  it('takes nothing of what comes after it was closed', async () => {
    const { agent, tell, options } = toldAgent()
    const store = new AgentStore(agent)
    store.open()
    const earlier = options()
    store.close()
    tell(prompted(1, 'Hello'))
    await earlier.onCaughtUp!()
    await earlier.onEnd!({ code: 'AGENT_NOT_FOUND', message: 'There is none.' })
    assert.is(store.chat.messages.length, 0)
    assert.is(store.view, store.initial)
  })

  it('reads a log anew of which the server has lost some while nobody listened', async (context) => {
    const { connect, runtime } = await serveAgents(context, [talker])
    const agent = await runtime.spawn(talker, { id: 'a' })
    await agent.prompt('Hello').result
    const remote = connect().agent('a')
    let seen = 0
    const fresh = {
      id: 'a',
      snapshot: () => remote.snapshot(),
      subscribe: ((listener: never, how: { fromSeq: number }) => {
        if (how.fromSeq > 1) throw new Error('fromSeq is ahead')
        seen += 1
        return remote.subscribe(listener, how)
      }) as Followed['subscribe'],
    }
    const store = new AgentStore(fresh)
    context.cleanup(() => store.close())
    const messages = (): number => store.view.chat.messages.length
    const read = (): Promise<void> =>
      new Promise((resolve) => {
        store.open()
        const look = (): void => void (messages() === 2 && resolve())
        store.listen(look)
        look()
      })
    await read()
    store.close()
    store.open()
    assert.is(store.chat.messages.length, 0)
    assert.is(seen, 2)
    await read()
  })

  it('reports a listener that throws, and tells the others', async () => {
    const { agent, tell, options } = toldAgent()
    const store = new AgentStore(agent)
    let isTold = false
    store.subscribe(() => {
      throw new Error('a view is broken')
    })
    store.subscribe(() => (isTold = true))
    await assert.rejects(options().onCaughtUp!() as Promise<void>, /a view is broken/)
    assert.ok(isTold)
    await assert.rejects(tell(prompted(1, 'Hello')) as Promise<void>, /a view is broken/)
    store.close()
  })
})

describe('a subscription of a client', (it) => {
  it('says when everything was heard, to one that joins it later too, and why it ends', async (context) => {
    const { connect, runtime } = await serveAgents(context, [talker])
    const local = await runtime.spawn(talker, { id: 'a' })
    await local.prompt('Hello').result
    const agent = connect().agent('a')
    const caughtUp = (fromSeq: number): Promise<number> =>
      new Promise((resolve) => {
        let heard = 0
        agent.subscribe(() => (heard += 1), { fromSeq, onCaughtUp: () => resolve(heard) })
      })
    assert.is(await caughtUp(1), local.lastSeq)
    assert.is(await caughtUp(local.lastSeq + 1), 0)
    const ends: unknown[] = []
    const ended = new Promise((resolve) => agent.subscribe(() => {}, { onEnd: (error) => resolve(ends.push(error)) }))
    await local.stop()
    await ended
    const missing = await new Promise<string | undefined>((resolve) =>
      connect()
        .agent('b')
        .subscribe(() => {}, { fromSeq: 1, onEnd: (error) => resolve(error?.code) }),
    )
    assert.equal([...ends, missing], [undefined, 'AGENT_NOT_FOUND'])
  })
})

describe('an agent that does not exist yet', (it) => {
  it('is told to client.onError, and shown once it does', async (context) => {
    const { connect, runtime } = await serveAgents(context, [talker])
    const client = connect()
    const missing = Promise.withResolvers<string>()
    client.onError(({ code }) => missing.resolve(code))
    const store = conversationStore(client.agent('later'))
    context.cleanup(() => store.close())
    const said = Promise.withResolvers<string | undefined>()
    store.subscribe(() => {
      const last = store.getSnapshot().messages.at(-1)
      if (last?.role === 'assistant' && last.text !== '') said.resolve(last.text)
    })
    assert.is(await missing.promise, 'AGENT_NOT_FOUND')
    await runtime.spawn(talker, { id: 'another' })
    const agent = await runtime.spawn(talker, { id: 'later' })
    await agent.prompt('Hello').result
    assert.is(await said.promise, 'Good day.')
  })

  it('is heard from its first record on by who awaits it, and by nobody who has left', async (context) => {
    const { connect, runtime } = await serveAgents(context, [talker])
    const remote = connect().agent('later')
    const ends: unknown[] = []
    const heard = Promise.withResolvers<string>()
    const missing = Promise.withResolvers<void>()
    const onEnd = (error?: { readonly code: string }): void => {
      ends.push(error?.code)
      if (ends.length === 2) missing.resolve()
    }
    let late = 0
    const leave = remote.subscribe(() => (late += 1), { fromSeq: 1, awaits: true, onEnd })
    remote.subscribe(({ type }) => heard.resolve(type), { fromSeq: 1, awaits: true, onEnd })
    await missing.promise
    leave()
    const agent = await runtime.spawn(talker, { id: 'later' })
    assert.is(await heard.promise, 'agent.created')
    await agent.prompt('Hello').result
    assert.equal([ends, late], [['AGENT_NOT_FOUND', 'AGENT_NOT_FOUND'], 0])
  })

  it('is not waited for twice where the roster has what cannot be followed', async () => {
    const asked: string[] = []
    const owner: AgentOwner = {
      clock: simulatedClock(),
      ask: () => new Promise(() => {}),
      askOnce: (frame: { readonly type: string }) => {
        asked.push(frame.type)
        if (frame.type === 'agent.subscribe')
          queueMicrotask(() => feed.close(new RuntimeError('AGENT_NOT_FOUND', 'There is none.')))
      },
      report: () => {},
      onceThere(_: string, call: () => void) {
        asked.push('await')
        queueMicrotask(call)
        return () => {}
      },
    } as unknown as AgentOwner
    const feed = new RemoteFeed('a', owner)
    const agent = new RemoteAgent('a', owner, feed)
    agent.subscribe(() => {}, { fromSeq: 1, awaits: true, onEnd: () => {} })
    await quiet()
    assert.equal(
      asked.filter((type) => type !== 'agent.unsubscribe'),
      ['agent.subscribe', 'await', 'agent.subscribe'],
    )
  })
})

describe('what is kept open while somebody uses it', (it) => {
  it('is opened by each, and closed after the last has been away for a while', async () => {
    const clock = simulatedClock()
    const done: string[] = []
    const counted = new Counted(
      { open: () => done.push('open'), close: () => done.push('close') },
      { clock, graceMs: 5 },
    )
    const leave = counted.enter()
    leave()
    leave()
    await clock.advance(4)
    const again = counted.enter()
    leave()
    await clock.advance(10)
    assert.equal(done, ['open', 'open'])
    again()
    await clock.advance(5)
    assert.equal(done, ['open', 'open', 'close'])
  })
})

describe('a run folded from events', (it) => {
  it('has its reports, its text and its result, and begins anew with the next', async (context) => {
    const runtime = await createRuntime({ store: memoryStore() })
    context.cleanup(() => runtime.close())
    const look = tool('look', (_, { report }) => {
      report(1)
      report(2)
      return 'seen'
    })
    const looking = defineAgent({
      name: 'looking',
      tools: [look],
      model: policyModel(({ messages }) =>
        messages.length === 1 ? { text: 'I look.', toolCalls: [{ name: 'look', input: {} }] } : 'It is there.',
      ),
    })
    const agent = await runtime.spawn(looking, { id: 'a' })
    const seen: (RunView | null)[] = [null]
    agent.subscribe((event) => seen.push(foldRun(seen.at(-1)!, event)))
    const { requestId, result } = agent.prompt('Look.')
    const ended = await result
    const runs = seen.filter((run) => run !== null)
    assert.equal([...new Set(runs.flatMap(({ progress }) => progress.map((one) => one.progress)))], [1, 2])
    assert.ok(runs.every(({ progress }) => progress.length <= 1))
    const last = runs.at(-1)!
    assert.equal([last.requestId, last.status, last.text, last.progress], [requestId, 'stop', 'It is there.', []])
    assert.equal(last.result, ended)
    await agent.prompt('Again.').result
    const first = seen.slice(runs.length + 1).find((run) => run !== null && run.requestId !== requestId)
    assert.equal([first?.status, first?.text, first?.result], ['running', '', undefined])
  })

  it('that was given up while it was paused is aborted', () => {
    const run = { ...own, seq: 1, runId: 'a/r1', turnIndex: 0 }
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    const events = [
      { ...run, type: 'run.start', requestId: 'q' },
      { ...run, type: 'run.end', stopReason: 'paused', turns: 1, usage, costUsd: 0, reason: { type: 'interrupted' } },
      { ...run, type: 'run.abandoned' },
    ] as unknown as AgentEvent[]
    const [, paused, abandoned] = events.map((_, index) =>
      events.slice(0, index + 1).reduce(foldRun, null as RunView | null),
    )
    assert.equal([paused?.status, paused?.result?.reason], ['paused', { type: 'interrupted' }])
    assert.equal([abandoned?.status, abandoned?.result?.stopReason], ['aborted', 'aborted'])
  })
})
