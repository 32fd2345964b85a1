import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { llmStrategy } from '../../packages/policies/src/llmStrategy.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { calls, never, quiet, stalled, startAgent, tool, withCode, type Harness } from '../support/agentHarness.ts'
import { storeFolder } from '../../packages/stores/test/storeFolder.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

/** An agent in each state there is to be stopped in. */
const busy: Record<string, (context: CaseContext) => Promise<Harness>> = {
  idle: (context) => startAgent(context),
  'replying.requesting': (context) => startAgent(context, { replies: [stalled([], never)] }),
  'replying.streaming': (context) => startAgent(context, { replies: [stalled(['half '], never)] }),
  executing: (context) =>
    startAgent(context, { tools: [tool('hang', () => never)], replies: [calls('c', 'hang', 'hang')] }),
  paused: (context) =>
    startAgent(context, { tools: [tool('risky', () => 'x', { needsApproval: true })], replies: [calls('c', 'risky')] }),
  backoff: (context) => startAgent(context, { replies: [{ error: { kind: 'network', message: 'x' } }] }),
  compacting: (context) =>
    startAgent(context, {
      tools: [tool('look', () => 'long words '.repeat(60))],
      replies: Array.from({ length: 12 }, (_, turn) => calls(`t${turn}-`, 'look')),
      compaction: {
        contextWindow: 1_000,
        keepFirst: 1,
        keepRecent: 1,
        maxSummaryTokens: 50,
        strategy: llmStrategy({ model: scriptedModel([stalled(['x'], never)]) }),
      },
    }),
}

describe('a stop', (it) => {
  for (const [state, start] of Object.entries(busy)) {
    it(`in ${state} ends the run, leaves nothing open, and lets the log go`, async (context) => {
      const { agent, clock, untilState, ofType, store, records } = await start(context)
      const run = state === 'idle' ? undefined : agent.prompt('go')
      const waiting = state === 'idle' ? undefined : agent.prompt('next')
      await untilState(state)
      await quiet()
      await agent.stop()
      assert.is(agent.state, 'stopped')
      assert.is((await run?.result)?.stopReason ?? 'aborted', 'aborted')
      assert.is((await waiting?.result)?.stopReason ?? 'aborted', 'aborted')
      assert.is(clock.pending, 0)
      assert.is((await records()).at(-1)?.type, 'agent.stopped')
      assert.is(ofType('agent.stopped').length, 1)
      await (await store.open('a1')).release()
    })
  }

  it('keeps what was seen of a reply', async (context) => {
    const { agent, untilState, ofType } = await startAgent(context, { replies: [stalled(['half '], never)] })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    await quiet()
    await agent.stop()
    assert.is(ofType('reply.end').length + ofType('reply.reset').length, 1)
    assert.is((await run.result).stopReason, 'aborted')
  })

  it('aborts the signals of model and tools at once', async (context) => {
    let signal: AbortSignal | undefined
    const hang = tool('hang', (_, toolContext) => {
      signal = toolContext.signal
      return never
    })
    const { agent, until } = await startAgent(context, { tools: [hang], replies: [calls('c', 'hang')] })
    agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    await quiet()
    const stopped = agent.stop()
    assert.is(signal?.aborted, true)
    await stopped
  })

  it('twice, at once or later, is one', async (context) => {
    const { agent, ofType } = await startAgent(context, { replies: [stalled(['x'], never)] })
    agent.prompt('go')
    await Promise.all([agent.stop(), agent.stop()])
    await agent.stop()
    assert.is(ofType('agent.stopped').length, 1)
  })

  it('is the end: every method says so', async (context) => {
    const { agent, runtime } = await startAgent(context)
    await agent.stop()
    const methods = [
      () => agent.prompt('x'),
      () => agent.steer('x'),
      () => agent.followUp('x'),
      () => agent.interrupt('x'),
      () => agent.abort(),
      () => agent.decide('c', 'approve'),
      () => agent.resume(),
    ]
    for (const method of methods) assert.throws(method, withCode('AGENT_STOPPED', 'a1'))
    assert.equal(runtime.agents(), [])
    assert.is(runtime.agent('a1'), undefined)
    assert.equal(agent.conversation.trunk(), [])
  })

  it('as a command does the same', async (context) => {
    const { agent, until } = await startAgent(context)
    agent.dispatch({ type: 'agent.stop', agentId: 'a1' })
    await until((event) => event.type === 'agent.stopped')
    assert.is(agent.state, 'stopped')
  })

  it('right after a prompt ends that too, and asks no model', async (context) => {
    const { agent, script } = await startAgent(context, { replies: ['never'] })
    const run = agent.prompt('go')
    await agent.stop()
    assert.is((await run.result).stopReason, 'aborted')
    await quiet()
    assert.is(script.requests.length, 0)
  })

  it('right after a resume ends that too', async (context) => {
    const { agent } = await startAgent(context, {
      tools: [tool('work', () => 'x')],
      limits: { turns: 1 },
      replies: [calls('c', 'work'), 'fine'],
    })
    await agent.prompt('go').result
    const run = agent.resume()
    await agent.stop()
    assert.is((await run.result).stopReason, 'aborted')
  })
})

