import { policyModel } from '../../packages/models/src/policyModel.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { Cancellation } from '../../src/actors/timing/cancellation.ts'
import { readReply } from '../../src/actors/turn/readReply.ts'
import type { Model, ModelPart, ModelRequest } from '../../src/protocol/ports/model.ts'
import { delta, done, gate, never, quiet, usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const request: ModelRequest = {
  system: 'be brief',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello there' }] }],
  tools: [],
  settings: {},
}
const signal = (): AbortSignal => new AbortController().signal

async function partsOf(model: Model, given = request, options = { signal: signal() }): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(given, options)) parts.push(part)
  return parts
}

describe('a scripted model', (it) => {
  it('streams words, thinking and arguments, then the whole reply, with usage estimated', async () => {
    const parts = await partsOf(
      scriptedModel([
        { thinking: 'let me see', text: 'Look at this.', toolCalls: [{ name: 'look', input: { at: 1 } }] },
      ]),
    )
    assert.equal(parts.slice(0, -1), [
      { type: 'thinking.delta', text: 'let' },
      { type: 'thinking.delta', text: ' me' },
      { type: 'thinking.delta', text: ' see' },
      { type: 'text.delta', text: 'Look' },
      { type: 'text.delta', text: ' at' },
      { type: 'text.delta', text: ' this.' },
      { type: 'toolCall.delta', callId: 'call_0_0', name: 'look', text: '{"at":1}' },
    ])
    const last = parts.at(-1)!
    assert.ok(last.type === 'done' && last.reply.stopReason === 'toolUse')
    assert.ok(last.reply.usage.input > 0 && last.reply.usage.output > 0)
  })

  it('plays its replies in order, records what it was asked, and takes functions, failures and exact parts', async () => {
    const exact = [delta('x'), done([])]
    const model = scriptedModel([
      'one',
      ({ system }) => system,
      { error: { kind: 'auth', message: 'no' } },
      { parts: exact },
      async () => ({ text: 'later', usage: usageOf(1, 2) }),
    ])
    const texts: string[] = []
    for (let n = 0; n < 5; n += 1)
      texts.push((await partsOf(model)).map((part) => ('text' in part ? part.text : part.type)).join('|'))
    assert.equal(texts, ['one|done', 'be| brief|done', 'error', 'x|done', 'later|done'])
    assert.is(model.requests.length, 5)
    assert.is(model.requests[0], request)
    model.assertComplete()
  })

  it('fails on the first request it does not foresee, by its number', async () => {
    const model = scriptedModel(['one'])
    await partsOf(model)
    const [part] = await partsOf(model)
    assert.ok(part?.type === 'error' && part.error.kind === 'badRequest')
    assert.match(part.error.message, /request 2 .*holds 1/)
  })

  it('tells which replies were never asked for', async () => {
    const model = scriptedModel(['one', 'two', 'three'])
    await partsOf(model)
    assert.throws(() => model.assertComplete(), /holds 3 replies, but only 1/)
  })

  it('stops when it is aborted', async () => {
    const controller = new AbortController()
    const seen: string[] = []
    for await (const part of scriptedModel(['one two three']).stream(request, { signal: controller.signal })) {
      seen.push(part.type)
      controller.abort()
    }
    assert.equal(seen, ['text.delta'])
  })
})

describe('a policy model', (it) => {
  it('decides from the request and the turn, and streams what it decided', async () => {
    const model = policyModel(({ messages }, { turnIndex }) => `${messages.length} messages in turn ${turnIndex}`)
    const parts = await partsOf(model)
    assert.is(parts.map((part) => (part.type === 'text.delta' ? part.text : '')).join(''), '1 messages in turn 0')
    const [reply] = parts.filter((part) => part.type === 'done')
    assert.is(reply?.type === 'done' && reply.reply.stopReason, 'stop')
  })

  it('keeps every character, white space included', async () => {
    for (const text of ['  lead', 'trail  ', ' \n ', 'a\n\n b\tc ', 'é🎉 x', '']) {
      const parts = await partsOf(policyModel(() => text))
      assert.is(parts.map((part) => (part.type === 'text.delta' ? part.text : '')).join(''), text)
    }
  })

  it('gives calls of different turns different ids, the same each time', async () => {
    const model = policyModel(() => ({
      toolCalls: [
        { name: 'a', input: {} },
        { name: 'b', input: {} },
      ],
    }))
    const idsAt = async (turnIndex: number) =>
      (await partsOf(model, request, { signal: signal(), turnIndex } as never)).flatMap((part) =>
        part.type === 'toolCall.delta' ? [part.callId] : [],
      )
    const [zero, one] = [await idsAt(0), await idsAt(1)]
    assert.is(new Set([...zero, ...one]).size, 4)
    assert.equal(await idsAt(0), zero)
  })

  it('that throws is a failed call', async () => {
    const result = await readReply(
      policyModel(() => {
        throw new Error('no idea')
      }),
      request,
      { cancellation: new Cancellation() },
      () => {},
    )
    assert.ok(result !== null && !result.ok)
    assert.match(result.failure.error.message, /no idea/)
  })
})

