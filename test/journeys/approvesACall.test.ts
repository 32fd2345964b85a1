import { calls, gate, quiet, resultsOf, startAgent, tool, usageOf, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { heldCalls } from '../support/heldCalls.ts'

const year = 365 * 24 * 3_600_000
const risky = (ran: unknown[] = []) =>
  tool(
    'risky',
    (input) => {
      ran.push(input)
      return 'done it'
    },
    { needsApproval: true },
  )

describe('a call that needs approval', (it) => {
  it('waits, runs once approved, and goes on in the same run', async (context) => {
    const ran: unknown[] = []
    const { agent, ofType, untilState, script } = await startAgent(context, {
      tools: [risky(ran)],
      replies: [calls('c', ['risky', { path: '/' }]), 'thanks'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    assert.equal(heldCalls(agent), ['c0'])
    assert.equal(agent.pause, { type: 'approvals', callIds: ['c0'] })
    assert.equal(
      ofType('approval.requested').map(({ name, input }) => [name, input]),
      [['risky', { path: '/' }]],
    )
    assert.equal(ran, [])
    agent.decide('c0', 'approve')
    assert.is((await run.result).text, 'thanks')
    assert.equal(ran, [{ path: '/' }])
    assert.equal(resultsOf(script.requests[1]), ['done it'])
    assert.is(ofType('run.start').length, 1)
    assert.equal(
      ofType('approval.decided').map(({ callId, decision }) => [callId, decision]),
      [['c0', 'approve']],
    )
  })

  it('is answered with the reason when it is denied, and never runs', async (context) => {
    const ran: unknown[] = []
    const { agent, ofType, untilState, script } = await startAgent(context, {
      tools: [risky(ran)],
      replies: [calls('c', 'risky'), 'I see'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', 'deny', 'too dangerous')
    assert.is((await run.result).text, 'I see')
    assert.equal(ran, [])
    assert.match(resultsOf(script.requests[1])[0]!, /Denied.*too dangerous/)
    assert.is(ofType('tool.end')[0]!.message.synthetic, 'denied')
    assert.equal(
      ofType('approval.decided').map(({ reason }) => reason),
      ['too dangerous'],
    )
    assert.is(ofType('tool.start').length, 0)
  })

  it('may wait for a year without using up the time limit', async (context) => {
    const { agent, clock, untilState } = await startAgent(context, {
      tools: [risky()],
      limits: { ms: 1_000 },
      replies: [calls('c', 'risky'), 'thanks'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    await clock.advance(year)
    assert.is(agent.pause?.type, 'approvals')
    agent.decide('c0', 'approve')
    const result = await run.result
    assert.equal([result.stopReason, result.text], ['stop', 'thanks'])
  })

  it('has exactly the time left that it had when the wait began', async (context) => {
    const open = gate()
    const { agent, clock, untilState, until } = await startAgent(context, {
      tools: [risky(), tool('wait', () => open.promise, { timeoutMs: Infinity })],
      limits: { ms: 1_000 },
      replies: [
        calls('c', 'wait'),
        calls('d', 'risky'),
        {
          parts: (async function* () {
            yield { type: 'text.delta', text: 'a' } as const
            await new Promise(() => {})
          })(),
        },
        'resumed',
      ],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    await clock.advance(400)
    open.resolve()
    await untilState('paused')
    await clock.advance(year)
    agent.decide('d0', 'approve')
    await untilState('replying.streaming')
    await clock.advance(599)
    assert.is(agent.state, 'replying.streaming')
    await clock.advance(1)
    assert.equal((await run.result).reason, { type: 'limit', limit: 'ms', allowed: 1_000, used: 1_000 })
  })

  it('is decided once', async (context) => {
    const { agent, untilState } = await startAgent(context, {
      tools: [risky()],
      replies: [calls('c', 'risky', 'risky'), 'thanks'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', 'approve')
    assert.throws(() => agent.decide('c0', 'deny'), withCode('CALL_NOT_PENDING', 'c0', 'c1'))
    assert.throws(() => agent.decide('nope', 'approve'), withCode('CALL_NOT_PENDING', 'nope'))
    agent.decide('c1', 'approve')
    await run.result
    assert.throws(() => agent.decide('c1', 'approve'), withCode('CALL_NOT_PENDING', 'none'))
  })

  it('does not hold up the calls beside it', async (context) => {
    const { agent, ofType, untilState, script } = await startAgent(context, {
      tools: [risky(), tool('safe', () => 'safe result')],
      replies: [calls('c', 'risky', 'safe'), 'thanks'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    assert.equal(
      ofType('tool.end').map(({ name }) => name),
      ['safe'],
    )
    agent.decide('c0', 'approve')
    await run.result
    assert.equal(resultsOf(script.requests[1]), ['done it', 'safe result'])
  })

  it('can be decided while a call beside it still runs', async (context) => {
    const open = gate<string>()
    const { agent, ofType, until } = await startAgent(context, {
      tools: [risky(), tool('long', () => open.promise)],
      replies: [calls('c', 'risky', 'long'), 'thanks'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    assert.is(agent.state, 'executing')
    agent.decide('c0', 'approve')
    await until((event) => event.type === 'tool.end')
    open.resolve('ok')
    assert.is((await run.result).text, 'thanks')
    assert.equal(
      ofType('state.changed').filter(({ state }) => state === 'paused'),
      [],
    )
  })

  it('is asked about only when the predicate says so, and when the predicate throws', async (context) => {
    const pay = tool('pay', () => 'paid', {
      needsApproval: (input: unknown) => {
        const { usd } = input as { usd: number }
        if (usd < 0) throw new Error('negative')
        return usd > 10
      },
    })
    const { agent, untilState } = await startAgent(context, {
      tools: [pay],
      replies: [calls('c', ['pay', { usd: 1 }], ['pay', { usd: 99 }], ['pay', { usd: -1 }]), 'thanks'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    assert.equal(heldCalls(agent), ['c1', 'c2'])
    agent.decide('c1', 'deny')
    agent.decide('c2', 'deny')
    await run.result
  })

  it('is not asked about with bad arguments, nor for a tool that does not exist', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      tools: [risky()],
      replies: [calls('c', ['risky', 'not json'], ['unknown', {}]), 'thanks'],
    })
    assert.is((await agent.prompt('go').result).text, 'thanks')
    assert.equal(ofType('approval.requested'), [])
  })

  it('holds back those after it when calls are run one by one', async (context) => {
    const { agent, ofType, untilState } = await startAgent(context, {
      tools: [risky(), tool('safe', () => 'ok')],
      toolExecution: 'sequential',
      replies: [calls('c', 'risky', 'safe'), 'thanks'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    assert.equal(ofType('tool.start'), [])
    agent.decide('c0', 'approve')
    await run.result
    assert.equal(
      ofType('tool.start').map(({ callId }) => callId),
      ['c0', 'c1'],
    )
  })

  it('is skipped when the user says something else instead', async (context) => {
    const { agent, ofType, untilState, script } = await startAgent(context, {
      tools: [risky()],
      replies: [calls('c', 'risky'), 'all right'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.steer('leave that')
    assert.is((await run.result).text, 'all right')
    assert.is(ofType('tool.end')[0]!.message.synthetic, 'skipped')
    assert.equal(
      script.requests[1]!.messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult', 'user'],
    )
  })

  it('cannot be resumed past', async (context) => {
    const { agent, untilState } = await startAgent(context, { tools: [risky()], replies: [calls('c', 'risky'), 'ok'] })
    const run = agent.prompt('go')
    await untilState('paused')
    assert.throws(() => agent.resume(), withCode('NOT_PAUSED', 'approvals'))
    agent.decide('c0', 'deny')
    await run.result
  })

  it('lets a prompt wait behind it', async (context) => {
    const { agent, untilState } = await startAgent(context, {
      tools: [risky()],
      replies: [calls('c', 'risky'), 'ok', 'second answer'],
    })
    const first = agent.prompt('go')
    await untilState('paused')
    const second = agent.prompt('and then')
    await quiet()
    assert.is(agent.state, 'paused')
    agent.decide('c0', 'deny')
    assert.is((await first.result).text, 'ok')
    assert.is((await second.result).text, 'second answer')
  })

  it('and was decided keeps the usage of its run', async (context) => {
    const { agent, untilState } = await startAgent(context, {
      tools: [risky()],
      replies: [
        { toolCalls: [{ name: 'risky', input: {}, callId: 'c0' }], usage: usageOf(10, 1) },
        { text: 'ok', usage: usageOf(20, 2) },
      ],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', 'approve')
    const { usage, turns } = await run.result
    assert.equal([usage, turns], [usageOf(30, 3), 2])
  })
})