describe('closing a runtime', (it) => {
  it('while runs are in flight settles their results and writes their logs', async (context) => {
    const folder = await storeFolder(context)
    const store = fileStore(folder.dir)
    const runtime = await createRuntime({ store })
    const hang = tool('hang', () => never)
    const agents = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        runtime.spawn(
          defineAgent({
            name: 'busy',
            tools: [hang],
            model: scriptedModel([n % 2 === 0 ? calls('c', 'hang') : stalled(['half '], never)]),
          }),
          { id: `a${n}` },
        ),
      ),
    )
    const runs = agents.map((agent) => agent.prompt('go'))
    await quiet()
    await runtime.close()
    const results = await Promise.all(runs.map(({ result }) => result))
    assert.equal([...new Set(results.map(({ stopReason }) => stopReason))], ['aborted'])
    for (const { id } of agents) {
      const types: string[] = []
      for await (const record of store.read(id)) types.push(record.type)
      assert.is(types.at(-1), 'run.end')
      assert.is(types.filter((type) => type === 'run.end').length, 1)
    }
  })

  it('twice is one', async () => {
    const runtime = await createRuntime()
    const first = runtime.close()
    assert.is(runtime.close(), first)
    await first
    await runtime.close()
  })

  it('leaves a runtime that spawns nothing more, also for a spawn under way', async () => {
    const runtime = await createRuntime()
    const definition = defineAgent({ name: 'late', model: scriptedModel([]) })
    const late = runtime.spawn(definition)
    const closed = runtime.close()
    await assert.rejects(late, withCode('RUNTIME_CLOSED'))
    await closed
    await assert.rejects(runtime.spawn(definition), withCode('RUNTIME_CLOSED'))
    assert.equal(runtime.agents(), [])
  })

  it('is what asynchronous disposal does', async () => {
    const runtime = await createRuntime()
    const agent = await runtime.spawn(defineAgent({ name: 'x', model: scriptedModel([]) }))
    await runtime[Symbol.asyncDispose]()
    assert.is(agent.state, 'stopped')
  })

  it('lets another runtime in at once', async (context) => {
    const folder = await storeFolder(context)
    const definition = defineAgent({ name: 'x', model: scriptedModel([stalled(['half'], never)]) })
    const first = await createRuntime({ store: fileStore(folder.dir) })
    const agent = await first.spawn(definition, { id: 'a1' })
    agent.prompt('go')
    await quiet()
    await first.close()
    const second = await createRuntime({ store: fileStore(folder.dir) })
    context.cleanup(() => second.close())
    await assert.rejects(second.spawn(definition, { id: 'a1' }), withCode('AGENT_EXISTS'))
  })

  it('from inside a listener works', async (context) => {
    const { agent, runtime } = await startAgent(context, { replies: [stalled(['a ', 'b '], Promise.resolve())] })
    let closed: Promise<void> | undefined
    agent.subscribe((event) => {
      if (event.type === 'reply.delta') closed ??= runtime.close()
    })
    assert.is((await agent.prompt('go').result).stopReason, 'aborted')
    await closed
  })
})

describe('an agent whose own parts fail', (it) => {
  const failingCounter = (from: number) => {
    let counted = 0
    return {
      text: () => 1,
      message: () => {
        counted += 1
        if (counted >= from) throw new Error('cannot count')
        return 1
      },
    }
  }

  for (const from of [1, 2]) {
    it(`such as a token counter that throws at message ${from}, says so in the result instead of hanging`, async (context) => {
      const { agent } = await startAgent(context, { check: false, tokenCounter: failingCounter(from), replies: ['a'] })
      const seen: string[] = []
      const reading = (async () => {
        for await (const event of agent.events()) seen.push(event.type)
      })()
      const run = agent.prompt('go')
      const result = await run.result
      for await (const event of run) seen.push(event.type)
      await reading
      for await (const event of agent.events()) assert.unreachable(event.type)
      assert.is(result.stopReason, 'error')
      assert.match(result.error!.message, /cannot count/)
    })
  }

  it('such as a token counter that gives fractions, still writes a log that can be read', async (context) => {
    const { agent } = await startAgent(context, {
      tokenCounter: { text: (words) => words.length / 4, message: () => 2.5 },
      tools: [tool('work', () => 'x')],
      replies: [calls('c', 'work'), 'fine'],
    })
    assert.is((await agent.prompt('go').result).text, 'fine')
  })

  it('such as a clock that runs backwards, still ends its runs', async (context) => {
    let now = 1_000_000
    const clock = { now: () => (now -= 10), after: () => () => {}, advance: async () => {}, pending: 0 }
    const { agent } = await startAgent(context, {
      clock,
      tools: [tool('work', () => 'x')],
      limits: { ms: 5 },
      replies: [calls('c', 'work'), 'fine'],
    })
    assert.is((await agent.prompt('go').result).text, 'fine')
  })
})
