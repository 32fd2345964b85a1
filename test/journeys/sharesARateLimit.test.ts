import { fallback } from '../../packages/models/src/fallback.ts'
import { defineAgent, type AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { llmStrategy } from '../../packages/policies/src/llmStrategy.ts'
import type { ModelLimits } from '../../packages/runtime/src/limits/modelLimit.ts'
import type { AgentEvent, EventOf } from '../../src/protocol/events.ts'
import type { Model, ModelPart } from '../../src/protocol/ports/model.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { parallel } from '../../packages/groups/src/parallel.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { calls, counter, done, quiet, usageOf, withCode } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const long = 'word '.repeat(400)

/** A model whose calls end when they are told to, and which knows how many are under way. */
function gated(id = 'p:m') {
  const open: PromiseWithResolvers<ModelPart>[] = []
  const state = { active: 0, most: 0, asked: 0 }
  const model: Model = {
    id,
    async *stream(_, { signal }) {
      state.asked += 1
      state.active += 1
      state.most = Math.max(state.most, state.active)
      const end = Promise.withResolvers<ModelPart>()
      open.push(end)
      signal.addEventListener('abort', () => end.reject(new Error('aborted')), { once: true })
      const part = await end.promise.finally(() => (state.active -= 1))
      yield part
    },
  }
  const answer = (part: ModelPart = done([{ type: 'text', text: 'hi' }], { usage: usageOf(10, 5) })): void =>
    open.shift()?.resolve(part)
  return { model, state, answer }
}

async function limited({ cleanup }: Pick<CaseContext, 'cleanup'>, models: ModelLimits) {
  const clock = simulatedClock()
  const runtime = await createRuntime({ clock, models, store: memoryStore(), newId: counter('q'), random: () => 0 })
  cleanup(() => runtime.close())
  const events: AgentEvent[] = []
  const spawn = async (options: Partial<AgentOptions> & Pick<AgentOptions, 'model'>, id?: string) => {
    const definition = defineAgent({ name: 'worker', retry: { attempts: 3 }, ...options })
    const agent = await runtime.spawn(definition, id === undefined ? {} : { id })
    agent.subscribe((event) => void events.push(event), { descendants: true })
    return agent
  }
  const ofType = <T extends AgentEvent['type']>(type: T) =>
    events.filter((event): event is EventOf<T> => event.type === type)
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await quiet()
  }
  return { clock, runtime, spawn, events, ofType, until }
}

