import { emptyChat } from '../../packages/bridge/src/client/fold/chat.ts'
import { foldMessages } from '../../packages/bridge/src/client/fold/foldMessages.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { calls, gate, quiet, resultsOf, saidIn, stalled, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { brittleStore } from '../support/brittleStore.ts'
import { assert, describe } from '../support/suite.ts'

const full = new Error('no space left')

describe('a store that fails', (it) => {
  it('before the model is asked pauses the agent, asks nothing, and loses nothing', async (context) => {
    const store = brittleStore()
    const { agent, script, ofType } = await startAgent(context, { store, replies: ['the answer'] })
    await quiet()
    store.fail = full
    const result = await agent.prompt('go').result
    assert.equal([result.stopReason, result.error?.code], ['paused', 'STORE_APPEND_FAILED'])
    assert.match(result.error!.message, /no space left.*resume/)
    assert.is(agent.state, 'paused')
    assert.is(agent.pause?.type, 'store')
    assert.is(script.requests.length, 0)
    assert.ok(ofType('error').some(({ error }) => error.code === 'STORE_APPEND_FAILED'))
    store.fail = undefined
    const resumed = await agent.resume().result
    assert.equal([resumed.stopReason, resumed.text], ['stop', 'the answer'])
    assert.equal(saidIn(script.requests[0]), ['go'])
    assert.is(agent.pause, null)
  })

  it('refuses what is said meanwhile', async (context) => {
    const store = brittleStore()
    const { agent } = await startAgent(context, { store, replies: ['the answer'] })
    await quiet()
    store.fail = full
    await agent.prompt('go').result
    for (const say of [
      () => agent.prompt('x'),
      () => agent.steer('x'),
      () => agent.followUp('x'),
      () => agent.interrupt('x'),
    ]) {
      assert.throws(say, withCode('AGENT_PAUSED', 'no space left'))
    }
    store.fail = undefined
    await agent.resume().result
  })

  it('in mid-stream stops the reply, brings what was seen of it to an end, and the resumed run answers', async (context) => {
    const store = brittleStore()
    const open = gate()
    const { agent, untilState } = await startAgent(context, {
      store,
      replies: [stalled(['half '], open.promise), 'whole', 'more'],
    })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    await quiet()
    store.fail = full
    agent.followUp('and more')
    assert.is((await run.result).error?.code, 'STORE_APPEND_FAILED')
    open.resolve()
    store.fail = undefined
    assert.is((await agent.resume().result).stopReason, 'stop')
  })

  it('while tools run lets them end, keeps their results, and asks nothing more', async (context) => {
    const store = brittleStore()
    const open = gate<string>()
    const { agent, script, until } = await startAgent(context, {
      store,
      tools: [tool('work', () => open.promise)],
      replies: [calls('c', 'work', 'work'), 'the answer'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    await quiet()
    store.fail = full
    agent.followUp('later')
    await quiet()
    assert.is(agent.state, 'executing')
    open.resolve('worked')
    assert.is((await run.result).error?.code, 'STORE_APPEND_FAILED')
    assert.is(script.requests.length, 1)
    store.fail = undefined
    await agent.resume().result
    assert.equal(resultsOf(script.requests[1]), ['worked', 'worked'])
  })

  it('while a person is asked asks again after the resume, in a chat that was open all the time too', async (context) => {
    const store = brittleStore()
    const open = gate<string>()
    const { agent, events, until, untilState } = await startAgent(context, {
      store,
      tools: [tool('risky', () => 'done', { needsApproval: true }), tool('slow', () => open.promise)],
      replies: [calls('c', 'risky', 'slow'), 'the answer'],
    })
    /** Keys of what waits, by the agent and by a chat that has heard what happened. */
    const waits = (): readonly (readonly string[])[] =>
      [agent.pending(), events.reduce(foldMessages, emptyChat('a1')).pending].map((all) => all.map(({ key }) => key))
    const run = agent.prompt('go')
    await untilState('executing')
    await quiet()
    const [asked] = waits()
    assert.equal([asked?.length, waits()], [1, [asked, asked]])
    store.fail = full
    agent.followUp('later')
    await quiet()
    open.resolve('slowly')
    assert.is((await run.result).stopReason, 'paused')
    assert.equal(waits(), [[], []])
    store.fail = undefined
    const resumed = agent.resume()
    await until((event) => event.type === 'run.start' && event.resumedFrom !== undefined)
    await untilState('paused')
    assert.equal(waits(), [asked, asked])
    agent.decide(asked![0]!, 'approve')
    assert.is((await resumed.result).text, 'the answer')
    assert.equal(waits(), [[], []])
  })

  it('between a call and its start runs the tool once, after the resume', async (context) => {
    const store = brittleStore()
    let ran = 0
    const { agent, script } = await startAgent(context, {
      store,
      tools: [tool('work', () => (ran += 1))],
      replies: [calls('c', 'work'), 'the answer'],
    })
    store.onAppend = (records) => {
      if (records.some(({ type }) => type === 'tool.start')) store.fail ??= full
    }
    assert.is((await agent.prompt('go').result).stopReason, 'paused')
    assert.is(ran, 0)
    store.onAppend = undefined
    store.fail = undefined
    assert.is((await agent.resume().result).text, 'the answer')
    assert.is(ran, 1)
    assert.equal(resultsOf(script.requests[1]), ['1'])
  })

  it('at the end of a run says so in the result, and pauses the agent at rest', async (context) => {
    const store = brittleStore()
    store.onAppend = (records) => {
      if (records.some(({ type }) => type === 'run.end')) store.fail ??= full
    }
    const { agent } = await startAgent(context, { store, replies: ['the answer', 'another'] })
    const result = await agent.prompt('go').result
    assert.equal([result.text, result.error?.code], ['the answer', 'STORE_APPEND_FAILED'])
    assert.is(agent.pause?.type, 'store')
    store.onAppend = undefined
    store.fail = undefined
    assert.is((await agent.resume().result).stopReason, 'stop')
    assert.is(agent.state, 'idle')
    assert.is((await agent.prompt('again').result).text, 'another')
  })

  it('again on resume says so, and goes on once it works', async (context) => {
    const store = brittleStore()
    const { agent, script } = await startAgent(context, { store, replies: ['the answer'] })
    await quiet()
    store.fail = full
    await agent.prompt('go').result
    for (const message of ['still full', 'still full, again']) {
      store.fail = new Error(message)
      const { stopReason, error } = await agent.resume().result
      assert.equal([stopReason, error?.code], ['paused', 'STORE_APPEND_FAILED'])
      assert.match(error!.message, new RegExp(message))
      assert.is(agent.state, 'paused')
    }
    store.fail = undefined
    assert.is((await agent.resume().result).text, 'the answer')
    assert.is(script.requests.length, 1)
  })

  it('after it stored what it was given is sent the same again, and what came later by itself', async (context) => {
    const store = brittleStore()
    const { agent } = await startAgent(context, { store, replies: ['the answer'] })
    await quiet()
    const sent: string[] = []
    store.onAppend = (records) => sent.push(records.map(({ seq }) => seq).join(' '))
    store.fail = new Error('the connection was lost')
    store.storesFirst = true
    await agent.prompt('go').result
    store.fail = undefined
    assert.is((await agent.resume().result).text, 'the answer')
    const [lost, again, rest] = sent
    assert.is(again, lost)
    assert.match(rest ?? '', new RegExp(`^${Number(lost!.split(' ').at(-1)) + 1}( |$)`))
  })

  it('by throwing a string, or an error with a code of its own, is told in the same words', async (context) => {
    const store = brittleStore()
    const { agent } = await startAgent(context, { store, replies: ['the answer'] })
    await quiet()
    store.fail = 'a string'
    assert.match((await agent.prompt('go').result).error!.message, /a string/)
    store.fail = new RuntimeError('STORE_LOCKED', 'Someone took it.')
    assert.is((await agent.resume().result).error?.code, 'STORE_LOCKED')
    store.fail = undefined
    assert.is((await agent.resume().result).text, 'the answer')
  })

  it('by answering an append with nothing asks nothing, and goes on once it keeps its contract', async (context) => {
    const inner = memoryStore()
    let isBroken = false
    const store: Store = {
      ...inner,
      append: (agentId, records) =>
        isBroken ? (undefined as unknown as Promise<void>) : inner.append(agentId, records),
    }
    const { agent, script } = await startAgent(context, { store, replies: ['the answer'] })
    await quiet()
    isBroken = true
    assert.match((await agent.prompt('go').result).error!.message, /no promise/)
    assert.is(script.requests.length, 0)
    isBroken = false
    assert.is((await agent.resume().result).text, 'the answer')
  })

  it('while a call waits for approval is told at the decision, and nothing runs before it works', async (context) => {
    const store = brittleStore()
    let ran = 0
    const { agent, untilState } = await startAgent(context, {
      store,
      tools: [tool('risky', () => (ran += 1), { needsApproval: true })],
      replies: [calls('c', 'risky'), 'the answer'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    await quiet()
    store.fail = full
    agent.decide('c0', 'approve')
    assert.is((await run.result).stopReason, 'paused')
    assert.is(ran, 0)
    store.fail = undefined
    assert.is((await agent.resume().result).text, 'the answer')
    assert.is(ran, 1)
  })

  it('does not swallow a decision made while it fails', async (context) => {
    const store = brittleStore()
    const open = gate()
    const { agent, until, untilState } = await startAgent(context, {
      store,
      tools: [tool('risky', () => 'x', { needsApproval: true }), tool('long', () => open.promise)],
      replies: [calls('c', 'risky', 'long'), 'the answer', 'more'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    await quiet()
    store.fail = full
    agent.followUp('x')
    await quiet()
    open.resolve()
    await run.result
    let refused = false
    try {
      agent.decide('c0', 'approve')
    } catch {
      refused = true
    }
    store.fail = undefined
    const resumed = agent.resume()
    if (refused) {
      await until((event) => event.type === 'run.start' && event.cause === 'resume')
      await untilState('paused')
      agent.decide('c0', 'approve')
    }
    assert.is((await resumed.result).stopReason, 'stop')
  })

  it('can be aborted on', async (context) => {
    const store = brittleStore()
    const { agent } = await startAgent(context, { store, replies: ['a', 'b'] })
    await quiet()
    store.fail = full
    await agent.prompt('go').result
    agent.abort()
    store.fail = undefined
    await agent.resume().result
    assert.ok((await agent.prompt('on').result).stopReason === 'stop')
  })

  it('once, and then stops, still has everything in its log', async (context) => {
    const store = brittleStore()
    const { agent, records } = await startAgent(context, { store, replies: ['a'] })
    await quiet()
    store.fail = full
    await agent.prompt('go').result
    store.fail = undefined
    await agent.stop()
    assert.is((await records()).at(-1)?.type, 'agent.stopped')
  })

  it('for good lets stop say what was not written, and lets go of the log', async (context) => {
    const store = brittleStore()
    const { agent } = await startAgent(context, { store, replies: ['a'], check: false })
    await quiet()
    store.fail = full
    await agent.prompt('go').result
    await assert.rejects(agent.stop(), withCode('STORE_APPEND_FAILED', 'no space left'))
    await agent.stop()
    await (await store.open('a1')).release()
  })

  it('does not touch the agents beside it', async (context) => {
    const store = brittleStore()
    const good = await startAgent(context, { replies: ['fine'] })
    const bad = await startAgent(context, { store, replies: ['never'], check: false })
    store.fail = full
    const [a, b] = await Promise.all([good.agent.prompt('x').result, bad.agent.prompt('x').result])
    assert.equal([a.stopReason, b.stopReason], ['stop', 'paused'])
  })
})
