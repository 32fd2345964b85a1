import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { loadSession } from '../../packages/sessions/src/loadSession.ts'
import { readHistory } from '../../src/log/readHistory.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { calls, gate, saidIn, stalled, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { checkRebuild, idsOf, look, openRuntime, recordsOf, runEnd, talker, textsOf } from './forking.ts'

describe('a fork in the middle of a run', (it) => {
  it('goes on from there with the past it shares, and copies none of it', async (context) => {
    const { agent, store } = await startAgent(context, {
      tools: [look()],
      replies: [calls('a', 'look'), calls('b', 'look'), 'found'],
    })
    await agent.prompt('search').result
    assert.equal(idsOf(agent), [1, 2, 3, 4, 5, 6])
    const { agentId } = await forkSession(store, 'a1', 'n3', { id: 'f1' })
    const runtime = await openRuntime(context, store)
    const { model, definition } = talker(['found it another way'])
    const fork = await runtime.resume(agentId, definition)
    await runEnd(fork)
    assert.equal(idsOf(fork), [1, 2, 3, 4])
    assert.is(textsOf(fork).at(-1), 'assistant: found it another way')
    const [request] = model.requests
    assert.equal(
      request?.messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult'],
    )
    const records = await recordsOf(store, 'f1')
    assert.equal(
      records.map(({ type, seq }) => `${seq} ${type}`),
      ['1 agent.created', '2 run.start', '3 turn.start', '4 reply.end', '5 turn.end', '6 run.end'],
    )
    const start = records[1]!
    assert.ok(start.type === 'run.start')
    assert.equal([start.cause, start.runId, start.resumedFrom, start.turnIndex], ['resume', 'f1/r1', 'a1/r0', 1])
    await checkRebuild(store, fork)
  })

  it('stays paused when asked to, and goes on when it is told', async (context) => {
    const { agent, store } = await startAgent(context, { tools: [look()], replies: [calls('a', 'look'), 'found'] })
    await agent.prompt('search').result
    await forkSession(store, 'a1', 1, { id: 'f1' })
    const runtime = await openRuntime(context, store)
    const { definition } = talker(['no need to look'])
    const fork = await runtime.resume('f1', definition, { continue: false })
    assert.equal([fork.state, fork.pause?.type], ['paused', 'interrupted'])
    assert.equal(idsOf(fork), [1])
    const result = await fork.resume().result
    assert.equal([result.text, result.stopReason], ['no need to look', 'stop'])
    await checkRebuild(store, fork)
  })

  it('has what was left of the run’s allowance, not a fresh one', async (context) => {
    const { agent, store } = await startAgent(context, {
      tools: [look()],
      replies: [calls('a', 'look'), calls('b', 'look'), 'found'],
    })
    await agent.prompt('search', { limits: { turns: 3, ms: 60_000 } }).result
    await forkSession(store, 'a1', 'n5', { id: 'f1', clock: { now: () => 9e9, after: () => () => {} } })
    const { past, records } = await readHistory(store, 'f1')
    const { pausedLimits, pausedRun, pause, run } = rebuildContext(records, past)
    assert.equal(pausedLimits, { turns: 1, ms: 60_000 })
    assert.equal([pausedRun, pause, run], ['a1/r0', { type: 'interrupted' }, null])
    const runtime = await openRuntime(context, store)
    const { definition } = talker([calls('c', 'look'), 'too much'])
    const fork = await runtime.resume('f1', definition, { continue: false })
    const result = await fork.resume().result
    assert.equal([result.stopReason, result.turns], ['paused', 1])
  })

  it('leaves messages that waited, and reverts that were asked for, with the source', async (context) => {
    const opened = gate()
    const { agent, store, until } = await startAgent(context, {
      braking: { revert: true },
      tools: [tool('wait', () => opened.promise.then(() => 'waited'))],
      replies: [
        calls('a', ['revert_to_state', { category: 'failure', step: 'n1' }], 'wait'),
        'after',
        'more',
        'second answer',
      ],
    })
    const run = agent.prompt('go')
    await until(({ type }) => type === 'revert.requested')
    agent.followUp('then this')
    const later = agent.prompt('later')
    opened.resolve()
    await Promise.all([run.result, later.result])
    const { past } = await readHistory(store, (await forkSession(store, 'a1', 'n4', { id: 'f1' })).agentId)
    assert.ok(past.some(({ type }) => type === 'revert.requested'))
    assert.is(past.at(-1)?.type, 'tool.end')
    assert.not.ok(past.some(({ type }) => type === 'revert.applied'))
    const runtime = await openRuntime(context, store)
    const model = scriptedModel(['going on'])
    const definition = defineAgent({ name: 'tester', model, tools: [look()], braking: { revert: true } })
    const fork = await runtime.resume('f1', definition)
    await runEnd(fork)
    assert.equal(idsOf(fork), [1, 2, 3, 4, 5])
    assert.equal(saidIn(model.requests[0]).length, 1)
    assert.equal([fork.state, (fork.conversation as Conversation).queues.prompts], ['idle', []])
    await checkRebuild(store, fork)
  })
})

