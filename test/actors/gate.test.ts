import { fallback } from '../../packages/models/src/fallback.ts'
import { router } from '../../packages/models/src/router.ts'
import { gateOf } from '../../packages/runtime/src/limits/gateOf.ts'
import type { ModelLimits } from '../../packages/runtime/src/limits/modelLimit.ts'
import { ModelQueue } from '../../packages/runtime/src/limits/modelQueue.ts'
import { through } from '../../src/actors/models/openStream.ts'
import type { Model, ModelRequest } from '../../src/protocol/ports/model.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { delta, quiet } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const request: ModelRequest = {
  system: 'Be brief.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'word '.repeat(100) }] }],
  tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
  settings: {},
}

function gateWith(limits: ModelLimits, tokens?: number) {
  const clock = simulatedClock()
  const queue = new ModelQueue(limits, clock)
  const waits: string[] = []
  const gate = gateOf(queue, clock, {
    root: 'a',
    tokens,
    waits: (model, why) => {
      waits.push(`${model} ${why}`)
      return (ms) => void waits.push(`${model} ${ms ?? 'given up'}`)
    },
  })
  const ask = async (model: Model, signal = new AbortController().signal): Promise<string> => {
    let text = ''
    for await (const part of through(gate, model).stream(request, { signal }))
      if (part.type === 'text.delta') text += part.text
    return text
  }
  return { clock, waits, gate, ask }
}

/** Never says anything, not even when it is aborted or left. */
const deaf: Model = {
  id: 'p:deaf',
  stream: () => ({
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise<never>(() => {}),
      return: () => new Promise<never>(() => {}),
    }),
  }),
}

describe('a gate before models', (it) => {
  it('is not there without limits', () => {
    const model = scriptedModel([])
    assert.is(through(undefined, model), model)
  })

  it('frees the place of a call that is aborted, though its model goes on', async () => {
    const { ask, gate, waits } = gateWith({ concurrency: 1 })
    const abort = new AbortController()
    const parts = through(gate, deaf).stream(request, { signal: abort.signal })[Symbol.asyncIterator]()
    void parts.next()
    const next = ask(scriptedModel(['hi'], { id: 'p:m' }))
    await quiet()
    assert.equal(waits, ['p:m concurrency'])
    abort.abort()
    assert.is(await next, 'hi')
    assert.equal(waits, ['p:m concurrency', 'p:m 0'])
  })

  it('tells of one that was given up while it waited', async () => {
    const { ask, gate, waits } = gateWith({ concurrency: 1 })
    const abort = new AbortController()
    void through(gate, deaf).stream(request, { signal: abort.signal })[Symbol.asyncIterator]().next()
    await quiet()
    const late = new AbortController()
    const model = scriptedModel(['never'])
    const asked = ask(model, late.signal)
    await quiet()
    late.abort()
    assert.equal([await asked, model.requests.length], ['', 0])
    assert.is(waits.at(-1), 'embedded:scripted given up')
  })

  it('counts what stands for other models as those that it asks, and only once', async () => {
    const { ask, waits } = gateWith([
      { match: 'a:*', requestsPerMinute: 1 },
      { match: 'b:*', requestsPerMinute: 1 },
    ])
    const broken = scriptedModel([{ error: { kind: 'network', message: 'down' } }], { id: 'a:1' })
    const backup = scriptedModel(['hi'], { id: 'b:2' })
    assert.is(await ask(fallback([router(() => broken), backup])), 'hi')
    assert.equal(waits, [])
    void ask(scriptedModel(['x'], { id: 'b:3' }))
    await quiet()
    assert.equal(waits, ['b:3 requestsPerMinute'])
  })

  it('reckons what a request holds when nobody says it', async () => {
    await assert.rejects(gateWith({ tokensPerMinute: 50 }).ask(scriptedModel(['hi'])), /of about 1\d\d tokens/)
    await assert.rejects(gateWith({ tokensPerMinute: 50 }, 77).ask(scriptedModel(['hi'])), /of about 77 tokens/)
    assert.is(await gateWith({ tokensPerMinute: 500 }).ask(scriptedModel(['hi'])), 'hi')
  })

  it('hands a model nothing but what a model is given', async () => {
    const seen: object[] = []
    const model: Model = {
      id: 'p:m',
      async *stream(_, options) {
        seen.push(options)
        yield delta('x')
      },
    }
    await gateWith({}).ask(model)
    assert.equal(Object.keys(seen[0]!), ['signal'])
  })
})
