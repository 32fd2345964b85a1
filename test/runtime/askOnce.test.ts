import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { never, withCode } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const output = z.object({ n: z.number() })

/** A store that outlives its runtime. */
function lasting(): Store {
  const { close: _, ...store } = memoryStore()
  return { ...store, close: async () => {} }
}

async function begin({ cleanup }: CaseContext, store: Store = memoryStore()) {
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close())
  return runtime
}

function rater(replies: readonly ScriptedReply[]) {
  const model = scriptedModel(replies)
  return { model, agent: defineAgent({ name: 'rater', model, output }) }
}

describe('agent.askOnce', (it) => {
  it('asks once under a key, also at the same time and in the next process', async (context) => {
    const store = lasting()
    const before = await createRuntime({ store })
    const first = rater(['{"n":1}', '{"n":2}'])
    const agent = await before.spawn(first.agent, { id: 'a' })
    const [one, same] = await Promise.all([agent.askOnce('k', 'Rate it.'), agent.askOnce('k', 'Rate it.')])
    assert.equal([one.output, same.output, first.model.requests.length], [{ n: 1 }, { n: 1 }, 1])
    assert.equal((await agent.askOnce('other', 'And that.')).output, { n: 2 })
    await before.close()
    const second = rater([])
    const again = await (await begin(context, store)).open('a', second.agent)
    const result = await again.askOnce('k', 'Rate it.')
    assert.ok(result.stopReason === 'stop')
    const n: number = result.output.n
    assert.equal([n, (await again.result())?.output, (await again.result('other'))?.output], [1, { n: 2 }, { n: 2 }])
    assert.is(await again.result('unknown'), undefined)
    assert.is(second.model.requests.length, 0)
  })

  it('refuses a key that is none', async (context) => {
    const agent = await (await begin(context)).spawn(rater([]).agent)
    for (const key of ['', 'x'.repeat(129), 7]) {
      await assert.rejects(agent.askOnce(key as string, 'x'), withCode('INVALID_OPTION', 'askOnce takes a key'))
    }
  })
})

describe('agent.askOnce with what cannot be asked', (it) => {
  it('rejects with what is wrong with it, loaded or not, and can be asked again', async (context) => {
    const store = lasting()
    const runtime = await begin(context, store)
    const agent = await runtime.spawn(rater(['{"n":1}']).agent, { id: 'a' })
    for (const content of ['', 7, []]) await assert.rejects(agent.askOnce('k', content as string), /content/)
    assert.is(await agent.result('k'), undefined)
    assert.equal((await agent.askOnce('k', 'Rate it.')).output, { n: 1 })
  })
})

describe('agent.result', (it) => {
  it('is that of a run which another process began', async (context) => {
    const store = lasting()
    const before = await createRuntime({ store })
    const cut = rater([() => never])
    const agent = await before.spawn(cut.agent, { id: 'a' })
    agent.prompt('Rate it.')
    await agent.durable()
    await before.close({ detach: true })
    const { agent: definition } = rater(['{"n":5}'])
    const result = await (await (await begin(context, store)).open('a', definition)).result()
    assert.ok(result?.stopReason === 'stop')
    assert.equal(result.output, { n: 5 })
  })

  it('is nothing where nothing was asked, and waits for people, but not for a pause', async (context) => {
    const runtime = await begin(context)
    const tool = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({}),
      needsApproval: true,
      run: () => 'paid',
    })
    const model = scriptedModel([
      { toolCalls: [{ name: 'pay', input: {} }] },
      { toolCalls: [{ name: 'pay', input: {} }] },
    ])
    const agent = await runtime.spawn(defineAgent({ name: 'payer', model, tools: [tool], limits: { turns: 1 } }))
    assert.is(await agent.result(), undefined)
    const asked = Promise.withResolvers<string>()
    agent.subscribe((event) => event.type === 'approval.requested' && asked.resolve(event.key))
    const result = agent.askOnce('k', 'Pay.')
    let isOver = false
    void result.then(() => (isOver = true))
    const key = await asked.promise
    await agent.settled()
    assert.is(isOver, false)
    agent.decide(key, 'approve')
    assert.is((await result).stopReason, 'paused')
    assert.is((await agent.result('k'))?.reason?.type, 'limit')
  })

  it('says that a run was dropped before it began, and that its agent has ended', async (context) => {
    const runtime = await begin(context)
    const agent = await runtime.spawn(rater([() => never]).agent)
    const running = agent.askOnce('one', 'x')
    const waiting = agent.askOnce('two', 'y')
    await agent.durable()
    await agent.stop()
    assert.equal([(await running).stopReason, (await waiting).stopReason], ['aborted', 'aborted'])
  })
})

describe('a decision that is none', (it) => {
  it('is answered with what a caller may write', async (context) => {
    const agent = await (await begin(context)).spawn(rater([]).agent)
    for (const wrong of ['yes', {}, { answer: true }])
      assert.throws(
        () => agent.decide('k', wrong as never),
        withCode('INVALID_OPTION', 'give "approve" or "deny" for an approval, { value } for a question'),
      )
  })
})
