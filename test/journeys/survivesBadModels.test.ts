import type { Model, ModelPart } from '../../src/protocol/ports/model.ts'
import { calls, delta, done, never, quiet, startAgent, tool, type Harness } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const text = (words: string) => [{ type: 'text', text: words }] as const
const fine: readonly ModelPart[] = [delta('fine'), done(text('fine'))]

/** A model whose first stream is the bad one; later ones are fine. */
const modelOf = (bad: Model['stream']): Model & { asked: number } => {
  const model = {
    id: 'test:bad',
    asked: 0,
    stream(request, options) {
      model.asked += 1
      if (model.asked === 1) return bad(request, options)
      return (async function* () {
        yield* fine
      })()
    },
  } satisfies Model & { asked: number }
  return model
}

/** A stream that rejects with this, whatever it is. */
const failingWith = (thrown: unknown): AsyncIterable<ModelPart> => ({
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- models may reject with anything
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(thrown) }),
})

const yielding = (...parts: readonly unknown[]): Model['stream'] =>
  async function* () {
    yield* parts as ModelPart[]
  }

/** Runs a prompt against it, waiting for retries as long as it takes. */
async function prompt(
  context: CaseContext,
  stream: Model['stream'],
): Promise<Harness & { result: Awaited<ReturnType<Harness['agent']['prompt']>['result']>; asked: number }> {
  const model = modelOf(stream)
  const harness = await startAgent(context, { model, tools: [tool('look', () => 'ok')] })
  const run = harness.agent.prompt('go')
  await quiet()
  await harness.clock.advance(60_000)
  const result = await run.result
  const asked = model.asked
  assert.is((await harness.agent.prompt('again').result).text, 'fine')
  return { ...harness, result, asked }
}