describe('a limit of calls at the same time', (it) => {
  it('is kept by two hundred agents together, and all of them are served', { timeoutMs: 10_000 }, async (context) => {
    const { spawn, until } = await limited(context, { concurrency: 8 })
    const { model, state, answer } = gated()
    const agents = await Promise.all(Array.from({ length: 200 }, () => spawn({ model })))
    const runs = agents.map((agent) => agent.prompt('go').result)
    for (let answered = 0; answered < 200; answered++) {
      await until(() => state.asked > answered)
      answer()
    }
    const results = await Promise.all(runs)
    assert.equal(new Set(results.map(({ stopReason }) => stopReason)), new Set(['stop']))
    assert.equal([state.most, state.asked], [8, 200])
  })

  it('does not let the sub-agents of one root starve another root', { timeoutMs: 10_000 }, async (context) => {
    const { spawn, until, runtime } = await limited(context, { concurrency: 1 })
    const { model, state, answer } = gated()
    const parent = await spawn({ model, maxChildren: 60 }, 'busy')
    const helper = defineAgent({ name: 'helper', model, description: 'Helps.' })
    const children = await Promise.all(Array.from({ length: 50 }, () => parent.spawn(helper)))
    const busy = children.map((child) => child.prompt('go').result)
    await until(() => state.asked === 1 && children.filter(({ waitsFor }) => waitsFor === 'p:m').length === 49)
    const other = await runtime.spawn(defineAgent({ name: 'other', model }), { id: 'lonely' })
    const lonely = other.prompt('go').result
    await until(() => other.waitsFor === 'p:m')
    // One that was let through before, one of the same root, and then it is the other's turn.
    for (let answered = 0; answered < 3; answered++) {
      await until(() => state.asked > answered)
      answer()
    }
    assert.is((await lonely).stopReason, 'stop')
    assert.ok(state.asked <= 4)
    for (let answered = 3; answered < 51; answered++) {
      await until(() => state.asked > answered)
      answer()
    }
    await Promise.all(busy)
  })

  it('is told of: who waits, for what, behind how many, and for how long', async (context) => {
    const { spawn, until, ofType, clock } = await limited(context, [{ match: 'p:*', concurrency: 1 }])
    const { model, answer, state } = gated()
    const [first, second] = [await spawn({ model }, 'a1'), await spawn({ model }, 'a2')]
    const runs = [first.prompt('go').result, second.prompt('go').result]
    await until(() => ofType('model.waiting').length === 1)
    assert.is(ofType('model.waiting')[0]?.agentId, 'a2')
    assert.equal([first.waitsFor, second.waitsFor, second.state], [null, 'p:m', 'replying.requesting'])
    await clock.advance(700)
    answer()
    await until(() => state.asked === 2)
    assert.is(second.waitsFor, null)
    answer()
    await Promise.all(runs)
    const [waiting] = ofType('model.waiting')
    assert.equal([waiting?.model, waiting?.why, waiting?.ahead], ['p:m', 'concurrency', 0])
    assert.equal(
      ofType('model.waited').map(({ agentId, ms }) => [agentId, ms]),
      [['a2', 700]],
    )
  })

  it('lets an aborted agent go at once, and the next one take its place', async (context) => {
    const { spawn, until, clock } = await limited(context, { concurrency: 1 })
    const { model, state, answer } = gated()
    const agents = await Promise.all([spawn({ model }), spawn({ model }), spawn({ model })])
    const runs = agents.map((agent) => agent.prompt('go').result)
    await until(() => state.asked === 1 && agents[1].waitsFor !== null && agents[2].waitsFor !== null)
    agents[1].abort()
    assert.is((await runs[1])?.stopReason, 'aborted')
    assert.is(agents[1].waitsFor, null)
    // One that is under way frees its place, too.
    agents[0].abort()
    assert.is((await runs[0])?.stopReason, 'aborted')
    await until(() => state.asked === 2)
    answer()
    answer()
    assert.is((await runs[2])?.stopReason, 'stop')
    assert.is(clock.pending, 0)
  })

  it('counts towards the wall time of a run, whose pause leaves the queue', async (context) => {
    const { spawn, until, clock } = await limited(context, { concurrency: 1 })
    const { model, state, answer } = gated()
    const blocking = (await spawn({ model })).prompt('go').result
    await until(() => state.asked === 1)
    const agent = await spawn({ model, limits: { ms: 1_000 } })
    const run = agent.prompt('go').result
    await until(() => agent.waitsFor === 'p:m')
    await clock.advance(1_000)
    const { stopReason, reason } = await run
    assert.equal([stopReason, reason?.type === 'limit' && reason.limit], ['paused', 'ms'])
    await until(() => agent.waitsFor === null)
    answer()
    await blocking
    const resumed = agent.resume().result
    await until(() => state.asked === 2)
    answer()
    assert.is((await resumed).stopReason, 'stop')
  })

  it('ends with the runtime, for those that wait too', async (context) => {
    const { spawn, until, runtime, clock } = await limited(context, { concurrency: 1, requestsPerMinute: 1 })
    const { model, state } = gated()
    const agents = await Promise.all([spawn({ model }), spawn({ model })])
    const runs = agents.map((agent) => agent.prompt('go').result)
    await until(() => state.asked === 1 && agents.some(({ waitsFor }) => waitsFor !== null))
    await runtime.close()
    assert.equal(
      (await Promise.all(runs)).map(({ stopReason }) => stopReason),
      ['aborted', 'aborted'],
    )
    assert.equal([state.asked, clock.pending], [1, 0])
  })

  it('does not count as a stall of a sub-agent', async (context) => {
    const { spawn, until, clock, runtime } = await limited(context, [{ match: 'p:*', concurrency: 1 }])
    const { model, answer } = gated()
    const parent = await spawn({
      model: scriptedModel([calls('c', ['helper', { task: 'help' }]), 'done'], { id: 'free:m' }),
      agents: [{ definition: defineAgent({ name: 'helper', description: 'Helps.', model }), stallMs: 1_000 }],
    })
    const blocker = await runtime.spawn(defineAgent({ name: 'blocker', model }))
    const blocking = blocker.prompt('go').result
    const run = parent.prompt('go').result
    await until(() => parent.children()[0]?.waitsFor === 'p:m')
    await clock.advance(10_000)
    answer()
    await blocking
    await until(() => parent.children()[0]?.waitsFor === null)
    answer()
    assert.equal([(await run).text, (await run).stopReason], ['done', 'stop'])
  })

  it('holds for summaries and for the judge of a group, too', async (context) => {
    const { spawn, runtime, until } = await limited(context, { concurrency: 1 })
    const { model, state, answer } = gated()
    const agent = await spawn({ model, compaction: { strategy: llmStrategy(), keepRecent: 1, minShrink: 0 } })
    for (let nth = 0; nth < 4; nth++) {
      const run = agent.prompt(`${nth}`).result
      await until(() => state.asked === nth + 1)
      answer(done([{ type: 'text', text: long }]))
      await run
    }
    const branch = defineAgent({ name: 'branch', model })
    const group = parallel(runtime, [branch, branch], 'go', { judge: { model } })
    agent.compact()
    // The summary, the two branches and the judge.
    for (let nth = 4; nth < 8; nth++) {
      await until(() => state.asked > nth)
      answer(done([{ type: 'text', text: '1' }]))
    }
    assert.ok((await group).winner !== null)
    assert.is(state.most, 1)
  })

  it('holds for the own model of a summary', async (context) => {
    const { spawn, until, ofType } = await limited(context, [{ match: 'p:*', concurrency: 1 }])
    const { model, state, answer } = gated()
    const blocking = (await spawn({ model })).prompt('go').result
    await until(() => state.asked === 1)
    const agent = await spawn({
      model: scriptedModel([long, long, long, long], { id: 'free:m' }),
      compaction: { strategy: llmStrategy({ model }), keepRecent: 1, minShrink: 0 },
    })
    for (let nth = 0; nth < 4; nth++) await agent.prompt(`${nth}`).result
    agent.compact()
    await until(() => agent.waitsFor === 'p:m')
    answer()
    await until(() => state.asked === 2)
    answer()
    await until(() => ofType('compaction.end').length === 1)
    await blocking
  })
})

