import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, gate, quiet, saidIn, startAgent, tool } from '../support/agentHarness.ts'
import { brittleStore } from '../support/brittleStore.ts'
import { caller, ends, Lives, logOf, paused, types, until } from '../support/lives.ts'
import { assert, describe } from '../support/suite.ts'
import { runtimeOver } from './cutLogs.ts'

describe('a paused run that is given up', (it) => {
  it('for another prompt stays so, even if the process dies before that has begun', async (context) => {
    const lives = new Lives(context)
    const limited = () =>
      defineAgent({ name: 'limited', model: caller(['work']), tools: [tool('work', () => 1)], limits: { turns: 1 } })
    const first = await lives.begin(limited(), 'go')
    await paused(first.agent)
    // It is done first, at rest.
    const compacts = until(first.agent, ({ type }) => type === 'compaction.start')
    first.agent.compact()
    first.agent.prompt('something else')
    await compacts
    const all = (await first.logs())['a1']!
    const dies = types(all).lastIndexOf('compaction.start') + 1
    assert.not.ok(types(all.slice(types(all).indexOf('run.end'), dies)).includes('run.start'))

    const next = await lives.resume(limited(), { a1: all.slice(0, dies) }, { continue: false })
    assert.equal([next.agent.state, next.agent.pause], ['paused', { type: 'interrupted' }])
    const ended = ends(next.agent)
    next.agent.resume()
    await ended
    const records = (await next.logs())['a1']!
    const begun = records.flatMap((record) => (record.type === 'run.start' ? [[record.cause, record.resumedFrom]] : []))
    assert.equal(begun, [
      ['prompt', undefined],
      ['prompt', undefined],
    ])
  })

  it('while its store fails is not gone on with after a restart', async (context) => {
    const store = brittleStore()
    const open = gate<string>()
    const {
      agent,
      until: untilEvent,
      untilState,
    } = await startAgent(context, {
      store,
      tools: [tool('work', () => open.promise)],
      replies: [calls('c', 'work'), 'never asked'],
    })
    const run = agent.prompt('go')
    await untilEvent((event) => event.type === 'tool.start')
    await quiet()
    store.fail = new Error('no space left')
    agent.followUp('later')
    await quiet()
    open.resolve('worked')
    assert.is((await run.result).stopReason, 'paused')
    agent.abort()
    assert.is(agent.pause?.type, 'store')
    store.fail = undefined
    agent.resume()
    await untilState('idle')
    assert.is(agent.pause, null)
    await agent.durable()
    const records = await logOf(store, agent.id)
    assert.equal(types(records).slice(-1), ['run.abandoned'])

    const model = scriptedModel(['the answer'])
    const [created] = records
    assert.is(created?.type, 'agent.created')
    const definition = defineAgent({ name: created?.type === 'agent.created' ? created.definition : '', model })
    const { runtime } = await runtimeOver(context, { [agent.id]: records })
    const again = await runtime.resume(agent.id, definition)
    assert.equal([again.state, again.pause], ['idle', null])
    assert.is((await again.prompt('another').result).stopReason, 'stop')
    assert.equal(saidIn(model.requests[0]).slice(-1), ['another'])
  })
})
