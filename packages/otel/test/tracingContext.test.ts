import { trace } from '@opentelemetry/api'
import { otelTracer } from '../../../src/otel.ts'
import { calls, delta, done, gate, quiet, tool, withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { startTraced, startTracing } from './tracingProbe.ts'

describe('parents of spans', (it) => {
  it('a run nests under the span its prompt was given in, though it waits', async (test) => {
    const { tracer, api, paths } = startTracing(test)
    const { agent } = await startTraced(test, { tracer, replies: ['one', 'two', 'three'] })
    const first = agent.prompt('alone')
    const second = api.startActiveSpan('GET /ask', (span) => {
      const run = agent.prompt('inside')
      span.end()
      return run
    })
    const third = agent.prompt('alone again')
    await Promise.all([first.result, second.result, third.result])
    assert.equal(
      paths().filter((path) => path.startsWith('invoke_agent')),
      ['invoke_agent a', 'invoke_agent a < GET /ask', 'invoke_agent a'],
    )
  })

  it('a tool sees its own span as the active one, through awaits', async (test) => {
    const { tracer, api, paths } = startTracing(test)
    const query = tool('query', async () => {
      await quiet()
      return api.startActiveSpan('SELECT', (span) => {
        span.end()
        return 'rows'
      })
    })
    const { agent } = await startTraced(test, { tracer, tools: [query], replies: [calls('c', 'query'), 'done'] })
    await agent.prompt('go').result
    assert.ok(paths().includes('SELECT < execute_tool query < turn < invoke_agent a'))
    assert.is(trace.getActiveSpan(), undefined)
  })

  it('a model sees its call as the active span, in every piece it streams', async (test) => {
    const { tracer, api, paths } = startTracing(test)
    const model = {
      id: 'openai:m-1',
      async *stream() {
        for (const word of ['a', 'b']) {
          api.startSpan(`POST ${word}`).end()
          await quiet()
          yield delta(word)
        }
        yield done([{ type: 'text', text: 'ab' }])
      },
    }
    const { agent } = await startTraced(test, { tracer, model })
    await agent.prompt('go').result
    for (const word of ['a', 'b']) assert.ok(paths().includes(`POST ${word} < chat m-1 < turn < invoke_agent a`), word)
  })

  it('an agent that a tool prompts nests under that call', async (test) => {
    const { tracer, paths } = startTracing(test)
    const born = gate<(text: string) => Promise<string>>()
    const ask = tool('ask', async () => await (await born.promise)('find out'))
    const { agent, spawn } = await startTraced(test, { tracer, tools: [ask], replies: [calls('c', 'ask'), 'done'] })
    const helper = await spawn({ id: 'helper1', replies: ['found'] })
    born.resolve(async (text) => (await helper.prompt(text).result).text)
    await agent.prompt('go').result
    assert.ok(paths().includes('invoke_agent helper < execute_tool ask < turn < invoke_agent a'))
    assert.ok(paths().includes('chat m-1 < turn < invoke_agent helper < execute_tool ask < turn < invoke_agent a'))
  })
})

describe('a run whose request is not known', (it) => {
  it('is a root, whatever it happens to start in', (test) => {
    const { tracer, api, paths } = startTracing(test)
    const traced = { agentId: 'a1', path: [], name: 'a', model: 'm' }
    const at = { v: 3, seq: 1, time: 0, runId: 'a1/r0', turnIndex: 0, agentId: 'a1', path: [] } as const
    api.startActiveSpan('a stranger', (span) => {
      tracer.event({ ...at, type: 'run.start', cause: 'resume', requestId: 'q1', limits: {} }, traced)
      span.end()
    })
    tracer.ended(traced)
    assert.equal(paths(), ['a stranger', 'invoke_agent a'])
  })
})

describe('what a tracer keeps', (it) => {
  it('is nothing of runs that ended and messages that were dropped or taken', async (test) => {
    const { tracer, api } = startTracing(test)
    const open = gate()
    const { agent, until } = await startTraced(test, {
      tracer,
      tools: [tool('slow', () => open.promise)],
      replies: [calls('c', 'slow'), 'steered', 'followed', 'two'],
    })
    const run = api.startActiveSpan('request', (span) => {
      const first = agent.prompt('go')
      agent.followUp('and then')
      agent.prompt('next')
      span.end()
      return first
    })
    await until('tool.start')
    api.startActiveSpan('steer', (span) => {
      agent.steer('wait')
      span.end()
    })
    assert.equal(tracer.held, { agents: 1, requests: 3 })
    open.resolve()
    await run.result
    while (agent.state !== 'idle') await quiet()
    assert.equal(tracer.held, { agents: 0, requests: 0 })
  })

  it('is at most 1,000 requests that never become runs, and none of an agent that ended', async (test) => {
    const { tracer, api } = startTracing(test)
    const traced = { agentId: 'a1', path: [], name: 'a', model: 'm' }
    api.startActiveSpan('request', (span) => {
      for (let n = 0; n < 3_000; n++) tracer.requested(`q${n}`, traced)
      span.end()
    })
    assert.equal(tracer.held, { agents: 0, requests: 1_000 })
    tracer.ended(traced)
  })
})

describe('otelTracer', (it) => {
  it('refuses options it does not know', () => {
    for (const options of [{ contents: true }, { tracer: {} }, { content: 'yes' }]) {
      assert.throws(() => otelTracer(options as object), withCode('INVALID_OPTION', 'otelTracer: '))
    }
  })

  it('wants requests to be built only for content', () => {
    assert.equal([otelTracer().wantsRequests, otelTracer({ content: true }).wantsRequests], [false, true])
  })

  it('does nothing, and harms nothing, where no SDK is registered', async (test) => {
    const { agent } = await startTraced(test, {
      tracer: otelTracer({ content: true }),
      tools: [tool('look', () => 'seen')],
      replies: [calls('c', 'look'), 'done'],
    })
    assert.is((await agent.prompt('go').result).text, 'done')
  })
})