describe('limits of requests and tokens per minute', (it) => {
  it('spread what ten agents ask over minutes', async (context) => {
    const { spawn, clock } = await limited(context, { requestsPerMinute: 4 })
    const times: number[] = []
    const start = clock.now()
    const model: Model = {
      id: 'p:m',
      async *stream() {
        times.push(clock.now() - start)
        yield done([{ type: 'text', text: 'hi' }])
      },
    }
    const agents = await Promise.all(Array.from({ length: 10 }, () => spawn({ model })))
    const runs = agents.map((agent) => agent.prompt('go').result)
    await clock.advance(120_000)
    await Promise.all(runs)
    assert.equal(times, [0, 0, 0, 0, 60_000, 60_000, 60_000, 60_000, 120_000, 120_000])
  })

  it('end a run whose request can never be made, at once and with its size', async (context) => {
    const { spawn } = await limited(context, { tokensPerMinute: 100 })
    const { model, state } = gated()
    const agent = await spawn({ model })
    const { stopReason, error } = await agent.prompt('word '.repeat(1_000)).result
    assert.equal([stopReason, error?.code, state.asked], ['error', 'MODEL_LIMIT', 0])
    assert.match(error?.message ?? '', /p:m of about \d{3,4} tokens .* 100\. Raise tokensPerMinute/)
  })

  it('count what a reply says that it used', async (context) => {
    const { spawn, until, clock } = await limited(context, { tokensPerMinute: 1_000 })
    const { model, state, answer } = gated()
    const [first, second] = [await spawn({ model }), await spawn({ model })]
    const run = first.prompt('go').result
    await until(() => state.asked === 1)
    answer(done([{ type: 'text', text: 'hi' }], { usage: usageOf(900, 99) }))
    await run
    const next = second.prompt('word '.repeat(20)).result
    await until(() => second.waitsFor !== null)
    await clock.advance(60_000)
    await until(() => state.asked === 2)
    answer()
    assert.is((await next).stopReason, 'stop')
  })
})

