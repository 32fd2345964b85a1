import { calls, delta, done, gate, never, quiet, saidIn, stalled, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { heldCalls } from '../support/heldCalls.ts'

describe('an abort', (it) => {
  it('ends a run whose model has not answered yet', async (context) => {
    const { agent, script, ofType, untilState } = await startAgent(context, { replies: [stalled([], never), 'again'] })
    const run = agent.prompt('hello')
    await untilState('replying.requesting')
    await quiet()
    agent.abort()
    const result = await run.result
    assert.is(result.stopReason, 'aborted')
    assert.is(result.text, '')
    assert.is(agent.state, 'idle')
    assert.equal(ofType('reply.end'), [])
    assert.is((await agent.prompt('once more').result).text, 'again')
    assert.equal(saidIn(script.requests[1]), ['hello', 'once more'])
  })

  it('ends a run before its model was even asked', async (context) => {
    const { agent, script } = await startAgent(context, { replies: ['never used'] })
    const run = agent.prompt('hello')
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.is(script.requests.length, 0)
  })

  it('lets no delta through afterwards and keeps the text and an estimate of the usage so far', async (context) => {
    const open = gate()
    const { agent, script, events, ofType, until } = await startAgent(context, {
      replies: [stalled(['Once ', 'upon '], open.promise), 'fine'],
      pricing: { input: 1, output: 1 },
    })
    const run = agent.prompt('tell me a story')
    await until((event) => event.type === 'reply.delta' && event.text === 'upon ')
    agent.abort()
    const seen = events.length
    open.resolve()
    const result = await run.result
    await quiet()
    assert.equal(
      events.slice(seen).filter(({ type }) => type.endsWith('.delta')),
      [],
    )
    assert.is(result.stopReason, 'aborted')
    assert.is(result.text, 'Once upon ')
    const [reply] = ofType('reply.end')
    assert.equal(reply!.message.content, [{ type: 'text', text: 'Once upon ' }])
    assert.is(reply!.message.stopReason, 'aborted')
    assert.ok(reply!.message.usage.input > 0 && reply!.message.usage.output > 0)
    assert.equal(result.usage, reply!.message.usage)
    assert.ok(result.costUsd > 0)
    assert.is((await agent.prompt('and then?').result).text, 'fine')
    assert.equal(
      script.requests[1]!.messages.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    )
  })

  it('aborts the signal of the model in the same tick, with an error', async (context) => {
    let signal: AbortSignal | undefined
    const { agent, untilState } = await startAgent(context, {
      model: {
        id: 'test:model',
        async *stream(_, options) {
          signal = options.signal
          yield delta('a')
          await never
        },
      },
    })
    const run = agent.prompt('hello')
    await untilState('replying.streaming')
    assert.is(signal?.aborted, false)
    agent.abort()
    assert.is(signal?.aborted, true)
    assert.instance(signal?.reason, Error)
    await run.result
  })

  it('from inside the listener of a delta keeps that delta too', async (context) => {
    const { agent, events, ofType } = await startAgent(context, {
      replies: [stalled(['one ', 'two ', 'three '], Promise.resolve())],
    })
    agent.subscribe((event) => {
      if (event.type === 'reply.delta' && event.text === 'two ') agent.abort()
    })
    const result = await agent.prompt('count').result
    assert.equal(
      ofType('reply.delta').map(({ text }) => text),
      ['one ', 'two '],
    )
    assert.is(result.text, 'one two ')
    assert.is(events.filter(({ type }) => type === 'run.end').length, 1)
  })

  it('from inside the listener of a state change lets no delta through', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      replies: [stalled(['one ', 'two '], Promise.resolve()), 'next'],
    })
    const unsubscribe = agent.subscribe((event) => {
      if (event.type === 'state.changed' && event.state === 'replying.streaming') agent.abort()
    })
    assert.is((await agent.prompt('count').result).stopReason, 'aborted')
    assert.equal([...ofType('reply.start'), ...ofType('reply.delta')], [])
    unsubscribe()
    assert.is((await agent.prompt('again').result).text, 'next')
  })

  it('is not held up by a tool that ignores its signal, and answers its call', async (context) => {
    let signal: AbortSignal | undefined
    const hang = tool('hang', (_, toolContext) => {
      signal = toolContext.signal
      return never
    })
    const { agent, ofType, until, script } = await startAgent(context, {
      tools: [hang],
      replies: [calls('c', 'hang', 'hang'), 'fine'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    await quiet()
    agent.abort()
    assert.is(signal?.aborted, true)
    assert.is((await run.result).stopReason, 'aborted')
    assert.equal(
      ofType('tool.end').map(({ message }) => [message.synthetic, message.isError]),
      [
        ['aborted', true],
        ['aborted', true],
      ],
    )
    await agent.prompt('go on').result
    assert.equal(
      script.requests[1]!.messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult', 'toolResult', 'user'],
    )
  })

  it('that comes before a call began lets it not begin', async (context) => {
    let ran = 0
    const { agent, ofType } = await startAgent(context, {
      tools: [tool('work', () => (ran += 1))],
      replies: [calls('c', 'work')],
    })
    agent.subscribe((event) => {
      if (event.type === 'tool.start') agent.abort()
    })
    await agent.prompt('go').result
    await quiet()
    assert.is(ran, 0)
    assert.is(ofType('tool.end').length, 1)
  })

  it('leaves no timer of a hanging tool behind', async (context) => {
    const { agent, clock, until } = await startAgent(context, {
      tools: [tool('hang', () => never)],
      replies: [calls('c', 'hang')],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    await quiet()
    agent.abort()
    await run.result
    assert.is(clock.pending, 0)
  })

  it('drops the result of a tool that comes too late', async (context) => {
    const open = gate<string>()
    const { agent, ofType, until, script } = await startAgent(context, {
      tools: [tool('late', () => open.promise)],
      replies: [calls('c', 'late'), 'fine'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    agent.abort()
    await run.result
    open.resolve('too late')
    await quiet()
    assert.is(ofType('tool.end').length, 1)
    await agent.prompt('on').result
    assert.not.match(JSON.stringify(script.requests[1]), /too late/)
  })

  it('says of calls that had not started that they had not', async (context) => {
    const { agent, ofType, until } = await startAgent(context, {
      tools: [tool('hang', () => never)],
      toolExecution: 'sequential',
      replies: [calls('c', 'hang', 'hang')],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    agent.abort()
    await run.result
    const texts = ofType('tool.end').map(({ message }) => JSON.stringify(message.content))
    assert.match(texts[0]!, /while it ran/)
    assert.match(texts[1]!, /before it started/)
    assert.is(ofType('tool.start').length, 1)
  })

  it('ends the wait before a retry at once', async (context) => {
    const { agent, clock, untilState } = await startAgent(context, {
      replies: [{ error: { kind: 'network', message: 'gone' } }, 'fine'],
    })
    const run = agent.prompt('hello')
    await untilState('backoff')
    assert.is(clock.pending, 1)
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.is(clock.pending, 0)
    assert.is((await agent.prompt('again').result).text, 'fine')
  })

  it('ends a wait for approval', async (context) => {
    const { agent, ofType, untilState } = await startAgent(context, {
      tools: [tool('risky', () => 'done', { needsApproval: true })],
      replies: [calls('c', 'risky'), 'fine'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.is(agent.pause, null)
    assert.equal(heldCalls(agent), [])
    assert.is(ofType('tool.end')[0]!.message.synthetic, 'aborted')
    assert.is((await agent.prompt('on').result).text, 'fine')
  })

  it('of an agent paused by a limit makes it idle, with nothing left waiting', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      tools: [tool('work', () => 'ok')],
      limits: { turns: 1 },
      replies: [calls('c', 'work'), 'fine'],
    })
    await agent.prompt('go').result
    assert.is(agent.state, 'paused')
    agent.steer('a word while it is paused')
    agent.abort()
    assert.is(agent.state, 'idle')
    assert.is(agent.pause, null)
    assert.is(ofType('run.end').length, 1)
    assert.is(ofType('queue.changed').at(-1)?.why, 'dropped')
    assert.is((await agent.prompt('on').result).text, 'fine')
  })

  it('twice is the same as once', async (context) => {
    const { agent, ofType, untilState } = await startAgent(context, { replies: [stalled(['a'], never), 'fine'] })
    const run = agent.prompt('hello')
    await untilState('replying.streaming')
    agent.abort()
    agent.abort()
    await run.result
    agent.abort()
    assert.is(ofType('run.end').length, 1)
    assert.is((await agent.prompt('again').result).text, 'fine')
  })

  it('at rest does nothing', async (context) => {
    const { agent, events } = await startAgent(context, { replies: ['fine'] })
    agent.abort()
    assert.equal(events, [])
    assert.is((await agent.prompt('hello').result).text, 'fine')
  })

  it('drops what was said for this run and runs the prompts that wait', async (context) => {
    const { agent, script, untilState } = await startAgent(context, { replies: [stalled(['a'], never), 'second'] })
    const first = agent.prompt('first')
    await untilState('replying.streaming')
    agent.steer('left')
    agent.followUp('right')
    const second = agent.prompt('second')
    agent.abort()
    assert.is((await first.result).stopReason, 'aborted')
    assert.is((await second.result).text, 'second')
    assert.equal(saidIn(script.requests[1]), ['first', 'second'])
  })

  it('while an approval predicate takes its time still ends the reply that was seen', async (context) => {
    const asked = gate()
    const slow = tool('slow', () => 'ok', {
      needsApproval: () => {
        asked.resolve()
        return never
      },
    })
    const call = { type: 'toolCall', callId: 'c0', name: 'slow', input: {} } as const
    const { agent, ofType } = await startAgent(context, {
      tools: [slow],
      replies: [
        { parts: [delta('I will.'), done([{ type: 'text', text: 'I will.' }, call], { stopReason: 'toolUse' })] },
        'fine',
      ],
    })
    const run = agent.prompt('go')
    await asked.promise
    agent.abort()
    assert.is((await run.result).text, 'I will.')
    assert.is(ofType('reply.end').length, 1)
    assert.is((await agent.prompt('again').result).text, 'fine')
  })

  it('keeps no unsigned thinking in the next request', async (context) => {
    const parts = (async function* () {
      yield { type: 'thinking.delta', text: 'hmm' } as const
      await never
    })()
    const { agent, script, until, ofType } = await startAgent(context, { replies: [{ parts }, 'fine'] })
    const run = agent.prompt('hello')
    await until((event) => event.type === 'thinking.delta')
    agent.abort()
    await run.result
    assert.equal(ofType('reply.end')[0]!.message.content, [{ type: 'thinking', text: 'hmm' }])
    await agent.prompt('again').result
    assert.equal(saidIn(script.requests[1]), ['hello', 'again'])
    assert.is(script.requests[1]!.messages.length, 1)
  })
})
