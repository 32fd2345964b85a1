import { delta, done, startAgent, type Harness } from '../support/agentHarness.ts'
import type { ModelErrorKind } from '../../src/protocol/ports/model.ts'
import { assert, describe } from '../support/suite.ts'

const failure = (kind: ModelErrorKind, retryAfterMs?: number) =>
  ({ error: { kind, message: `it is ${kind}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } }) as const

/** When each request was made, in milliseconds after the first. */
const timesOf = ({ ofType, clock }: Harness, start: number): number[] => [
  ...ofType('reply.reset').map(({ retryAt }) => (retryAt ?? Number.NaN) - start),
  clock.now() - start,
]

describe('a failed reply', (it) => {
  it('is tried again after waits that double, cut by half when random says 0', async (context) => {
    const harness = await startAgent(context, {
      replies: [failure('network'), failure('other'), failure('rateLimited'), 'fine'],
      retry: { attempts: 4 },
    })
    const { agent, clock, script, ofType, untilState } = harness
    const start = clock.now()
    const run = agent.prompt('go')
    await untilState('backoff')
    await clock.advance(499)
    assert.is(script.requests.length, 1)
    await clock.advance(1)
    assert.is(script.requests.length, 2)
    await clock.advance(999)
    assert.is(script.requests.length, 2)
    await clock.advance(1)
    assert.is(script.requests.length, 3)
    await clock.advance(2_000)
    assert.equal([(await run.result).text, (await run.result).turns], ['fine', 1])
    assert.equal(timesOf(harness, start), [500, 1_500, 3_500, 3_500])
    assert.equal(
      ofType('reply.reset').map(({ attempt, error }) => [attempt, error.code]),
      [
        [1, 'MODEL_NETWORK'],
        [2, 'MODEL_FAILED'],
        [3, 'MODEL_RATE_LIMITED'],
      ],
    )
  })

  it('waits longer by the jitter, up to maxMs', async (context) => {
    const harness = await startAgent(context, {
      replies: [failure('network'), failure('network'), failure('network'), 'fine'],
      random: () => 1,
      retry: { baseMs: 100, maxMs: 300 },
    })
    const { agent, clock, untilState } = harness
    const start = clock.now()
    const run = agent.prompt('go')
    await untilState('backoff')
    await clock.advance(600)
    assert.is((await run.result).text, 'fine')
    assert.equal(timesOf(harness, start).slice(0, 3), [100, 300, 600])
  })

  it('takes the jitter from random, each time anew', async (context) => {
    const numbers = [0.5, 0.25]
    const harness = await startAgent(context, {
      replies: [failure('network'), failure('network'), 'fine'],
      random: () => numbers.shift() ?? 0,
    })
    const { agent, clock, untilState } = harness
    const start = clock.now()
    const run = agent.prompt('go')
    await untilState('backoff')
    await clock.advance(10_000)
    await run.result
    assert.equal(timesOf(harness, start).slice(0, 2), [750, 750 + 1_250])
  })

  it('waits exactly as long as the provider asks', async (context) => {
    const harness = await startAgent(context, { replies: [failure('rateLimited', 12_345), 'fine'] })
    const { agent, clock, script, untilState } = harness
    const run = agent.prompt('go')
    await untilState('backoff')
    await clock.advance(12_344)
    assert.is(script.requests.length, 1)
    await clock.advance(1)
    assert.is((await run.result).text, 'fine')
  })

  it('ends the run when the provider asks for longer than is allowed', async (context) => {
    const { agent, script } = await startAgent(context, { replies: [failure('rateLimited', 600_001)] })
    const { stopReason, error } = await agent.prompt('go').result
    assert.equal([stopReason, error?.code, script.requests.length], ['error', 'MODEL_RATE_LIMITED', 1])
  })

  it('ends the run after the last attempt, and the agent goes on', async (context) => {
    const { agent, clock, script, ofType, untilState } = await startAgent(context, {
      replies: [failure('network'), failure('network'), 'fine'],
      retry: { attempts: 2 },
    })
    const run = agent.prompt('go')
    await untilState('backoff')
    await clock.advance(1_000)
    const { stopReason, error } = await run.result
    assert.equal([stopReason, error?.code, script.requests.length], ['error', 'MODEL_NETWORK', 2])
    assert.match(error!.message, /it is network.*Check the connection/)
    assert.equal(
      ofType('reply.reset').map(({ retryAt }) => retryAt !== undefined),
      [true, false],
    )
    assert.is((await agent.prompt('again').result).text, 'fine')
  })

  it('is tried again from the start when its stream dies midway', async (context) => {
    const { agent, clock, ofType, types, untilState, script } = await startAgent(context, {
      replies: [
        {
          parts: (async function* () {
            yield delta('half a ')
            throw new Error('socket closed')
          })(),
        },
        'the whole answer',
      ],
    })
    const run = agent.prompt('go')
    await untilState('backoff')
    await clock.advance(1_000)
    assert.is((await run.result).text, 'the whole answer')
    assert.equal(
      agent.conversation.log().map(({ message }) => message.role),
      ['user', 'assistant'],
    )
    assert.equal(
      types().filter((type) => /^reply\.(start|reset|end)$/.test(type)),
      ['reply.start', 'reply.reset', 'reply.start', 'reply.end'],
    )
    assert.equal(
      ofType('reply.delta').map(({ text, offset }) => [text, offset]),
      [
        ['half a ', 0],
        ['the', 0],
        [' whole', 3],
        [' answer', 9],
      ],
    )
    assert.equal(
      ofType('reply.start').map(({ attempt }) => attempt),
      [1, 2],
    )
    assert.equal(script.requests[0], script.requests[1])
  })

  for (const [kind, code] of [
    ['auth', 'MODEL_AUTH'],
    ['badRequest', 'MODEL_BAD_REQUEST'],
  ] as const) {
    it(`is not tried again when it was ${kind}`, async (context) => {
      const { agent, script, ofType } = await startAgent(context, { replies: [failure(kind), 'fine'] })
      const { stopReason, error } = await agent.prompt('go').result
      assert.equal([stopReason, error?.code, script.requests.length], ['error', code, 1])
      assert.is(ofType('reply.reset').length, 1)
      assert.is(ofType('reply.start').length, 0)
      assert.is((await agent.prompt('again').result).text, 'fine')
    })
  }

  it('has as many attempts again in the next turn', async (context) => {
    const { agent, clock, ofType, untilState } = await startAgent(context, {
      replies: [failure('network'), 'a', failure('network'), 'b'],
      retry: { attempts: 2 },
    })
    const first = agent.prompt('1')
    await untilState('backoff')
    await clock.advance(1_000)
    await first.result
    const second = agent.prompt('2')
    await untilState('backoff')
    await clock.advance(1_000)
    assert.is((await second.result).text, 'b')
    assert.equal(
      ofType('reply.reset').map(({ attempt }) => attempt),
      [1, 1],
    )
  })

  it('counts the tokens of an answer that did not fit its schema', async (context) => {
    const { z } = await import('zod')
    const { agent } = await startAgent(context, {
      output: z.object({ n: z.number() }),
      replies: [
        { parts: [delta('no'), done([{ type: 'text', text: 'no' }])] },
        { parts: [delta('{"n":1}'), done([{ type: 'text', text: '{"n":1}' }])] },
      ],
    })
    const { usage, output } = await agent.prompt('go').result
    assert.equal(output, { n: 1 })
    assert.equal([usage.input, usage.output], [20, 10])
  })
})
