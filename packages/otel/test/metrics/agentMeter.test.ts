import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { calls, tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { AgentMeter } from '../../src/metrics/agentMeter.ts'
import { Instruments } from '../../src/metrics/instruments.ts'
import { otelMetrics } from '../../src/metrics/otelMetrics.ts'
import { startMetrics, type Series } from './metricsProbe.ts'

const usage = { input: 100, output: 20, cacheRead: 300, cacheWrite: 0 }
const model = { 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'm-1' }
const total = (series: readonly Series[]): number => series.reduce((sum, { value }) => sum + value, 0)
const only = (series: readonly Series[]): Series => {
  assert.is(series.length, 1, JSON.stringify(series))
  return series[0]!
}

describe('the metrics of agents', (it) => {
  it('have durations, tokens, cost, the cached share and the time to the first piece', async (test) => {
    const { meter, series } = startMetrics(test)
    const clock = simulatedClock()
    const metrics = new AgentMeter(new Instruments(meter, {}), clock)
    const runtime = await createRuntime({ store: memoryStore(), tracer: metrics, clock })
    test.cleanup(() => runtime.close())
    const look = tool('look', async () => {
      await new Promise<void>((resolve) => clock.after(3_000, resolve))
      return 'seen'
    })
    const agent = await runtime.spawn(
      defineAgent({
        name: 'a',
        tools: [look],
        pricing: { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 },
        model: scriptedModel(
          [
            { toolCalls: [{ name: 'look', input: {}, callId: 'c0' }], usage },
            { text: 'done', usage },
          ],
          { id: 'openai:m-1' },
        ),
      }),
      { id: 'a1' },
    )
    const run = agent.prompt('go')
    while ((await series('escapement.tool.active')).every(({ value }) => value !== 1)) await new Promise(setImmediate)
    assert.is(only(await series('escapement.run.active')).value, 1)
    await clock.advance(3_000)
    await run.result
    const duration = only(await series('gen_ai.client.operation.duration'))
    assert.equal(duration.attributes, { 'gen_ai.operation.name': 'chat', ...model, 'gen_ai.response.model': 'm-1' })
    assert.is(duration.count, 2)
    assert.is(only(await series('gen_ai.client.operation.time_to_first_chunk')).count, 2)
    const used = Object.fromEntries(
      (await series('gen_ai.client.token.usage')).map(({ attributes, value }) => [
        attributes['gen_ai.token.type'],
        value,
      ]),
    )
    assert.equal(used, { input: 800, output: 40 })
    const kinds = Object.fromEntries(
      (await series('escapement.tokens')).map(({ attributes, value }) => [attributes['escapement.token.kind'], value]),
    )
    assert.equal(kinds, { input: 200, cache_read: 600, output: 40 })
    assert.is(only(await series('escapement.cached_share')).value, 1.5)
    assert.is(only(await series('escapement.cost_usd')).value, 200)
    const call = only(await series('escapement.tool.duration'))
    assert.equal(call, { attributes: { 'gen_ai.tool.name': 'look' }, value: 3, count: 1 })
    const whole = only(await series('escapement.run.duration'))
    assert.equal(whole.attributes, { 'gen_ai.agent.name': 'a', 'escapement.run.stop_reason': 'stop' })
    assert.is(whole.value, 3)
    assert.is(total(await series('escapement.turns')), 2)
    assert.is(total(await series('escapement.log.records')), agent.lastSeq)
    for (const name of ['escapement.run.active', 'escapement.tool.active']) assert.is(only(await series(name)).value, 0)
    assert.is(metrics.held, 0)
  })

  it('count what waits for the limits of models, without that in the time of the model', async (test) => {
    const { meter, series } = startMetrics(test)
    const clock = simulatedClock()
    const metrics = new AgentMeter(new Instruments(meter, {}), clock)
    const runtime = await createRuntime({
      store: memoryStore(),
      tracer: metrics,
      clock,
      models: { requestsPerMinute: 1 },
    })
    test.cleanup(() => runtime.close())
    const definition = defineAgent({ name: 'a', model: scriptedModel(['one', 'two'], { id: 'openai:m-1' }) })
    const [one, two] = [await runtime.spawn(definition), await runtime.spawn(definition)]
    await one.prompt('go').result
    const second = two.prompt('go')
    while ((await series('escapement.model.waiting')).every(({ value }) => value !== 1)) await new Promise(setImmediate)
    await clock.advance(60_000)
    await second.result
    const wait = only(await series('escapement.model.wait.duration'))
    assert.equal(wait.attributes, { ...model, 'escapement.wait.reason': 'requestsPerMinute' })
    assert.is(wait.value, 60)
    assert.is(only(await series('escapement.model.waiting')).value, 0)
    assert.is(only(await series('gen_ai.client.operation.duration')).value, 0)
    assert.is(metrics.held, 0)
  })

  it('count people’s decisions and how long they took, also over a pause', async (test) => {
    const { meter, series } = startMetrics(test)
    const clock = simulatedClock()
    const metrics = new AgentMeter(new Instruments(meter, {}), clock)
    const runtime = await createRuntime({ store: memoryStore(), tracer: metrics, clock })
    test.cleanup(() => runtime.close())
    const pay = tool('pay', () => 'paid', { needsApproval: true })
    const definition = defineAgent({ name: 'a', tools: [pay], model: scriptedModel([calls('c', 'pay'), 'done']) })
    const agent = await runtime.spawn(definition)
    const asked = Promise.withResolvers<string>()
    agent.subscribe((event) => event.type === 'approval.requested' && asked.resolve(event.key))
    const run = agent.prompt('go')
    const key = await asked.promise
    assert.equal(only(await series('escapement.decision.waiting')), {
      attributes: { 'escapement.wait.reason': 'approval' },
      value: 1,
    })
    await clock.advance(7_000)
    agent.decide(key, 'approve')
    await run.result
    assert.is(only(await series('escapement.decision.wait.duration')).value, 7)
    assert.is(only(await series('escapement.decision.waiting')).value, 0)
  })

  it('count failures by code, and end with an agent that is closed in the middle', async (test) => {
    const { meter, series } = startMetrics(test)
    const clock = simulatedClock()
    const metrics = new AgentMeter(new Instruments(meter, { site: 'here' }), clock)
    const runtime = await createRuntime({ store: memoryStore(), tracer: metrics, clock })
    const begun = Promise.withResolvers<void>()
    const hangs = tool('hang', (_: unknown, { signal }: { signal: AbortSignal }) => {
      begun.resolve()
      return new Promise((__, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))))
    })
    const definition = defineAgent({
      name: 'a',
      tools: [hangs],
      model: scriptedModel([{ error: { kind: 'badRequest', message: 'no' } }, calls('c', 'hang')]),
    })
    const agent = await runtime.spawn(definition)
    await agent.prompt('go').result
    const failures = await series('escapement.errors')
    assert.equal(
      failures
        .map(({ attributes }) => attributes['escapement.error.of'])
        .toSorted((one, other) => (String(one) < String(other) ? -1 : 1)),
      ['model', 'run'],
    )
    for (const { attributes } of failures) {
      assert.is(attributes['error.type'], 'MODEL_BAD_REQUEST')
      assert.is(attributes['site'], 'here')
    }
    const run = agent.prompt('again')
    await begun.promise
    await runtime.detach(agent.id)
    await run.result
    assert.is(metrics.held, 0)
    for (const name of ['escapement.run.active', 'escapement.tool.active']) assert.is(only(await series(name)).value, 0)
    await runtime.close()
  })
})

describe('the metric of scores', (it) => {
  it('is told by `onScore`, and says of what and how it went', async (test) => {
    const { meter, series } = startMetrics(test)
    const { score } = otelMetrics({ meter })
    for (const value of [0.2, 0.4]) score({ scorer: 'polite', definition: 'support', value, passed: false })
    const { attributes, value, count } = only(await series('escapement.score'))
    const label = { 'gen_ai.evaluation.name': 'polite', 'gen_ai.evaluation.score.label': 'failed' }
    assert.equal(attributes, { ...label, 'gen_ai.agent.name': 'support' })
    assert.equal([count, Math.round(value * 10)], [2, 6])
  })
})