describe('a fork at an answer', (it) => {
  it('is idle, and takes a prompt of its own', async (context) => {
    const { agent, store } = await startAgent(context, { replies: ['one', 'two'] })
    await agent.prompt('first').result
    await agent.prompt('second').result
    await forkSession(store, 'a1', 'n2', { id: 'f1' })
    const runtime = await openRuntime(context, store)
    const { model, definition } = talker(['three'])
    const fork = await runtime.resume('f1', definition)
    assert.equal([fork.state, fork.pause], ['idle', null])
    const result = await fork.prompt('other').result
    assert.is(result.text, 'three')
    assert.equal(saidIn(model.requests[0]), ['first', 'other'])
    assert.equal(textsOf(fork), ['user: first', 'assistant: one', 'user: other', 'assistant: three'])
    assert.equal(textsOf(agent), ['user: first', 'assistant: one', 'user: second', 'assistant: two'])
    await checkRebuild(store, fork)
    await fork.close()
    // Its own process may die and come back, too.
    const again = await (await openRuntime(context, store)).resume('f1', talker(['four']).definition)
    assert.is((await again.prompt('and').result).text, 'four')
    assert.equal(idsOf(again), [1, 2, 3, 4, 5, 6])
    await checkRebuild(store, again)
  })

  it('can be made of an agent that runs, which goes on undisturbed', async (context) => {
    const opened = gate()
    const { agent, store } = await startAgent(context, {
      replies: ['one', stalled(['two'], opened.promise)],
    })
    await agent.prompt('first').result
    const run = agent.prompt('second')
    await forkSession(store, 'a1', 'n2', { id: 'f1' })
    const runtime = await openRuntime(context, store)
    const fork = await runtime.resume('f1', talker(['mine']).definition)
    assert.is((await fork.prompt('meanwhile').result).text, 'mine')
    opened.resolve()
    assert.is((await run.result).text, 'twolate')
    assert.equal(textsOf(fork), ['user: first', 'assistant: one', 'user: meanwhile', 'assistant: mine'])
    await checkRebuild(store, fork)
  })

  it('is possible where the source was stopped or aborted', async (context) => {
    const { agent, store, until } = await startAgent(context, {
      replies: ['one', stalled(['par', 'tial'], new Promise(() => {}))],
    })
    await agent.prompt('first').result
    const run = agent.prompt('second')
    await until((event) => event.type === 'reply.delta' && event.text === 'tial')
    agent.abort()
    await run.result
    await agent.stop()
    await forkSession(store, 'a1', 'n4', { id: 'f1' })
    const runtime = await openRuntime(context, store)
    const fork = await runtime.resume('f1', talker(['anew']).definition)
    assert.equal(textsOf(fork).at(-1), 'assistant: partial')
    assert.is((await fork.prompt('again').result).text, 'anew')
    await checkRebuild(store, fork)
  })
})

/** Counts to three by a tool, then answers; decided from the request alone. */
const counting = (): { definition: AgentDefinition; requests: ModelRequest[]; keys: string[] } => {
  const requests: ModelRequest[] = []
  const keys: string[] = []
  const model = policyModel((request) => {
    requests.push(request)
    const done = request.messages.filter(({ role }) => role === 'toolResult').length
    if (done < 6)
      return {
        toolCalls: [
          { name: 'count', input: { n: done } },
          { name: 'count', input: {} },
        ],
      }
    return `counted ${saidIn(request).length}`
  })
  const count = tool('count', (input, { key }) => {
    keys.push(key)
    return JSON.stringify(input)
  })
  return { definition: defineAgent({ name: 'counter', model, tools: [count], checkRequests: true }), requests, keys }
}

