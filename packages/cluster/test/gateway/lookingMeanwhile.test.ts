import { quiet } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { relayed, worker } from './relayed.ts'

/** A client of an agent whose worker the directory, or whose reach the gateway, does not say yet. */
async function begun(context: CaseContext, held: 'directory' | 'reach') {
  const one = await worker(context)
  const { promise, resolve } = Promise.withResolvers<void>()
  const agents = { a1: held === 'directory' ? promise.then(() => one.url) : one.url }
  const client = relayed(context, agents, () => (held === 'reach' ? promise : undefined))
  return { one, says: resolve, ...client }
}

describe('while it is looked up where an agent of a client is, or whether it may', (it) => {
  for (const held of ['directory', 'reach'] as const) {
    it(`further commands wait, and each is said once: ${held}`, async (context) => {
      const { one, says, tell, until, answers } = await begun(context, held)
      for (const id of ['p1', 'p2', 'p3']) tell('agent.prompt', 'a1', id)
      says()
      await until(() => answers().length === 3)
      await one.passed()
      assert.equal(one.asked, ['agent.prompt p1', 'agent.prompt p2', 'agent.prompt p3'])
    })

    it(`a client that leaves is connected with no worker: ${held}`, async (context) => {
      const { one, says, tell, relay } = await begun(context, held)
      tell('agent.prompt', 'a1', 'p1')
      relay.close()
      says()
      await one.passed()
      // The one that asked just now.
      assert.equal([one.asked, one.seen.connections], [[], 1])
    })
  }

  it('a client that leaves afterwards leaves its workers', async (context) => {
    const { one, says, tell, relay, until, answers, lost } = await begun(context, 'directory')
    tell('agent.prompt', 'a1', 'p1')
    says()
    await until(() => answers().length === 1)
    assert.equal(one.seen, { connections: 1, closed: 0 })
    relay.close()
    await one.left(1)
    await one.passed()
    // It is the client that has gone.
    assert.equal(lost, [])
  })

  it('a client that leaves is not connected again for what it may', async (context) => {
    const one = await worker(context)
    const { promise, resolve } = Promise.withResolvers<void>()
    const looks: Promise<void>[] = []
    const { tell, relay, until, answers } = relayed(context, { a1: one.url }, () => looks[0])
    tell('agent.prompt', 'a1', 'p1')
    await until(() => answers().length === 1)
    looks.push(promise)
    tell('agent.prompt', 'a1', 'p2')
    relay.close()
    resolve()
    await one.passed()
    assert.equal([one.asked, one.seen.connections], [['agent.prompt p1'], 2])
  })

  it('a client that leaves is told no more of what may be spawned', async (context) => {
    const { relay, sent, finderClock } = relayed(context, {}, undefined, (clock) => clock)
    await relay.begin()
    assert.equal(relay.definitions, [])
    relay.close()
    await finderClock.advance(5_000)
    await quiet()
    assert.equal([sent, finderClock.pending], [[], 0])
  })

  it('a command stays behind each that is still looked up', async (context) => {
    const one = await worker(context)
    const looks = new Map(['a1', 'a2'].map((id) => [id, Promise.withResolvers<void>()]))
    const agents = { a1: one.url, a2: one.url, a3: one.url }
    const { tell, until, answers } = relayed(context, agents, (agentId) => looks.get(agentId)?.promise)
    tell('agent.prompt', 'a1', 'p1')
    tell('agent.prompt', 'a2', 'p2')
    looks.get('a1')!.resolve()
    await until(() => answers().length === 1)
    tell('agent.prompt', 'a3', 'p3')
    await one.passed()
    assert.equal(one.asked, ['agent.prompt p1'])
    looks.get('a2')!.resolve()
    await until(() => answers().length === 3)
    assert.equal(one.asked, ['agent.prompt p1', 'agent.prompt p2', 'agent.prompt p3'])
  })
})

describe('what a client of a gateway waits for', (it) => {
  it('is no more than what has no answer yet, however each ends', async (context) => {
    const refusal = { type: 'error', code: 'INVALID_OPTION', message: 'no' }
    const one = await worker(context, ({ type, id }) => [
      type === 'agent.prompt' ? { type: 'ok', id, result: null } : { ...refusal, id },
    ])
    const reach = async (agentId: string): Promise<void> => {
      if (agentId === 'foreign') throw new Error('there is no such agent')
    }
    const { tell, until, answers, relay } = relayed(context, { a1: one.url, foreign: one.url }, reach)
    tell('agent.prompt', 'a1', 'well')
    tell('agent.abort', 'a1', 'refused')
    tell('agent.subscribe', 'a1', 'unread')
    tell('agent.prompt', 'foreign', 'out of reach')
    assert.is(relay.waiting, 4)
    await until(() => answers().length === 4)
    assert.is(relay.waiting, 0)
  })

  it('is what a worker of the first three that are there says may be spawned', async (context) => {
    const one = await worker(context)
    const agents: Record<string, string> = {}
    for (let at = 0; at < 30; at += 1)
      Object.assign(agents, { [`live${at}`]: `${one.url}/${at}`, [`dead${at}`]: `ws://127.0.0.1:1/${at}` })
    const { relay, finder } = relayed(context, agents)
    // Of all of them there is one, which is asked after two that do not answer.
    const order = await finder.workers('s')
    const live = order.findLast((url) => url.startsWith(one.url))!
    const dead = order.slice(0, order.indexOf(live)).filter((url) => !url.startsWith(one.url))
    for (const id of Object.keys(agents)) delete agents[id]
    for (const url of [live, ...dead.slice(0, 2)]) agents[url] = url
    await relay.begin()
    assert.equal([relay.definitions, await finder.workers('s')], [['echo'], [...dead.slice(0, 2), live]])
  })
})

describe('a client of a gateway whose answers fill what may wait to be sent', (it) => {
  it('goes on reading at once where writing it makes room', async (context) => {
    const one = await worker(context)
    const { tell, until, answers, outbox } = relayed(context, { a1: one.url })
    outbox.flushes = true
    for (const id of ['p1', 'p2', 'p3']) {
      outbox.isFull = true
      tell('agent.prompt', 'a1', id)
      await until(() => answers().includes(id))
    }
  })
})
