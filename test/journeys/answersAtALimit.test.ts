import { calls, resultsOf, saidIn, stalled, never, startAgent, tool, usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const work = tool('work', () => 'ok')

describe('a limit after which the run answers', (it) => {
  it('gives one last turn without tools, and the run ends with an answer', async (context) => {
    const { agent, script, records } = await startAgent(context, {
      tools: [work],
      limits: { turns: 2, onLimit: 'answer' },
      replies: [calls('a', 'work'), calls('b', 'work'), 'what I have', 'next'],
    })
    const { stopReason, text, turns, reason } = await agent.prompt('go').result
    assert.equal([stopReason, text, turns], ['stop', 'what I have', 3])
    assert.equal(reason, { type: 'limit', limit: 'turns', allowed: 2, used: 2 })
    assert.equal([agent.state, agent.pause], ['idle', null])
    const last = script.requests[2]!
    assert.equal(last.tools, [])
    assert.match(saidIn(last).at(-1)!, /limit of 2 turns .* last turn/)
    const prepared = (await records()).filter((record) => record.type === 'turn.prepared')
    assert.equal(
      prepared.map(({ by, tools, limit }) => [by, tools, limit]),
      [[['limit'], [], reason]],
    )
    await agent.prompt('more').result
    assert.is(script.requests[3]!.tools.length, 1)
    assert.equal(saidIn(script.requests[3]), ['go', 'more'])
  })

  it('is one of a prompt too', async (context) => {
    const { agent, script } = await startAgent(context, {
      tools: [work],
      reframes: true,
      replies: [calls('a', 'work'), 'what I have'],
    })
    const { stopReason, text } = await agent.prompt('go', { limits: { turns: 1, onLimit: 'answer' } }).result
    assert.equal([stopReason, text, script.requests.length], ['stop', 'what I have', 2])
  })

  it('of tokens or cost is passed by the last answer alone', async (context) => {
    const { agent } = await startAgent(context, {
      tools: [work],
      limits: { tokens: 50, onLimit: 'answer' },
      replies: [
        { toolCalls: [{ name: 'work', input: {} }], usage: usageOf(40, 10) },
        { text: 'it', usage: usageOf(60, 10) },
      ],
    })
    const { stopReason, reason, usage } = await agent.prompt('go').result
    assert.equal([stopReason, reason?.type, usage], ['stop', 'limit', usageOf(100, 20)])
  })

  it('of time stops the reply under way, and the last answer has a time of its own', async (context) => {
    const { agent, clock, untilState, script, ofType } = await startAgent(context, {
      limits: { ms: 1_000, onLimit: 'answer' },
      replies: [stalled(['half'], never), 'in short'],
    })
    const { result } = agent.prompt('go')
    await untilState('replying.streaming')
    await clock.advance(1_000)
    const { stopReason, text, reason } = await result
    assert.equal([stopReason, text], ['stop', 'in short'])
    assert.equal(reason, { type: 'limit', limit: 'ms', allowed: 1_000, used: 1_000 })
    assert.is(script.requests.length, 2)
    assert.is(ofType('reply.reset').length, 1)
  })

  it('of time pauses after all when the last answer takes too long', async (context) => {
    const { agent, clock, untilState, ofType } = await startAgent(context, {
      limits: { ms: 1_000, onLimit: 'answer' },
      replies: [stalled(['half'], never), stalled(['again'], never)],
    })
    const { result } = agent.prompt('go')
    await untilState('replying.streaming')
    await clock.advance(1_000)
    while (ofType('reply.start').length < 2) await Promise.resolve()
    await clock.advance(60_000)
    const { stopReason, reason } = await result
    assert.equal([stopReason, reason?.type], ['paused', 'limit'])
  })

  it('never loops: a model that calls a tool even so is paused, and nothing runs', async (context) => {
    let ran = 0
    const { agent, ofType } = await startAgent(context, {
      tools: [tool('work', () => String(++ran))],
      limits: { turns: 1, onLimit: 'answer' },
      replies: [calls('a', 'work'), calls('b', 'work'), 'not asked'],
    })
    const { stopReason, reason } = await agent.prompt('go').result
    assert.equal([stopReason, reason?.type, ran], ['paused', 'limit', 1])
    assert.is(ofType('tool.end').at(-1)!.message.synthetic, 'refused')
  })

  it('tells of a last answer that failed as of any, and it is gone on with', async (context) => {
    const { agent } = await startAgent(context, {
      tools: [work],
      reframes: true,
      replies: [calls('a', 'work'), { error: { kind: 'auth', message: 'no key' } }, 'at last'],
    })
    const { stopReason, error, reason } = await agent.prompt('go', { limits: { turns: 1, onLimit: 'answer' } }).result
    assert.equal([stopReason, error?.code, reason], ['error', 'MODEL_AUTH', undefined])
    assert.is(agent.hasFailed, true)
    const after = await agent.resume().result
    assert.equal([after.stopReason, after.text], ['stop', 'at last'])
  })

  it('is not reached by a run that has its answer', async (context) => {
    const { agent, script } = await startAgent(context, { limits: { turns: 1, onLimit: 'answer' }, replies: ['done'] })
    const { stopReason, reason } = await agent.prompt('go').result
    assert.equal([stopReason, reason, script.requests.length], ['stop', undefined, 1])
  })

  it('asks the code of the definition for that turn too, and overrules it', async (context) => {
    const limits: unknown[] = []
    const { agent, script, ofType } = await startAgent(context, {
      tools: [work],
      instructions: ({ turnIndex }) => `turn ${turnIndex}`,
      beforeTurn: ({ limit }) => {
        limits.push(limit?.limit)
        return { tools: ['work'], toolChoice: 'required' }
      },
      limits: { turns: 1, onLimit: 'answer' },
      replies: [calls('a', 'work'), 'what I have'],
    })
    assert.is((await agent.prompt('go').result).text, 'what I have')
    assert.equal(limits, [undefined, 'turns'])
    const { system, tools, settings } = script.requests[1]!
    assert.equal([system, tools, settings], ['turn 1', [], {}])
    assert.equal(resultsOf(script.requests[1]), ['ok'])
    assert.equal(ofType('turn.prepared')[1]!.by, ['instructions', 'beforeTurn', 'limit'])
  })
})
