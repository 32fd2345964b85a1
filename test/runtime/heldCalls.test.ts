import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { calls, counter, tool } from '../support/agentHarness.ts'
import { lateStore } from '../support/lateStore.ts'
import { checkLog } from '../support/journeyRules.ts'
import { recordsOf } from '../journeys/cutLogs.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const risky = tool('risky', () => 'done', { needsApproval: true })

const alone = (...replies: readonly ScriptedReply[]) =>
  defineAgent({ name: 'a', model: scriptedModel(replies), tools: [risky] })

const withBelow = (root: readonly ScriptedReply[], below: readonly ScriptedReply[]) =>
  defineAgent({
    name: 'a',
    model: scriptedModel(root),
    agents: [defineAgent({ name: 'below', model: scriptedModel(below), tools: [risky] })],
  })

/** Each store that it is given outlives its runtimes. */
async function runtimeOn({ cleanup }: CaseContext, store: Store): Promise<Runtime> {
  const runtime = await createRuntime({ store, clock: simulatedClock(), newId: counter('q') })
  cleanup(() => runtime.close().catch(() => {}))
  return runtime
}

const lasting = (): Store => ({ ...lateStore(), close: async () => {} })

describe('a call that was held, on a store that answers late', (it) => {
  for (const verb of ['resume', 'open'] as const)
    it(`can be decided as soon as ${verb} has resolved`, async (context) => {
      const store = lasting()
      const here = await runtimeOn(context, store)
      const agent = await here.spawn(alone(calls('c', 'risky')), { id: 'a' })
      agent.prompt('go')
      await agent.settled()
      await here.close({ detach: true })
      const before = await recordsOf(store, 'a')

      const there = await runtimeOn(context, store)
      const again = await (verb === 'open' ? there.open('a', alone('ok')) : there.resume('a', alone('ok')))
      again.decide('c0', 'approve')
      assert.is((await again.settled()).status, 'idle')
      const after = await recordsOf(store, 'a')
      assert.equal(checkLog(after, { isWhole: true }), [])
      assert.is(after[before.length]?.type, 'approval.decided')
      assert.is(after.filter(({ type }) => type === 'run.start').length, 1)
    })

  it('can be decided as soon as its caller has been resumed', async (context) => {
    const store = lasting()
    const here = await runtimeOn(context, store)
    const agent = await here.spawn(withBelow([calls('r', ['below', { task: 'x' }])], [calls('c', 'risky')]), {
      id: 'a',
    })
    agent.prompt('go')
    const settled = await agent.settled()
    if (settled.status !== 'waiting') throw new Error(settled.status)
    const { key } = settled.pending[0]!
    await here.close({ detach: true })

    const there = await runtimeOn(context, store)
    const again = await there.resume('a', withBelow(['ok'], ['told']))
    again.decide(key, 'approve')
    assert.is((await again.settled()).status, 'idle')
    const results = (await recordsOf(store, 'a')).flatMap((record) => (record.type === 'tool.end' ? [record] : []))
    assert.equal(
      results.map(({ message }) => message.content),
      [[{ type: 'text', text: 'told' }]],
    )
  })

  it('is not skipped by a prompt that comes right after', async (context) => {
    const store = lasting()
    const here = await runtimeOn(context, store)
    const agent = await here.spawn(alone(calls('c', 'risky')), { id: 'a' })
    agent.prompt('go')
    await agent.settled()
    await here.close({ detach: true })

    const there = await runtimeOn(context, store)
    const again = await there.resume('a', alone('ok', 'next'))
    const run = again.prompt('another thing')
    const settled = await again.settled()
    assert.equal(settled.status === 'waiting' && settled.pending.map(({ callId }) => callId), ['c0'])
    again.decide('c0', 'approve')
    assert.is((await run.result).text, 'next')
    const ends = (await recordsOf(store, 'a')).flatMap((record) => (record.type === 'tool.end' ? [record] : []))
    assert.equal(
      ends.map(({ message }) => message.content),
      [[{ type: 'text', text: 'done' }]],
    )
  })
})