describe('a fork of any kind', (it) => {
  it('at any node comes to the same end as its source', { timeoutMs: 20_000 }, async (context) => {
    const store = memoryStore()
    const source = counting()
    const runtime = await openRuntime(context, store)
    const agent = await runtime.spawn(source.definition, { id: 'c1' })
    await agent.prompt('count').result
    const undisturbed = textsOf(agent)
    assert.is(undisturbed.at(-1), 'assistant: counted 1')
    const steps = agent.conversation.steps()
    for (const { id, endId } of steps) {
      for (let at = id; at <= endId; at += 1) {
        const { agentId } = await forkSession(store, 'c1', at, { id: `f${at}` })
        const again = counting()
        const fork = await runtime.resume(agentId, again.definition)
        await runEnd(fork)
        assert.equal(textsOf(fork), undisturbed, `forked at n${at}`)
        for (const request of again.requests) assert.equal(checkRequest(request), [])
        assert.equal(
          again.keys.filter((key) => !key.startsWith(`${agentId}/t`)),
          [],
          'calls of a fork have keys of their own',
        )
        assert.is(fork.conversation.node(endId)?.stepId, id)
        await checkRebuild(store, fork)
      }
    }
    assert.is(new Set(source.keys).size, source.keys.length)
  })

  it('of a fork refers to the log that holds the moment, so that chains stay short', async (context) => {
    const { agent, store } = await startAgent(context, { replies: ['one', 'two'] })
    await agent.prompt('first').result
    await agent.prompt('second').result
    await forkSession(store, 'a1', 'n4', { id: 'f1' })
    const runtime = await openRuntime(context, store)
    const fork = await runtime.resume('f1', talker(['three']).definition)
    await fork.prompt('third').result

    await forkSession(store, 'f1', 'n2', { id: 'g1' })
    const [shared] = await recordsOf(store, 'g1')
    assert.ok(shared?.type === 'agent.created')
    assert.equal([shared.forkedFrom?.agentId, shared.forkedFrom?.at], ['a1', 2])

    await forkSession(store, 'f1', 'n6', { id: 'g2' })
    const { past, records } = await readHistory(store, 'g2')
    assert.equal(
      past.flatMap((record) => (record.type === 'agent.created' ? [record.agentId] : [])),
      ['a1', 'f1'],
    )
    assert.equal(records[0]?.type === 'agent.created' && records[0].forkedFrom?.agentId, 'f1')
    const grandchild = await runtime.resume('g2', talker(['four']).definition)
    await grandchild.prompt('fourth').result
    assert.equal(textsOf(grandchild), [
      'user: first',
      'assistant: one',
      'user: second',
      'assistant: two',
      'user: third',
      'assistant: three',
      'user: fourth',
      'assistant: four',
    ])
    assert.equal(idsOf(grandchild), [1, 2, 3, 4, 5, 6, 7, 8])
    await checkRebuild(store, grandchild)

    const session = await loadSession(store, 'g2')
    assert.equal(
      session.runs.map(({ id, turns }) => [id, turns.map(({ index }) => index)]),
      [['g2/r3', [3]]],
    )
    assert.equal(session.conversation.trunk(), grandchild.conversation.trunk())
  })

  it('takes the past only as far as it was forked, whatever the source did since', async (context) => {
    const { agent, store } = await startAgent(context, { replies: ['one', 'two', 'three'] })
    await agent.prompt('first').result
    await forkSession(store, 'a1', 'n2', { id: 'f1' })
    await agent.prompt('second').result
    await forkSession(store, 'a1', 'n4', { id: 'f2' })
    await agent.prompt('third').result
    const pasts = await Promise.all(['f1', 'f2'].map((id) => loadSession(store, id)))
    assert.equal(
      pasts.map(({ conversation }) => conversation.trunk().length),
      [2, 4],
    )
  })
})
