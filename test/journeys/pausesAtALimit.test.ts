import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import type { Run } from '../../src/protocol/runs/run.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { logOf } from '../support/lives.ts'
import { calls, gate, never, saidIn, stalled, startAgent, tool, usageOf, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const work = tool('work', () => 'ok')
const spending = (callId: string, input: number, output: number) => ({
  toolCalls: [{ name: 'work', input: {}, callId }],
  usage: usageOf(input, output),
})

describe('a limit', (it) => {
  it('of turns pauses the run with the reason and nothing lost, and resume goes on', async (context) => {
    const { agent, ofType, script } = await startAgent(context, {
      tools: [work],
      limits: { turns: 2 },
      replies: [calls('a', 'work'), calls('b', 'work'), calls('c', 'work'), 'the end'],
    })
    const first = await agent.prompt('go').result
    assert.equal([first.stopReason, first.turns, first.error], ['paused', 2, undefined])
    assert.equal(first.reason, { type: 'limit', limit: 'turns', allowed: 2, used: 2 })
    assert.equal(agent.pause, first.reason)
    assert.is(agent.state, 'paused')
    const second = await agent.resume().result
    assert.equal([second.stopReason, second.text, second.turns], ['stop', 'the end', 2])
    assert.equal(
      ofType('run.start').map(({ cause, resumedFrom }) => [cause, resumedFrom]),
      [
        ['prompt', undefined],
        ['resume', 'a1/r0'],
      ],
    )
    assert.equal(saidIn(script.requests.at(-1)), ['go'])
    assert.is(agent.pause, null)
  })

  it('of tokens counts every token of every reply', async (context) => {
    const { agent } = await startAgent(context, {
      tools: [work],
      limits: { tokens: 100 },
      replies: [spending('a', 40, 19), spending('b', 40, 1), 'not asked'],
    })
    const { reason, usage } = await agent.prompt('go').result
    assert.equal(reason, { type: 'limit', limit: 'tokens', allowed: 100, used: 100 })
    assert.equal(usage, usageOf(80, 20))
  })

  it('of cost counts dollars by the price', async (context) => {
    const { agent } = await startAgent(context, {
      tools: [work],
      limits: { costUsd: 1 },
      pricing: { input: 10, output: 100 },
      replies: [spending('a', 50_000, 4_999), spending('b', 10, 1), 'not asked'],
    })
    const { reason, costUsd, stopReason } = await agent.prompt('go').result
    assert.equal([stopReason, reason], ['paused', { type: 'limit', limit: 'costUsd', allowed: 1, used: costUsd }])
    assert.ok(costUsd >= 1 && costUsd < 1.001)
  })

  it('of time stops a reply in mid-stream, and what was seen of it comes to an end', async (context) => {
    const { agent, clock, untilState, script } = await startAgent(context, {
      limits: { ms: 1_000 },
      replies: [stalled(['a '], never), 'the end'],
    })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    await clock.advance(999)
    assert.is(agent.state, 'replying.streaming')
    await clock.advance(1)
    const { stopReason, reason } = await run.result
    assert.equal([stopReason, reason], ['paused', { type: 'limit', limit: 'ms', allowed: 1_000, used: 1_000 }])
    assert.is((await agent.resume().result).text, 'the end')
    assert.equal(saidIn(script.requests[1]), ['go'])
  })

  it('of time ends a wait for a retry', async (context) => {
    const { agent, clock, untilState } = await startAgent(context, {
      limits: { ms: 300 },
      replies: [{ error: { kind: 'network', message: 'x' } }, 'fine'],
    })
    const run = agent.prompt('go')
    await untilState('backoff')
    await clock.advance(300)
    assert.is((await run.result).stopReason, 'paused')
    assert.is((await agent.resume().result).text, 'fine')
  })

  it('of time lets the calls that run come to an end first', async (context) => {
    const open = gate<string>()
    const { agent, clock, until, ofType } = await startAgent(context, {
      tools: [tool('work', () => open.promise)],
      limits: { ms: 300 },
      replies: [calls('a', 'work'), 'fine'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    await clock.advance(10_000)
    assert.is(agent.state, 'executing')
    open.resolve('kept')
    assert.is((await run.result).stopReason, 'paused')
    assert.is(ofType('tool.end')[0]!.message.isError, false)
    assert.is((await agent.resume().result).text, 'fine')
  })

  it('that is reached by the last answer does not matter', async (context) => {
    const { agent } = await startAgent(context, { limits: { turns: 1, tokens: 1 }, replies: ['done already'] })
    assert.is((await agent.prompt('go').result).stopReason, 'stop')
  })

  it('is reached before a follow-up, which waits for the resume', async (context) => {
    const open = gate()
    const { agent, untilState, script } = await startAgent(context, {
      limits: { turns: 1 },
      replies: [stalled(['a'], open.promise), 'b'],
    })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    agent.followUp('and this')
    open.resolve()
    assert.is((await run.result).stopReason, 'paused')
    assert.is((await agent.resume().result).text, 'b')
    assert.equal(saidIn(script.requests[1]), ['go', 'and this'])
  })

  it('counts anew after a resume, with the new limits when there are some', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      tools: [work],
      limits: { turns: 1, tokens: 1_000_000 },
      replies: [calls('a', 'work'), calls('b', 'work'), calls('c', 'work'), calls('d', 'work'), 'end'],
    })
    await agent.prompt('go').result
    assert.is((await agent.resume().result).stopReason, 'paused')
    assert.equal((await agent.resume({ limits: { turns: 2 } }).result).turns, 2)
    assert.is((await agent.resume().result).text, 'end')
    assert.equal(
      ofType('run.start').map(({ limits }) => limits.turns),
      [1, 1, 2, 1],
    )
    assert.equal(
      ofType('run.start').map(({ limits }) => limits.tokens),
      [1_000_000, 1_000_000, 1_000_000, 1_000_000],
    )
  })

  it('of a prompt holds as well for what goes on with its run, after a pause, a failure and a restart', async (context) => {
    const store = { ...memoryStore(), close: async () => {} }
    const looping = () => {
      const model = scriptedModel(Array.from({ length: 9 }, (_, at) => calls(`c${at}`, 'work')))
      return defineAgent({ name: 'a', model, tools: [work], limits: { turns: 100 } })
    }
    const startRuntime = async () => {
      const runtime = await createRuntime({ store })
      context.cleanup(() => runtime.close())
      return runtime
    }
    const ending = async ({ result }: Run) => {
      const { stopReason, turns, reason } = await result
      return [stopReason, turns, reason?.type === 'limit' && reason.allowed]
    }
    const first = await startRuntime()
    const agent = await first.spawn(looping(), { id: 'a1' })
    assert.equal(await ending(agent.prompt('go', { limits: { turns: 2 } })), ['paused', 2, 2])
    assert.equal(await ending(agent.resume()), ['paused', 2, 2])
    // What a resume is given is for that run.
    assert.equal(await ending(agent.resume({ limits: { turns: 1 } })), ['paused', 1, 1])
    await first.close()
    const second = await startRuntime()
    const again = await second.resume('a1', looping())
    assert.equal(await ending(again.resume()), ['paused', 2, 2])
    const failing = defineAgent({
      name: 'a',
      model: scriptedModel([{ error: { kind: 'auth', message: 'no key' } }]),
      tools: [work],
    })
    await second.close()
    const third = await startRuntime()
    assert.is((await (await third.resume('a1', failing)).resume().result).stopReason, 'error')
    await third.close()
    const fourth = await startRuntime()
    const last = await fourth.resume('a1', looping())
    assert.equal(await ending(last.resume()), ['paused', 2, 2])
    const records = await logOf(store, 'a1')
    assert.equal(
      records.flatMap((record) => (record.type === 'run.start' ? [[record.limits.turns, record.given?.turns]] : [])),
      [
        [2, 2],
        [2, 2],
        [1, 2],
        [2, 2],
        [2, 2],
        [2, 2],
      ],
    )
  })

  it('of one prompt holds for that run alone', async (context) => {
    const { agent } = await startAgent(context, {
      tools: [work],
      replies: [calls('a', 'work'), calls('b', 'work'), 'end'],
    })
    assert.is((await agent.prompt('go', { limits: { turns: 1 } }).result).stopReason, 'paused')
    assert.is((await agent.prompt('go on').result).text, 'end')
  })

  it('can be left behind by a new prompt', async (context) => {
    const { agent, script } = await startAgent(context, {
      tools: [work],
      limits: { turns: 1 },
      replies: [calls('a', 'work'), 'fine'],
    })
    await agent.prompt('go').result
    assert.is((await agent.prompt('something else').result).text, 'fine')
    assert.equal(
      script.requests[1]!.messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult', 'user'],
    )
    assert.is(agent.pause, null)
  })

  it('that was not reached cannot be resumed', async (context) => {
    const { agent } = await startAgent(context, { replies: ['fine'] })
    assert.throws(() => agent.resume(), withCode('NOT_PAUSED', 'idle'))
    await agent.prompt('go').result
    assert.throws(() => agent.resume(), withCode('NOT_PAUSED'))
  })

  it('resumed twice at once goes on once, and both results come', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      tools: [work],
      limits: { turns: 1 },
      replies: [calls('a', 'work'), 'fine'],
    })
    await agent.prompt('go').result
    const results = await Promise.all([agent.resume().result, agent.resume().result])
    assert.is(results[0].text, 'fine')
    assert.is(ofType('run.start').length, 2)
  })

  for (const [where, defined, prompted] of [
    ['of the agent', { costUsd: 1 }, {}],
    ['of one prompt', {}, { limits: { costUsd: 1 } }],
  ] as const) {
    it(`${where} on cost without prices says once that it cannot hold, and what to do`, async (context) => {
      const { agent, ofType } = await startAgent(context, { limits: defined, replies: ['a', 'b'] })
      const { costUsd } = await agent.prompt('1', prompted).result
      await agent.prompt('2', prompted).result
      assert.is(costUsd, 0)
      assert.equal(
        ofType('error').map(({ error }) => error.code),
        ['PRICE_UNKNOWN'],
      )
      assert.match(ofType('error')[0]!.error.message, /Set pricing/)
    })
  }
})