describe('a provider that asks for a pause', (it) => {
  const slowDown = { kind: 'rateLimited', message: 'slow down', retryAfterMs: 5_000 } as const

  it('is left alone by every agent until then', async (context) => {
    const { spawn, clock, until, ofType } = await limited(context, {})
    const start = clock.now()
    const times: number[] = []
    const model: Model = {
      id: 'p:m',
      async *stream() {
        times.push(clock.now() - start)
        if (times.length === 1) yield { type: 'error', error: slowDown }
        else yield done([{ type: 'text', text: 'hi' }])
      },
    }
    const [first, second] = [await spawn({ model }), await spawn({ model })]
    const runs = [first.prompt('go').result]
    await until(() => first.state === 'backoff')
    runs.push(second.prompt('go').result)
    await until(() => second.waitsFor === 'p:m')
    assert.is(ofType('model.waiting')[0]?.why, 'retryAfter')
    await clock.advance(5_000)
    assert.equal(
      (await Promise.all(runs)).map(({ stopReason }) => stopReason),
      ['stop', 'stop'],
    )
    assert.equal(times, [0, 5_000, 5_000])
  })

  it('is not waited for where there is another model', async (context) => {
    const { spawn, clock, ofType } = await limited(context, { concurrency: 5 })
    const broken = scriptedModel([{ error: slowDown }, 'back again'], { id: 'a:1' })
    const backup = scriptedModel(['one', 'two'], { id: 'b:2' })
    const agent = await spawn({ model: fallback([broken, backup]) })
    assert.is((await agent.prompt('go').result).text, 'one')
    assert.is((await agent.prompt('go').result).text, 'two')
    assert.equal([broken.requests.length, ofType('model.waiting').length], [1, 0])
    assert.match(
      ofType('reply.reset')[1]?.error.message ?? '',
      /^the provider wants no calls for another 5000 ms \(a:1\)/,
    )
    await clock.advance(5_000)
    assert.is((await agent.prompt('go').result).text, 'back again')
  })

  it('is not waited for by a call that waits for its turn, where there is another model', async (context) => {
    const { spawn, until, clock, events } = await limited(context, { concurrency: 1 })
    const { model, answer, state } = gated('a:1')
    const backup = scriptedModel(['one', 'two'], { id: 'b:2' })
    const agents = [
      await spawn({ model: fallback([model, backup]) }),
      await spawn({ model: fallback([model, backup]) }),
    ]
    const runs = agents.map((agent) => agent.prompt('go').result)
    await until(() => agents[1]!.waitsFor === 'a:1')
    answer({ type: 'error', error: slowDown })
    await until(() => events.filter(({ type }) => type === 'run.end').length === 2)
    const results = await Promise.all(runs)
    assert.equal(
      results.map(({ stopReason, text }) => [stopReason, text]),
      [
        ['stop', 'one'],
        ['stop', 'two'],
      ],
    )
    assert.equal([state.asked, clock.pending, agents[1]!.waitsFor], [1, 0, null])
  })
})

describe('the option models', (it) => {
  for (const models of [{ concurrency: 0 }, { concurency: 2 }, [{ match: '' }], 5, { tokensPerMinute: 1.5 }]) {
    it(`may not be ${JSON.stringify(models)}`, async () => {
      await assert.rejects(createRuntime({ models: models as never }), withCode('INVALID_OPTION', 'models'))
    })
  }
})
