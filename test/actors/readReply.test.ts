import { Cancellation } from '../../src/actors/timing/cancellation.ts'
import { readReply, type ReadReply } from '../../src/actors/turn/readReply.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import type { Model, ModelPart, ModelRequest } from '../../src/protocol/ports/model.ts'
import { maxContentChars } from '../../src/protocol/text/saidContent.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { delta, quiet, usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const said = { role: 'user', content: [{ type: 'text', text: 'go' }] } as const
const request: ModelRequest = { system: 'Be brief.', messages: [said], tools: [], settings: {} }
const reply = (more: object = {}) => ({
  content: [{ type: 'text', text: 'yes' }],
  stopReason: 'stop',
  usage: usageOf(1, 1),
  ...more,
})
const done = (more?: object): ModelPart => ({ type: 'done', reply: reply(more) }) as unknown as ModelPart
const error = (more: object): ModelPart => ({ type: 'error', error: { kind: 'other', message: 'no', ...more } })

interface Read {
  readonly read: ReadReply
  readonly heard: readonly unknown[]
  readonly asked: readonly ModelRequest[]
  readonly threw: readonly unknown[]
}

/** Reads a reply of a model that gives these parts, for each request the next list. */
async function readOf(...replies: readonly (readonly unknown[])[]): Promise<Read> {
  const asked: ModelRequest[] = []
  const [heard, threw]: unknown[][] = [[], []]
  const model: Model = {
    id: 'm',
    async *stream(given) {
      asked.push(given)
      yield* (replies[Math.min(asked.length, replies.length) - 1] ?? []) as ModelPart[]
    },
  }
  const options = { cancellation: new Cancellation(), threw: (_: string, thrown: unknown) => void threw!.push(thrown) }
  const read = await readReply(model, request, options, (part) => void heard!.push(part))
  return { read, heard: heard!, asked, threw: threw! }
}

const wrongOf = ({ read }: Read): string =>
  read?.ok === false ? `${read.failure.error.code} ${read.failure.error.message}` : 'kept'