describe('reading a reply', (it) => {
  const modelOf = (stream: Model['stream']): Model => ({ id: 'test:model', stream })

  it('gives on each delta before the next one is asked for', async () => {
    const open = gate()
    const seen: string[] = []
    const reading = readReply(
      modelOf(async function* () {
        yield delta('first')
        await open.promise
        yield delta('second')
        yield done([])
      }),
      request,
      { cancellation: new Cancellation() },
      (part) => part.type === 'text.delta' && seen.push(part.text),
    )
    await quiet()
    assert.equal(seen, ['first'])
    open.resolve()
    assert.is((await reading)?.ok, true)
    assert.equal(seen, ['first', 'second'])
  })

  it('is over at once when it is aborted, though the model goes on, and lets the model clean up', async () => {
    const cancellation = new Cancellation()
    let cleaned = 0
    const seen: string[] = []
    const reading = readReply(
      modelOf(async function* () {
        try {
          for (;;) {
            yield delta('x')
            await quiet()
          }
        } finally {
          cleaned += 1
        }
      }),
      request,
      { cancellation },
      (part) => {
        if (part.type === 'text.delta') seen.push(part.text)
        if (seen.length === 3) cancellation.abort()
      },
    )
    assert.is(await reading, null)
    await quiet()
    await quiet()
    assert.is(seen.length, 3)
    assert.is(cleaned, 1)
  })

  it('of a deaf model is over at once when it is aborted', async () => {
    const cancellation = new Cancellation()
    const reading = readReply(
      modelOf(async function* () {
        yield await never
      }),
      request,
      { cancellation },
      () => {},
    )
    await quiet()
    cancellation.abort()
    assert.is(await reading, null)
  })

  it('gives nothing on that a model yields after an abort it did not notice', async () => {
    const cancellation = new Cancellation()
    const open = gate()
    const seen: string[] = []
    const reading = readReply(
      modelOf(async function* () {
        yield delta('a')
        await open.promise
        yield delta('b')
        yield done([])
      }),
      request,
      { cancellation },
      (part) => seen.push(part.type),
    )
    await quiet()
    cancellation.abort()
    open.resolve()
    assert.is(await reading, null)
    await quiet()
    assert.equal(seen, ['text.delta'])
  })

  it('asks no model when it is aborted already', async () => {
    let asked = 0
    const model = modelOf(async function* () {
      asked += 1
      yield done([])
    })
    assert.is(await readReply(model, request, { cancellation: Cancellation.of(AbortSignal.abort()) }, () => {}), null)
    assert.is(asked, 0)
  })

  it('lets a model that breaks its contract clean up', async () => {
    let cleaned = false
    const result = await readReply(
      modelOf(async function* () {
        try {
          yield { type: 'what' } as never
          yield done([])
        } finally {
          cleaned = true
        }
      }),
      request,
      { cancellation: new Cancellation() },
      () => {},
    )
    assert.ok(result !== null && !result.ok && result.failure.error.code === 'MODEL_PROTOCOL')
    await quiet()
    assert.is(cleaned, true)
  })

  it('never throws, even when cleaning up does, or the listener', async () => {
    const model: Model = {
      id: 'test:model',
      stream: () => ({
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ done: false, value: { type: 'what' } as never }),
          return: async () => {
            throw new Error('cleanup')
          },
        }),
      }),
    }
    const result = await readReply(model, request, { cancellation: new Cancellation() }, () => {})
    assert.is(result?.ok, false)
    const thrown = await readReply(
      modelOf(async function* () {
        yield delta('x')
      }),
      request,
      { cancellation: new Cancellation() },
      () => {
        throw new Error('listener')
      },
    )
    assert.is(thrown?.ok, false)
    await quiet()
  })

  for (const kind of ['rateLimited', 'network', 'auth', 'overflow', 'badRequest', 'other'] as const) {
    it(`keeps the kind ${kind}, its message and how long to wait`, async () => {
      const result = await readReply(
        scriptedModel([{ error: { kind, message: 'as the provider said. ', retryAfterMs: 5 } }]),
        request,
        { cancellation: new Cancellation() },
        () => {},
      )
      assert.ok(result !== null && !result.ok)
      assert.equal([result.failure.kind, result.failure.retryAfterMs], [kind, 5])
      assert.match(result.failure.error.message, /^as the provider said \(embedded:scripted\)\. [A-Z]/)
    })
  }
})
