import { calls, gate, resultsOf, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

describe('an answer with tools', (it) => {
  it('streams its words and ends with a result', async (context) => {
    const { agent, ofType, types, script } = await startAgent(context, { replies: ['Good morning, Ada.'] })
    const run = agent.prompt('hello')
    const text: string[] = []
    for await (const event of run) if (event.type === 'reply.delta') text.push(event.text)
    assert.equal(text, ['Good', ' morning,', ' Ada.'])
    const result = await run.result
    assert.is(result.text, 'Good morning, Ada.')
    assert.is(result.stopReason, 'stop')
    assert.is(result.turns, 1)
    assert.is(result.runId, ofType('run.start')[0]!.runId)
    assert.is(agent.state, 'idle')
    assert.equal(
      types().filter((type) => type !== 'state.changed' && type !== 'reply.delta'),
      ['run.start', 'message.added', 'turn.start', 'turn.request', 'reply.start', 'reply.end', 'turn.end', 'run.end'],
    )
    assert.equal(
      ofType('state.changed').map(({ previous, state }) => `${previous} → ${state}`),
      ['idle → replying.requesting', 'replying.requesting → replying.streaming', 'replying.streaming → idle'],
    )
    script.assertComplete()
  })

  it('gives deltas on while the model still holds its reply back', async (context) => {
    const open = gate()
    const parts = (async function* () {
      yield { type: 'text.delta', text: 'first' } as const
      await open.promise
      yield {
        type: 'done',
        reply: {
          content: [{ type: 'text', text: 'first' }],
          stopReason: 'stop',
          usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
        },
      } as const
    })()
    const { agent, until } = await startAgent(context, { replies: [{ parts }] })
    const run = agent.prompt('hello')
    await until((event) => event.type === 'reply.delta')
    assert.is(agent.state, 'replying.streaming')
    open.resolve()
    assert.is((await run.result).text, 'first')
  })

  it('runs the calls of one reply together and answers them in the order they were made', async (context) => {
    const gates = new Map([
      ['slow', gate()],
      ['quick', gate()],
    ])
    const names = [...gates.keys()]
    const tools = names.map((name) =>
      tool(name, async () => {
        await gates.get(name)!.promise
        return `${name} is done`
      }),
    )
    const { agent, script, ofType, until } = await startAgent(context, {
      tools,
      replies: [calls('c', 'slow', 'quick'), 'both done'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start' && event.name === 'quick')
    assert.is(agent.state, 'executing')
    gates.get('quick')!.resolve()
    await until((event) => event.type === 'tool.end' && event.name === 'quick')
    gates.get('slow')!.resolve()
    assert.is((await run.result).text, 'both done')
    assert.equal(
      ofType('tool.end').map(({ name }) => name),
      ['quick', 'slow'],
    )
    assert.equal(resultsOf(script.requests[1]), ['slow is done', 'quick is done'])
    assert.equal(
      agent.conversation.trunk().map(({ id, parentId }) => [id, parentId]),
      [
        [1, null],
        [2, 1],
        [3, 2],
        [4, 3],
        [5, 4],
      ],
    )
    assert.is(agent.conversation.steps().length, 3)
  })

  it('does not put a reply on the trunk before its last result is in', async (context) => {
    const open = gate()
    const tools = [tool('now', () => 'ok'), tool('later', () => open.promise)]
    const { agent, until } = await startAgent(context, { tools, replies: [calls('c', 'now', 'later'), 'end'] })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.end')
    assert.is(agent.conversation.head, 1)
    assert.is(agent.conversation.log().length, 3)
    open.resolve()
    await run.result
    assert.is(agent.conversation.head, 5)
  })

  const startsAndEnds = async (
    context: Parameters<typeof startAgent>[0],
    toolExecution: 'sequential' | { batch: number },
  ): Promise<string[]> => {
    const seen: string[] = []
    const work = tool('work', async (input) => {
      const { at } = input as { at: number }
      seen.push(`start ${at}`)
      await new Promise((resolve) => setImmediate(resolve))
      seen.push(`end ${at}`)
      return `result ${at}`
    })
    const wanted = [1, 2, 3].map((at) => ['work', { at }] as const)
    const { agent, script } = await startAgent(context, {
      tools: [work],
      toolExecution,
      replies: [calls('c', ...wanted), 'end'],
    })
    await agent.prompt('go').result
    assert.equal(resultsOf(script.requests[1]), ['result 1', 'result 2', 'result 3'])
    return seen
  }

  it('runs them one after the other when told so', async (context) => {
    assert.equal(await startsAndEnds(context, 'sequential'), [
      'start 1',
      'end 1',
      'start 2',
      'end 2',
      'start 3',
      'end 3',
    ])
  })

  it('runs them in batches when told so', async (context) => {
    assert.equal(await startsAndEnds(context, { batch: 2 }), [
      'start 1',
      'start 2',
      'end 1',
      'end 2',
      'start 3',
      'end 3',
    ])
  })

  it('shows the progress a tool reports and drops what it reports after its end', async (context) => {
    let report = (_: unknown): void => {}
    const work = tool('work', (_, toolContext) => {
      report = toolContext.report
      toolContext.report({ percent: 50 })
      return 'ok'
    })
    const { agent, ofType } = await startAgent(context, { tools: [work], replies: [calls('c', 'work'), 'end'] })
    await agent.prompt('go').result
    report({ percent: 100 })
    assert.equal(
      ofType('tool.progress').map(({ progress, callId }) => [progress, callId]),
      [[{ percent: 50 }, 'c0']],
    )
  })

  it('gives a tool its call id, a key that names the turn, and the agent', async (context) => {
    let seen: unknown
    const work = tool('work', (_, { callId, key, agent }) => {
      seen = { callId, key, agent }
      return 'ok'
    })
    const { agent, ofType } = await startAgent(context, { tools: [work], replies: [calls('c', 'work'), 'end'] })
    await agent.prompt('go').result
    assert.equal(seen, { callId: 'c0', key: 'a1/t0/tool/c0', agent: { id: 'a1', path: [] } })
    assert.is(ofType('tool.start')[0]!.key, 'a1/t0/tool/c0')
  })

  it('counts turns across runs and goes on where it was', async (context) => {
    const { agent, ofType, script } = await startAgent(context, { replies: ['one', 'two'] })
    await agent.prompt('first').result
    const second = await agent.prompt('second').result
    assert.is(second.turns, 1)
    assert.equal(
      ofType('turn.start').map(({ turnIndex, runId }) => [turnIndex, runId]),
      [
        [0, 'a1/r0'],
        [1, 'a1/r1'],
      ],
    )
    assert.equal(
      script.requests[1]!.messages.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    )
  })
})