describe('a reply of a model', (it) => {
  const block = (given: unknown) => [done({ content: [{ type: 'text', text: 'a' }, given] })]
  const media = { type: 'image', mimeType: 'image/png', data: 'AAAA' }
  const provider = { type: 'provider', provider: 'p', name: 'n', kind: 'call', data: {} }
  const wrong: { readonly [what: string]: readonly [parts: readonly unknown[], says: string] } = {
    'no end': [[delta('x')], 'ended without "done" or "error"'],
    'nothing at all': [[], 'ended without "done" or "error"'],
    'no part': [[undefined], 'unknown type undefined'],
    'null for a part': [[null], 'unknown type undefined'],
    'a part of another type': [[{ type: 'odd' }], 'unknown type "odd"'],
    'a delta without text': [[{ type: 'text.delta' }], 'text.delta without text'],
    'thinking without text': [[{ type: 'thinking.delta', text: 7 }], 'thinking.delta without text'],
    'a call without text': [[{ type: 'toolCall.delta', text: null }], 'toolCall.delta without text'],
    'a warning without message': [[{ type: 'warning' }], 'a warning without message'],
    'a model without name': [[{ type: 'model', model: '' }], 'named no model'],
    'a model of no text': [[{ type: 'model', model: 7 }], 'named no model'],
    'something after its end': [[done(), delta('x')], 'yielded "text.delta" after its terminal part'],
    'something after its error': [[error({}), done()], 'yielded "done" after its terminal part'],
    'no reply': [[{ type: 'done' }], 'its reply has no content'],
    'content that is none': [[done({ content: 'yes' })], 'its reply has no content'],
    'an odd stop reason': [[done({ stopReason: 'end' })], 'its stop reason is "end"'],
    'an odd end reason': [[done({ endReason: 7 })], 'the reason of its end is 7'],
    'a negative count': [[done({ usage: { ...usageOf(1, 1), output: -1 } })], 'its usage.output is -1'],
    'null for a block': [block(null), 'block 1 of its reply is no block: null'],
    'an unknown block': [block({ type: 'odd' }), 'block 1 of its reply is no block'],
    'a text block without text': [block({ type: 'text' }), 'block 1'],
    'thinking that is none': [block({ type: 'thinking', signature: 's' }), 'block 1'],
    'a signature that is none': [block({ type: 'thinking', text: 'a', signature: 7 }), 'block 1'],
    'an image that is none': [block({ ...media, data: 7 }), 'block 1'],
    'a call without id': [block({ type: 'toolCall', name: 'a' }), 'block 1'],
    'a call without name': [block({ type: 'toolCall', callId: 'a' }), 'block 1'],
    'a part of the provider without name': [block({ ...provider, name: 7 }), 'block 1'],
    'a part of no provider': [block({ ...provider, provider: undefined }), 'block 1'],
    'a part of the provider of an odd kind': [block({ ...provider, kind: 'odd' }), 'block 1'],
  }
  for (const [what, [parts, says]] of Object.entries(wrong))
    it(`is refused that has ${what}`, async () => {
      const read = await readOf(parts)
      assert.match(wrongOf(read), /^MODEL_PROTOCOL/)
      assert.match(wrongOf(read), says)
      assert.is(
        read.read?.ok === false && read.read.failure.kind,
        what.startsWith('no end') || what.startsWith('nothing at') ? 'network' : 'badRequest',
      )
    })

  it('is kept with every block that it may have', async () => {
    const blocks = [
      { type: 'thinking', text: 'hm' },
      { type: 'thinking', text: 'hm', signature: 's' },
      ...['call', 'result', 'source', 'file', 'other'].map((kind) => ({ ...provider, kind })),
      { type: 'toolCall', callId: 'c', name: 'n', input: {} },
    ]
    for (const given of blocks) assert.is(wrongOf(await readOf(block(given))), 'kept', JSON.stringify(given))
    const { read } = await readOf([done({ usage: undefined })])
    assert.ok(read?.ok)
    assert.is(read.reply.usage.input, 0)
  })

  it('ends as its reason says, or as its content does', async () => {
    const call = { type: 'toolCall', callId: 'c', name: 'n', input: {} }
    for (const [stopReason, content, expected, endReason] of [
      ['stop', [{ type: 'text', text: 'a' }], 'stop', undefined],
      ['toolUse', [call], 'toolUse', undefined],
      ['length', [{ type: 'text', text: 'a' }], 'length', undefined],
      ['refusal', [{ type: 'text', text: 'a' }], 'refusal', undefined],
      ['other', [call], 'toolUse', 'tool_use'],
      ['other', [{ type: 'text', text: 'a' }], 'stop', 'end_turn'],
    ] as const) {
      const { read } = await readOf([done({ stopReason, content, endReason })])
      assert.is(read?.ok === true ? read.reply.stopReason : wrongOf({ read } as Read), expected, stopReason)
    }
  })

  it('is too large beyond what a log may hold, in all its parts together, and begins anew with another model', async () => {
    const half = 'x'.repeat(maxContentChars / 2)
    for (const [parts, isKept] of [
      [[delta(half), delta(half)], true],
      [[delta(half), delta(`${half}x`)], false],
      [[{ type: 'warning', message: half }, delta(half)], true],
      [[{ type: 'warning', message: `${half}x` }, delta(half)], false],
      [[delta(half), { type: 'warning', message: `${half}x` }], false],
      [
        [
          delta(half),
          { type: 'model', model: 'o', after: { kind: 'network', message: 'gone' } },
          delta(half),
          delta(half),
        ],
        true,
      ],
      [[delta(half), { type: 'model', model: 'o' }, delta(half), delta('x')], false],
    ] as const) {
      const read = await readOf([...parts, done()])
      assert.match(wrongOf(read), isKept ? 'kept' : 'REPLY_TOO_LARGE')
    }
  })

  it('is of the model that took over, which is told with why', async () => {
    const { read, heard } = await readOf([
      { type: 'model', model: 'n1' },
      { type: 'model', model: 'n2', after: { kind: 'network', message: 'gone.', retryAfterMs: Infinity } },
      error({ kind: 'auth', message: ' wrong key. ', retryAfterMs: 5, usage: usageOf(3, 0) }),
    ])
    assert.ok(read?.ok === false)
    assert.equal(
      [read.model, read.failure.kind, read.failure.retryAfterMs, read.failure.usage?.input],
      ['n2', 'auth', 5, 3],
    )
    assert.match(read.failure.error.message, /^wrong key \(n2\)\./)
    const [first, second] = heard as { from: string; after?: { retryAfterMs?: number; kind: string } }[]
    assert.equal([first!.from, first!.after, second!.from, second!.after!.kind], ['m', undefined, 'n1', 'network'])
    assert.not.ok('retryAfterMs' in second!.after!)
    for (const kind of ['toString', undefined, 'odd'])
      assert.is(wrongOf(await readOf([error({ kind })])).split(' ')[0], 'MODEL_FAILED')
    for (const part of [{ type: 'error' }, { type: 'error', error: null }])
      assert.match(wrongOf(await readOf([part])), /^MODEL_FAILED/)
  })

  it('goes on where its provider paused it, eight times at most, and counts all of it', async () => {
    const paused = done({ stopReason: 'other', endReason: 'pause_turn' })
    for (const pauses of [0, 1, 2, 8]) {
      const { read, asked, heard } = await readOf(...Array.from({ length: pauses }, () => [paused]), [
        done({ content: [{ type: 'text', text: 'end' }] }),
      ])
      assert.ok(read?.ok)
      assert.equal([read.requests, asked.length, read.reply.content.length], [pauses + 1, pauses + 1, pauses + 1])
      assert.equal([read.reply.usage.input, read.lastUsage.input, read.reply.stopReason], [pauses + 1, 1, 'stop'])
      assert.equal(heard, [])
      for (const [at, { messages, ...rest }] of asked.entries())
        assert.equal(
          [messages.length, messages[0], rest],
          [at === 0 ? 1 : 2, said, { system: 'Be brief.', tools: [], settings: {} }],
        )
    }
    const { read, asked, heard } = await readOf([paused])
    assert.ok(read?.ok)
    assert.equal([asked.length, read.reply.stopReason, (heard[0] as { type: string }).type], [9, 'length', 'warning'])
    for (const [usage, input] of [
      [undefined, 1],
      [usageOf(5, 0), 6],
    ] as const) {
      const failed = await readOf([paused], [error({ usage })])
      assert.is(failed.read?.ok === false && failed.read.failure.usage?.input, input)
    }
    const alone = await readOf([error({})])
    assert.ok(alone.read?.ok === false && alone.read.failure.usage === undefined)
  })

  it('fails for good where no model was asked, and tells of bugs, of a router’s function too', async () => {
    const bug = new TypeError('x is not a function')
    const routed = (cause: unknown) => new RuntimeError('ROUTER_FAILED', 'it chose none', { cause })
    for (const [thrown, code, kind, told] of [
      [bug, 'MODEL_FAILED', 'other', bug],
      [new Error('no'), 'MODEL_FAILED', 'other', undefined],
      [routed(bug), 'ROUTER_FAILED', 'badRequest', bug],
      [routed(new Error('no')), 'ROUTER_FAILED', 'badRequest', undefined],
      [new RuntimeError('MODEL_LIMIT', 'never', { cause: bug }), 'MODEL_LIMIT', 'badRequest', undefined],
      [new RuntimeError('INTERNAL', 'odd', { cause: bug }), 'MODEL_FAILED', 'other', undefined],
    ] as const)
      for (const isLate of [false, true]) {
        const threw: unknown[] = []
        const model: Model = {
          id: 'm',
          stream: () => {
            if (!isLate) throw thrown
            return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(thrown) }) }
          },
        }
        const options = { cancellation: new Cancellation(), threw: (_: string, what: unknown) => void threw.push(what) }
        const read = await readReply(model, request, options, () => {})
        assert.ok(read?.ok === false)
        assert.equal(
          [read.failure.error.code, read.failure.kind, threw],
          [code, kind, told === undefined ? [] : [told]],
        )
      }
    for (const stream of [() => undefined, () => ({}), () => ({ [Symbol.asyncIterator]: () => undefined })]) {
      const read = await readReply(
        { id: 'm', stream: stream as never },
        request,
        { cancellation: new Cancellation() },
        () => {},
      )
      assert.match(wrongOf({ read } as Read), 'its stream is not an async iterable')
    }
  })

  it('is nothing once it is aborted, whenever that is, and the model is left', async () => {
    for (const abortAt of [0, 1, 2, 3]) {
      const cancellation = new Cancellation()
      const heard: unknown[] = []
      let [asked, returns] = [0, 0]
      const parts = [delta('a'), delta('b'), done()]
      const model: Model = {
        id: 'm',
        stream: () => ({
          [Symbol.asyncIterator]: () => ({
            next: async () => {
              asked += 1
              await quiet()
              if (asked === abortAt) {
                cancellation.abort()
                throw new TypeError('aborted: no bug')
              }
              const value = parts[asked - 1]
              return value === undefined ? { done: true, value } : { done: false, value }
            },
            return: () => {
              returns += 1
              throw new Error('it cannot be left')
            },
          }),
        }),
      }
      if (abortAt === 0) cancellation.abort()
      const threw: unknown[] = []
      const options = { cancellation, threw: (_: string, what: unknown) => void threw.push(what) }
      const read = await readReply(model, request, options, (part) => void heard.push(part))
      assert.is(read, null)
      await quiet()
      assert.equal(
        [heard.length, returns, threw, asked],
        [Math.max(0, abortAt - 1), abortAt === 0 ? 0 : 1, [], abortAt],
      )
    }
  })
})

