import { pngOf } from '../support/imageBytes.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { calls, gate, never, resultsOf, saidIn, stalled, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

describe('steering', (it) => {
  it('is taken between calls: those that have not started are skipped and say so', async (context) => {
    const open = gate<string>()
    const { agent, script, ofType, until } = await startAgent(context, {
      tools: [tool('work', () => open.promise)],
      toolExecution: 'sequential',
      replies: [calls('c', 'work', 'work', 'work'), 'all right'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    agent.steer('use the other one')
    open.resolve('first result')
    assert.is((await run.result).text, 'all right')
    const results = resultsOf(script.requests[1])
    assert.is(results[0], 'first result')
    assert.match(results[1]!, /Skipped/)
    assert.match(results[2]!, /Skipped/)
    assert.equal(
      script.requests[1]!.messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult', 'toolResult', 'toolResult', 'user'],
    )
    assert.equal(saidIn(script.requests[1]), ['go', 'use the other one'])
    assert.equal(
      ofType('tool.end').map(({ message }) => message.synthetic),
      ['skipped', 'skipped', undefined],
    )
    assert.equal(
      ofType('message.added').map(({ message }) => message.source),
      ['prompt', 'steering'],
    )
  })

  it('does not disturb calls that run already', async (context) => {
    const open = gate<string>()
    const { agent, script, until } = await startAgent(context, {
      tools: [tool('work', () => open.promise)],
      replies: [calls('c', 'work', 'work'), 'ok'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    agent.steer('hurry')
    open.resolve('kept')
    await run.result
    assert.equal(resultsOf(script.requests[1]), ['kept', 'kept'])
  })

  it('during the last reply makes another turn of the same run', async (context) => {
    const open = gate()
    const { agent, script, ofType, untilState } = await startAgent(context, {
      replies: [stalled(['one '], open.promise), 'two'],
    })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    agent.steer('more')
    open.resolve()
    const result = await run.result
    assert.equal([result.text, result.turns], ['two', 2])
    assert.is(ofType('run.start').length, 1)
    assert.equal(saidIn(script.requests[1]), ['go', 'more'])
  })

  it('at rest starts a run', async (context) => {
    const { agent, ofType, until } = await startAgent(context, { replies: ['hi'] })
    agent.steer('hello')
    await until((event) => event.type === 'run.end')
    assert.is(ofType('run.start')[0]!.cause, 'steering')
    assert.is(ofType('message.added')[0]!.message.source, 'steering')
  })

  it('keeps its order, one at a time', async (context) => {
    const open = gate()
    const { agent, script, untilState } = await startAgent(context, {
      replies: [stalled(['x'], open.promise), 'a', 'b', 'c'],
    })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    for (const text of ['first', 'second', 'third']) agent.steer(text)
    open.resolve()
    assert.is((await run.result).text, 'c')
    assert.equal(
      script.requests.map((request) => saidIn(request).at(-1)),
      ['go', 'first', 'second', 'third'],
    )
  })

  it('is taken all at once when told so', async (context) => {
    const open = gate()
    const { agent, script, untilState } = await startAgent(context, {
      queueMode: 'all',
      replies: [stalled(['x'], open.promise), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    for (const text of ['first', 'second', 'third']) agent.steer(text)
    open.resolve()
    await run.result
    assert.equal(saidIn(script.requests[1]), ['go', 'first', 'second', 'third'])
    assert.equal(
      agent.conversation.trunk().map(({ message }) => message.role),
      ['user', 'assistant', 'user', 'user', 'user', 'assistant'],
    )
  })

  it('during the wait for a retry is in the next turn, not in the retry', async (context) => {
    const { agent, clock, script, untilState } = await startAgent(context, {
      replies: [{ error: { kind: 'network', message: 'x' } }, 'a', 'b'],
    })
    const run = agent.prompt('go')
    await untilState('backoff')
    agent.steer('more')
    await clock.advance(10_000)
    assert.is((await run.result).text, 'b')
    assert.equal(
      script.requests.map((request) => saidIn(request).length),
      [1, 1, 2],
    )
  })

  it('said to a run that fails is not stranded: the next request has it, in the order it was said', async (context) => {
    const open = gate()
    const { agent, script, untilState } = await startAgent(context, {
      replies: [
        {
          parts: (async function* () {
            yield { type: 'text.delta', text: 'a' } as const
            await open.promise
            yield { type: 'error', error: { kind: 'auth', message: 'no' } } as const
          })(),
        },
        'fine',
        'fine again',
      ],
    })
    const run = agent.prompt('first')
    await untilState('replying.streaming')
    agent.steer('second')
    open.resolve()
    assert.is((await run.result).stopReason, 'error')
    await agent.prompt('third').result
    const said = saidIn(script.requests.at(-1))
    assert.equal(said, ['first', 'second', 'third'])
  })

  it('of blocks with an image arrives whole', async (context) => {
    const open = gate()
    const { agent, script, untilState } = await startAgent(context, { replies: [stalled(['x'], open.promise), 'ok'] })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    agent.steer([
      { type: 'text', text: 'look' },
      { type: 'image', data: pngOf(), mimeType: 'image/png' },
    ])
    open.resolve()
    await run.result
    assert.equal(saidIn(script.requests[1]), ['go', 'look', '<image>'])
  })
})

describe('a follow-up', (it) => {
  it('is taken once the agent would be done, in the same run', async (context) => {
    const open = gate<string>()
    const { agent, script, ofType, until } = await startAgent(context, {
      tools: [tool('work', () => open.promise)],
      replies: [calls('c', 'work', 'work'), 'first answer', 'second answer'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    agent.followUp('then this')
    open.resolve('ok')
    const result = await run.result
    assert.equal([result.text, result.turns], ['second answer', 3])
    assert.equal(saidIn(script.requests[1]), ['go'])
    assert.equal(saidIn(script.requests[2]), ['go', 'then this'])
    assert.is(ofType('run.start').length, 1)
    assert.is(ofType('message.added')[1]!.message.source, 'followUp')
  })

  it('comes after steering, whatever was said first', async (context) => {
    const open = gate()
    const { agent, script, untilState } = await startAgent(context, {
      replies: [stalled(['x'], open.promise), 'a', 'b'],
    })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    agent.followUp('later')
    agent.steer('now')
    open.resolve()
    await run.result
    assert.equal(
      script.requests.map((request) => saidIn(request).at(-1)),
      ['go', 'now', 'later'],
    )
  })

  it('at rest starts a run', async (context) => {
    const { agent, ofType, until } = await startAgent(context, { replies: ['hi'] })
    agent.followUp('hello')
    await until((event) => event.type === 'run.end')
    assert.is(ofType('run.start')[0]!.cause, 'followUp')
  })
})

describe('the queues', (it) => {
  it('run waiting prompts in order, each as a run of its own', async (context) => {
    const open = gate()
    const { agent, ofType, untilState } = await startAgent(context, {
      replies: [stalled(['x'], open.promise), 'a', 'b'],
    })
    const runs = [agent.prompt('1')]
    await untilState('replying.streaming')
    runs.push(agent.prompt('2'), agent.prompt('3'))
    open.resolve()
    const results = await Promise.all(runs.map((run) => run.result))
    assert.equal(
      results.map(({ text, runId }) => [text, runId]),
      [
        ['xlate', 'a1/r0'],
        ['a', 'a1/r1'],
        ['b', 'a1/r2'],
      ],
    )
    assert.equal(
      ofType('run.start').map(({ requestId }) => requestId),
      runs.map(({ requestId }) => requestId),
    )
  })

  it('refuse what is beyond maxQueue, each for itself, and change nothing then', async (context) => {
    const open = gate()
    const { agent, events, untilState } = await startAgent(context, {
      maxQueue: 1,
      replies: [stalled(['x'], open.promise), 'a', 'b', 'c'],
    })
    const run = agent.prompt('1')
    await untilState('replying.streaming')
    agent.steer('s')
    agent.followUp('f')
    const second = agent.prompt('p')
    const seen = events.length
    assert.throws(() => agent.steer('s2'), withCode('QUEUE_FULL', 'steering'))
    assert.throws(() => agent.followUp('f2'), withCode('QUEUE_FULL', 'followUps'))
    assert.throws(() => agent.prompt('p2'), withCode('QUEUE_FULL', 'prompts'))
    assert.throws(() => agent.interrupt('p2'), withCode('QUEUE_FULL', 'prompts'))
    assert.is(events.length, seen)
    assert.is(agent.state, 'replying.streaming')
    open.resolve()
    await run.result
    assert.is((await second.result).text, 'c')
  })

  it('are never more than maxQueue, whatever a listener asks for in the middle of a step', async (context) => {
    const open = gate()
    const { agent, untilState, ofType } = await startAgent(context, {
      maxQueue: 3,
      replies: [stalled(['x'], open.promise), ...Array.from({ length: 20 }, () => 'ok')],
    })
    const run = agent.prompt('1')
    await untilState('replying.streaming')
    let refused = 0
    agent.subscribe((event) => {
      if (event.type !== 'queue.changed' || event.added === undefined) return
      for (let i = 0; i < 3; i += 1)
        try {
          agent.prompt('again')
        } catch (thrown) {
          assert.ok(withCode('QUEUE_FULL', 'prompts')(thrown))
          refused += 1
        }
    })
    agent.prompt('2')
    assert.equal(
      ofType('queue.changed').map(({ length }) => length),
      [1, 2, 3],
    )
    assert.is(refused, 7)
    open.resolve()
    await run.result
    await untilState('idle')
  })

  it('run prompts in the order they were made across a pause by a limit', async (context) => {
    const open = gate<string>()
    const { agent, script, until } = await startAgent(context, {
      tools: [tool('work', () => open.promise)],
      replies: [calls('c', 'work'), 'a', 'b'],
    })
    const first = agent.prompt('1', { limits: { turns: 1 } })
    await until((event) => event.type === 'tool.start')
    const second = agent.prompt('2')
    open.resolve('ok')
    assert.is((await first.result).stopReason, 'paused')
    const third = agent.prompt('3')
    await Promise.all([second.result, third.result])
    assert.equal(saidIn(script.requests.at(-1)), ['1', '2', '3'])
  })

  it('give a waiting prompt its whole time limit from when its run starts', async (context) => {
    const first = gate()
    const second = gate()
    const { agent, clock, untilState, ofType } = await startAgent(context, {
      replies: [stalled(['a'], first.promise), stalled(['b'], second.promise)],
    })
    const one = agent.prompt('1')
    await untilState('replying.streaming')
    const two = agent.prompt('2', { limits: { ms: 1_000 } })
    await clock.advance(5_000)
    first.resolve()
    await one.result
    await untilState('replying.streaming')
    await clock.advance(999)
    second.resolve()
    assert.is((await two.result).stopReason, 'stop')
    assert.is(ofType('run.end').length, 2)
  })
})

describe('an interrupt', (it) => {
  it('aborts the run under way and goes ahead of the prompts that wait', async (context) => {
    const { agent, script, untilState } = await startAgent(context, {
      replies: [stalled(['x'], never), 'now', 'later'],
    })
    const first = agent.prompt('1')
    await untilState('replying.streaming')
    const waiting = agent.prompt('wait')
    const urgent = agent.interrupt('urgent')
    assert.equal(
      (await Promise.all([first, urgent, waiting].map((run) => run.result))).map(({ stopReason, text }) => [
        stopReason,
        text,
      ]),
      [
        ['aborted', 'x'],
        ['stop', 'now'],
        ['stop', 'later'],
      ],
    )
    assert.equal(
      script.requests.map((request) => saidIn(request).at(-1)),
      ['1', 'urgent', 'wait'],
    )
  })

  it('at rest is a prompt', async (context) => {
    const { agent, ofType } = await startAgent(context, { replies: ['hi'] })
    assert.is((await agent.interrupt('hello').result).text, 'hi')
    assert.is(ofType('run.end').length, 1)
  })

  it('of a waiting approval answers the call as aborted', async (context) => {
    const { agent, ofType, untilState } = await startAgent(context, {
      tools: [tool('risky', () => 'x', { needsApproval: true })],
      replies: [calls('c', 'risky'), 'instead'],
    })
    const first = agent.prompt('go')
    await untilState('paused')
    const second = agent.interrupt('do that instead')
    assert.is((await first.result).stopReason, 'aborted')
    assert.is((await second.result).text, 'instead')
    assert.is(ofType('tool.end')[0]!.message.synthetic, 'aborted')
  })

  it('is in the rebuilt queue where it is in the live one', async (context) => {
    const { agent, untilState, records, ofType, until } = await startAgent(context, {
      replies: [stalled(['x'], never), 'now', 'later'],
    })
    agent.prompt('1')
    await untilState('replying.streaming')
    const waiting = agent.prompt('wait')
    const urgent = agent.interrupt('urgent')
    await until((event) => event.type === 'run.end')
    await waiting.result
    assert.equal(
      ofType('run.start')
        .map(({ requestId }) => requestId)
        .slice(1),
      [urgent.requestId, waiting.requestId],
    )
    const at = ofType('queue.changed').findLast(({ added }) => added !== undefined)!.seq
    const rebuilt = rebuildConversation((await records()).filter(({ seq }) => seq <= at))
    assert.equal(
      rebuilt.queues.prompts.map(({ id }) => id),
      [urgent.requestId, waiting.requestId],
    )
  })
})
