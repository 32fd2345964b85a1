import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { scriptedModel, type ScriptedReply } from '../../evaluation/src/testing/scriptedModel.ts'
import { parallel } from '../src/parallel.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { never, quiet, startAgent, usageOf } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const scripted = (name: string, replies: readonly ScriptedReply[]) =>
  defineAgent({ name, model: scriptedModel(replies) })

const failing: ScriptedReply = { error: { kind: 'auth', message: 'no key' } }

describe('a group', (it) => {
  it('keeps the winner alive when asked to, and closes the others', async (context) => {
    const { agent } = await startAgent(context)
    const entries = [scripted('a', ['a']), scripted('b', ['b', 'more'])]
    const { winner } = await parallel(agent, entries, 'go', { judge: (branches) => branches[1]!, keep: true })
    const [kept, ...others] = agent.children()
    assert.equal([kept?.id, others], [winner?.agentId, []])
    assert.is((await kept!.prompt('more').result).text, 'more')
    await kept!.close()
  })

  it('keeps all that ended well alive when asked to, without a judge', async (context) => {
    const { agent } = await startAgent(context)
    await parallel(agent, [scripted('a', ['a']), scripted('failing', [failing]), scripted('b', ['b'])], 'go', {
      keep: true,
    })
    assert.equal(
      agent.children().map(({ definition }) => definition),
      ['a', 'b'],
    )
  })

  it('is aborted by its signal: every branch in the same tick', async (context) => {
    const { agent } = await startAgent(context)
    const signals: AbortSignal[] = []
    const slow: ScriptedReply = (_, { signal }) => {
      signals.push(signal)
      return never
    }
    const abort = new AbortController()
    const entries = [scripted('quick', ['done']), scripted('b', [slow]), scripted('c', [slow])]
    const judge = { model: scriptedModel([]) }
    const group = parallel(agent, entries, 'go', { judge, signal: abort.signal })
    while (signals.length < 2 || agent.children().length > 2) await quiet()
    abort.abort()
    assert.equal(
      signals.map(({ aborted }) => aborted),
      [true, true],
    )
    const { winner, branches } = await group
    assert.is(winner, null)
    assert.equal(
      branches.map(({ result }) => result.stopReason),
      ['stop', 'aborted', 'aborted'],
    )
    assert.equal(agent.children(), [])
    assert.equal(judge.model.requests, [])
  })

  it('is aborted while its judge thinks', async (context) => {
    const { agent } = await startAgent(context)
    for (const judge of [() => never, { model: scriptedModel([() => never]) }]) {
      const abort = new AbortController()
      const entries = [scripted('a', ['a']), scripted('b', ['b'])]
      const group = parallel(agent, entries, 'go', { judge, signal: abort.signal })
      for (let i = 0; i < 10; i += 1) await quiet()
      abort.abort()
      const { winner, branches } = await group
      assert.is(winner, null)
      assert.is(branches.length, 2)
      assert.equal(agent.children(), [])
    }
  })

  it('begins nothing when its signal was aborted before', async (context) => {
    const { agent, store } = await startAgent(context)
    const group = await parallel(agent, [scripted('a', [])], 'go', { signal: AbortSignal.abort() })
    assert.equal(group, { winner: null, branches: [], usage: usageOf(0, 0), costUsd: 0 })
    assert.equal(await store.list(), ['a1'])
  })

  it('prompts nobody when it is aborted while its agents are spawned', async (context) => {
    const { agent } = await startAgent(context)
    const model = scriptedModel([])
    const abort = new AbortController()
    const group = parallel(agent, [defineAgent({ name: 'a', model })], 'go', { signal: abort.signal })
    abort.abort()
    assert.equal((await group).branches, [])
    assert.equal(model.requests, [])
    assert.equal(agent.children(), [])
  })

  it('is aborted with its parent', async (context) => {
    const { agent } = await startAgent(context)
    const group = parallel(agent, [scripted('a', [() => never]), scripted('b', [() => never])], 'go', {
      judge: 'cheapest',
    })
    while (agent.children().length < 2 || agent.children().some(({ state }) => state === 'idle')) await quiet()
    agent.abort()
    const { winner, branches } = await group
    assert.is(winner, null)
    assert.equal(
      branches.map(({ result }) => result.stopReason),
      ['aborted', 'aborted'],
    )
  })

  it('closes what it has when one agent cannot be spawned', async (context) => {
    const inner = memoryStore()
    let opens = 0
    const store: typeof inner = {
      ...inner,
      open: async (agentId) => {
        opens += 1
        if (opens === 3) throw new Error('no room on the disk')
        return inner.open(agentId)
      },
    }
    const { agent } = await startAgent(context, { store })
    const model = scriptedModel([])
    const entries = ['a', 'b', 'c'].map((name) => defineAgent({ name, model }))
    await assert.rejects(parallel(agent, entries, 'go'), /no room on the disk/)
    assert.is(opens, 4)
    assert.equal(agent.children(), [])
    assert.equal(model.requests, [])
  })
})