describe('a model that says nothing', (it) => {
  const ms = 100
  /** Reads a reply whose parts come when they are given. */
  function reading() {
    const clock = simulatedClock(0)
    const cancellation = new Cancellation()
    let next = Promise.withResolvers<IteratorResult<ModelPart>>()
    let left = 0
    const model: Model = {
      id: 'm',
      stream: () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => next.promise,
          return: async () => {
            left += 1
            return { done: true, value: undefined }
          },
        }),
      }),
    }
    const give = async (part: ModelPart | undefined): Promise<void> => {
      const before = next
      next = Promise.withResolvers()
      before.resolve(part === undefined ? { done: true, value: undefined } : { done: false, value: part })
      await quiet()
    }
    const read = readReply(model, request, { cancellation, silence: { clock, ms } }, () => {})
    return { clock, cancellation, read, give, fail: (why: Error) => next.reject(why), left: () => left }
  }

  it('is left, counted from each part that is asked for', async () => {
    const { clock, read, give, left } = reading()
    for (let part = 0; part < 3; part += 1) {
      await clock.advance(ms - 1)
      await give(delta('x'))
    }
    await clock.advance(ms * 2)
    const given = await read
    assert.match(given?.ok === false ? given.failure.error.message : '', `The model said nothing for ${ms} ms (m).`)
    assert.is(given?.ok === false && given.failure.kind, 'network')
    assert.equal([clock.pending, left()], [0, 1])
  })

  it('is left after at most twice that time, though the clock was set back', async () => {
    const clock = simulatedClock(0)
    let back = 0
    const setBack = { ...clock, now: () => clock.now() - back, after: clock.after.bind(clock) }
    const model: Model = {
      id: 'm',
      stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }),
    }
    const read = readReply(
      model,
      request,
      { cancellation: new Cancellation(), silence: { clock: setBack, ms } },
      () => {},
    )
    back = 3_600_000
    await clock.advance(2 * ms)
    assert.is(clock.pending, 0)
    assert.is((await read)?.ok, false)
  })

  const ends: { readonly [how: string]: (scene: ReturnType<typeof reading>) => unknown } = {
    done: ({ give }) => give(done()),
    error: ({ give }) => give(error({})),
    over: ({ give }) => give(undefined),
    thrown: ({ fail }) => fail(new Error('broken')),
    aborted: ({ cancellation }) => cancellation.abort(),
  }
  for (const [how, end] of Object.entries(ends))
    it(`leaves no timer: ${how}`, async () => {
      const scene = reading()
      await scene.give(delta('x'))
      assert.is(scene.clock.pending, 1)
      await end(scene)
      await scene.give(done())
      await scene.read
      assert.is(scene.clock.pending, 0)
    })

  it('is left at once, unasked, where the call itself aborts', async () => {
    const cancellation = new Cancellation()
    const [seen, clock] = [{ asked: 0, left: 0 }, simulatedClock(0)]
    const model: Model = {
      id: 'm',
      stream: () => {
        cancellation.abort()
        return {
          [Symbol.asyncIterator]: () => ({
            next: () => {
              seen.asked += 1
              return new Promise(() => {})
            },
            return: async () => {
              seen.left += 1
              return { done: true, value: undefined }
            },
          }),
        }
      },
    }
    assert.is(await readReply(model, request, { cancellation, silence: { clock, ms } }, () => {}), null)
    await quiet()
    assert.equal({ ...seen, timers: clock.pending }, { asked: 0, left: 1, timers: 0 })
  })
})
