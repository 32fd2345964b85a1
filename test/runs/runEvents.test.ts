import type { AgentEvent } from '../../src/protocol/events.ts'
import { calls, delta, done, gate, quiet, stalled, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

describe('a run', (it) => {
  it('iterated late starts with what is buffered', async (context) => {
    const { agent } = await startAgent(context, { replies: ['one two three'] })
    const run = agent.prompt('go')
    await run.result
    const types: string[] = []
    for await (const event of run) types.push(event.type)
    assert.is(types[0], 'run.start')
    assert.is(types.filter((type) => type === 'reply.delta').length, 3)
    assert.is(types.at(-1), 'run.end')
  })

  it('starts with run.start and holds nothing of the run before it', async (context) => {
    const { agent } = await startAgent(context, { replies: ['a', 'b'] })
    const runs = [agent.prompt('1'), agent.prompt('2')]
    await Promise.all(runs.map(({ result }) => result))
    for (const [index, run] of runs.entries()) {
      const seen: AgentEvent[] = []
      for await (const event of run) seen.push(event)
      assert.is(seen[0]!.type, 'run.start')
      assert.equal([...new Set(seen.map((event) => ('runId' in event ? event.runId : '')))], [`a1/r${index}`])
    }
  })

  it('left early goes on', async (context) => {
    const { agent } = await startAgent(context, { replies: ['one two three'] })
    const run = agent.prompt('go')
    for await (const event of run) if (event.type === 'reply.delta') break
    const result = await run.result
    assert.equal([result.stopReason, result.text], ['stop', 'one two three'])
    for await (const event of run) assert.unreachable(`saw ${event.type} after it was left`)
  })

  it('can be left by throwing inside the loop', async (context) => {
    const { agent } = await startAgent(context, { replies: ['one two three'] })
    const run = agent.prompt('go')
    await assert.rejects(async () => {
      for await (const event of run) if (event.type === 'reply.delta') throw new Error('enough')
    }, /enough/)
    assert.is((await run.result).stopReason, 'stop')
  })

  it('iterated by two loops ends both', async (context) => {
    const open = gate()
    const { agent, untilState } = await startAgent(context, { replies: [stalled(['a'], open.promise)] })
    const run = agent.prompt('go')
    const loops = [1, 2].map(async () => {
      for await (const event of run) void event
    })
    await untilState('replying.streaming')
    await quiet()
    open.resolve()
    await run.result
    await Promise.all(loops)
  })

  it(
    'of 100,000 deltas that nobody reads stays small, and says nothing was lost of its text',
    { timeoutMs: 10_000 },
    async (context) => {
      const count = 100_000
      const { agent } = await startAgent(context, {
        model: {
          id: 'test:chatty',
          async *stream() {
            for (let n = 0; n < count; n += 1) yield delta('word ')
            yield done([{ type: 'text', text: 'word '.repeat(count) }])
          },
        },
      })
      const run = agent.prompt('go')
      await run.result
      let [events, length] = [0, 0]
      for await (const event of run) {
        events += 1
        if (event.type === 'reply.delta') length += event.text.length
        assert.is.not(event.type, 'events.dropped')
      }
      assert.ok(events < 1_000, `${events} events`)
      assert.is(length, 5 * count)
    },
  )

  it(
    'of 100,000 progress reports that nobody reads drops the oldest and says how many',
    { timeoutMs: 10_000 },
    async (context) => {
      const count = 100_000
      const noisy = tool('noisy', (_, { report }) => {
        for (let n = 0; n < count; n += 1) report(n)
        return 'ok'
      })
      const { agent } = await startAgent(context, { tools: [noisy], replies: [calls('c', 'noisy'), 'end'] })
      const run = agent.prompt('go')
      await run.result
      const seen: AgentEvent[] = []
      for await (const event of run) seen.push(event)
      const [first] = seen
      assert.ok(first?.type === 'events.dropped' && first.count + seen.length - 1 > count && first.count < count)
      assert.ok(seen.length < 5_000)
      assert.is(seen.at(-1)!.type, 'run.end')
      assert.is(seen.filter(({ type }) => type === 'events.dropped').length, 1)
    },
  )

  it('has a result that never rejects, whatever happens', async (context) => {
    const { agent } = await startAgent(context, {
      tools: [
        tool('bad', () => {
          throw new Error('x')
        }),
      ],
      replies: [calls('c', 'bad'), { error: { kind: 'auth', message: 'x' } }],
    })
    assert.is((await agent.prompt('go').result).stopReason, 'error')
  })
})