describe('a model that breaks its contract', (it) => {
  const retried: readonly (readonly [string, Model['stream'], RegExp])[] = [
    ['yields nothing', yielding(), /MODEL_PROTOCOL.*without "done" or "error"/],
    ['stops after a delta', yielding(delta('half')), /MODEL_PROTOCOL.*without "done" or "error"/],
    [
      'throws at once',
      () => {
        throw new Error('sync')
      },
      /MODEL_FAILED.*sync/,
    ],
    [
      'throws a string',
      async function* () {
        yield delta('a')
        yield* failingWith('a string')
      },
      /MODEL_FAILED.*a string/,
    ],
    ['throws undefined', () => failingWith(undefined), /MODEL_FAILED.*undefined/],
    [
      'yields an error of a kind nobody knows',
      yielding({ type: 'error', error: { kind: 'tired', message: 'zzz' } }),
      /MODEL_FAILED.*zzz/,
    ],
    ['yields an error without anything in it', yielding({ type: 'error' }), /MODEL_FAILED/],
  ]
  for (const [what, stream, expected] of retried) {
    it(`and ${what} is asked again`, async (context) => {
      const { result, asked, ofType } = await prompt(context, stream)
      assert.equal([result.text, asked], ['fine', 2])
      const [reset] = ofType('reply.reset')
      assert.match(`${reset!.error.code} ${reset!.error.message}`, expected)
    })
  }

  const refused: readonly (readonly [string, Model['stream']])[] = [
    ['returns no stream', () => undefined as never],
    ['yields two terminal parts', yielding(delta('a'), done(text('a')), done(text('b')))],
    [
      'yields an error after its answer',
      yielding(done(text('a')), { type: 'error', error: { kind: 'other', message: 'x' } }),
    ],
    ['yields a delta after its answer', yielding(delta('a'), done(text('a')), delta('b'))],
    ['yields a part of unknown type', yielding({ type: 'audio.delta', data: 1 })],
    ['yields undefined', yielding(undefined)],
    ['yields a delta without text', yielding({ type: 'text.delta' })],
    ['yields an answer without a reply', yielding({ type: 'done' })],
    ['yields a reply without content', yielding({ type: 'done', reply: { stopReason: 'stop', usage: {} } })],
    [
      'yields a reply with less than no tokens',
      yielding(delta('a'), done(text('a'), { usage: { input: 1, output: -1, cacheRead: 0, cacheWrite: 0 } })),
    ],
    ['yields a warning without words', yielding({ type: 'warning' })],
    [
      'yields a reply that stopped for no known reason',
      yielding(delta('a'), done(text('a'), { stopReason: 'bored' as never })),
    ],
    ['yields a reply with a block of unknown type', yielding(delta('a'), done([{ type: 'video' } as never]))],
    ['yields a reply with null for a block', yielding(delta('a'), done([null as never]))],
    [
      'yields a call without a name',
      yielding(delta('a'), done([{ type: 'toolCall', callId: 'c', input: {} } as never], { stopReason: 'toolUse' })),
    ],
    [
      'yields a call whose id is a number',
      yielding(
        delta('a'),
        done([{ type: 'toolCall', callId: 7, name: 'look', input: {} } as never], { stopReason: 'toolUse' }),
      ),
    ],
  ]
  for (const [what, stream] of refused) {
    it(`and ${what} ends the run with MODEL_PROTOCOL`, async (context) => {
      const { result, asked } = await prompt(context, stream)
      assert.equal([result.stopReason, result.error?.code, asked], ['error', 'MODEL_PROTOCOL', 1])
      assert.match(result.error!.message, /test:bad broke the contract/)
    })
  }

  it('and leaves the input of a call out gets a call without arguments', async (context) => {
    const { result, ofType } = await prompt(
      context,
      yielding(done([{ type: 'toolCall', callId: 'c', name: 'look' } as never], { stopReason: 'toolUse' })),
    )
    assert.is(result.text, 'fine')
    assert.is(ofType('tool.end')[0]!.message.isError, false)
  })

  it('and never ends after its answer does not hold the answer up', async (context) => {
    const { result } = await prompt(context, async function* () {
      yield delta('answer')
      yield done(text('answer'))
      await never
    })
    assert.is(result.text, 'answer')
  })

  it('and never ends can be aborted', async (context) => {
    const { agent, untilState } = await startAgent(context, {
      model: modelOf(async function* () {
        for (;;) {
          yield delta('again ')
          await quiet()
        }
      }),
    })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.is((await agent.prompt('on').result).text, 'fine')
  })

  it('and streams without a pause for ever can be aborted by a listener', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      model: modelOf(async function* () {
        for (;;) yield delta('x')
      }),
    })
    agent.subscribe((event) => {
      if (event.type === 'reply.delta' && event.offset === 1_000) agent.abort()
    })
    assert.is((await agent.prompt('go').result).stopReason, 'aborted')
    assert.is(ofType('reply.delta').length, 1_001)
  })

  it('and changes its reply after it gave it does not change the log', async (context) => {
    const content = [{ type: 'text', text: 'said' }]
    const { agent } = await startAgent(context, { model: modelOf(yielding(delta('said'), done(content as never))) })
    await agent.prompt('go').result
    content[0]!.text = 'never said'
    content.push({ type: 'text', text: 'more' })
    assert.equal(agent.conversation.trunk()[1]!.message.content, [{ type: 'text', text: 'said' }])
  })

  it('and answers with nothing at all twice ends the run, and the next request is valid', async (context) => {
    const { agent } = await startAgent(context, { replies: [{ parts: [done([])] }, { parts: [done([])] }, 'fine'] })
    const result = await agent.prompt('go').result
    assert.equal([result.stopReason, result.text], ['stop', ''])
    assert.is((await agent.prompt('again').result).text, 'fine')
    assert.equal(
      agent.conversation.trunk().map(({ message }) => message.role),
      ['user', 'assistant', 'user', 'assistant'],
    )
  })

  it('and says it wants a tool but calls none ends the run', async (context) => {
    const { result } = await prompt(context, yielding(delta('hm'), done(text('hm'), { stopReason: 'toolUse' })))
    assert.equal([result.stopReason, result.text], ['stop', 'hm'])
  })

  for (const stopReason of ['length', 'refusal'] as const) {
    it(`or stops with ${stopReason} ends the run so`, async (context) => {
      const { result } = await prompt(context, yielding(delta('hm'), done(text('hm'), { stopReason })))
      assert.equal([result.stopReason, result.text], [stopReason, 'hm'])
    })
  }
})

describe('a scripted model', (it) => {
  it('fails on the first request it does not foresee, by its number, and the agent says so', async (context) => {
    const { agent, script } = await startAgent(context, {
      tools: [tool('look', () => 'x')],
      replies: [calls('c', 'look')],
    })
    const { stopReason, error } = await agent.prompt('go').result
    assert.is(stopReason, 'error')
    assert.match(error!.message, /request 2 is not in the script, which holds 1 replies/)
    script.assertComplete()
  })
})
