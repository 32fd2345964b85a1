import { fallback } from '../../packages/models/src/fallback.ts'
import { router } from '../../packages/models/src/router.ts'
import type { Model, ModelErrorKind, ModelPart, ModelRequest } from '../../src/protocol/ports/model.ts'
import { modelContract } from '../../packages/evaluation/src/testing/modelContract.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { delta, quiet, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const request: ModelRequest = { system: '', messages: [], tools: [], settings: {} }

async function partsOf(model: Model, signal = new AbortController().signal): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(request, { signal })) parts.push(part)
  return parts
}

const kindsOf = (parts: readonly ModelPart[]): string[] =>
  parts.map((part) => (part.type === 'model' ? `${part.type} ${part.model}` : part.type))

const named = (id: string, ...replies: readonly ScriptedReply[]) => scriptedModel(replies, { id })
const fails = (kind: ModelErrorKind, retryAfterMs?: number): ScriptedReply => ({
  error: { kind, message: `it is ${kind}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
})
const errorIn = (parts: readonly ModelPart[]) => {
  const last = parts.at(-1)
  return last?.type === 'error' ? last.error : undefined
}

describe('fallback', (it) => {
  for (const { name, run } of modelContract({
    create: (replies) => fallback([scriptedModel(replies.map((reply) => reply))]),
  }))
    it(name, run)

  it('has the id of its first model, and asks only that while it answers', async () => {
    const backup = named('b:2', 'never')
    const model = fallback([named('a:1', 'hi'), backup])
    assert.is(model.id, 'a:1')
    assert.equal(kindsOf(await partsOf(model)), ['model a:1', 'text.delta', 'done'])
    assert.is(backup.requests.length, 0)
  })

  it('takes back what had arrived when a model fails in the middle, and asks the next the same', async () => {
    const usage = { input: 7, output: 1, cacheRead: 0, cacheWrite: 0 }
    const error = { kind: 'network', message: 'reset', usage } as const
    const backup = named('b:2', 'whole')
    const parts = await partsOf(fallback([named('a:1', { parts: [delta('half'), { type: 'error', error }] }), backup]))
    assert.equal(kindsOf(parts), ['model a:1', 'text.delta', 'model b:2', 'text.delta', 'done'])
    assert.equal(parts[2], { type: 'model', model: 'b:2', after: error })
    assert.equal(backup.requests, [request])
  })

  for (const kind of ['rateLimited', 'network', 'auth', 'other'] as const) {
    it(`asks the next model by default after "${kind}"`, async () => {
      assert.is((await partsOf(fallback([named('a:1', fails(kind)), named('b:2', 'hi')]))).at(-1)?.type, 'done')
    })
  }

  for (const kind of ['badRequest', 'overflow'] as const) {
    it(`does not by default after "${kind}"`, async () => {
      const backup = named('b:2', 'hi')
      const parts = await partsOf(fallback([named('a:1', fails(kind)), backup]))
      assert.equal([errorIn(parts)?.kind, backup.requests.length], [kind, 0])
    })
  }

  it('asks `on` about each error and the model it is of', async () => {
    const asked: unknown[] = []
    const model = fallback([named('a:1', fails('overflow')), named('b:2', fails('auth')), named('c:3', 'hi')], {
      on: ({ kind }, id) => {
        asked.push([kind, id])
        return kind === 'overflow'
      },
    })
    assert.is(errorIn(await partsOf(model))?.kind, 'auth')
    assert.equal(asked, [
      ['overflow', 'a:1'],
      ['auth', 'b:2'],
    ])
  })

  it('asks nobody else when `on` throws or says anything but yes, and tells of it', async () => {
    const backup = named('b:2', 'hi')
    const on = () => {
      throw new Error('no idea')
    }
    const thrown = errorIn(await partsOf(fallback([named('a:1', fails('network')), backup], { on })))
    assert.equal(thrown, { kind: 'network', message: 'it is network ("on" of fallback threw: no idea)' })
    const odd = fallback([named('a:1', fails('network')), backup], { on: () => undefined as never })
    assert.is(errorIn(await partsOf(odd))?.message, 'it is network')
    assert.is(backup.requests.length, 0)
  })

  it('has the code of what kept every model from being asked, and asks the next one after that', async () => {
    const lost = () => router(() => undefined as never)
    await assert.rejects(partsOf(fallback([lost(), lost()])), withCode('ROUTER_FAILED'))
    assert.is((await partsOf(fallback([lost(), named('b:2', 'hi')]))).at(-1)?.type, 'done')
    assert.is(errorIn(await partsOf(fallback([named('a:1', fails('network')), lost()])))?.kind, 'other')
  })

  it('falls back when a model throws, and when its stream just ends', async () => {
    const throws: Model = {
      id: 'a:1',
      stream() {
        throw new Error('no such host')
      },
    }
    const parts = await partsOf(fallback([throws, named('b:2', { parts: [delta('x')] }), named('c:3', 'hi')]))
    assert.equal(kindsOf(parts), ['model a:1', 'model b:2', 'text.delta', 'model c:3', 'text.delta', 'done'])
    const errors = parts.map((part) => (part.type === 'model' ? part.after?.kind : undefined))
    assert.equal(errors.filter(Boolean), ['other', 'network'])
  })

  it('ends with the last error and the earlier ones in its words, of a kind that is retried if one was', async () => {
    const error = errorIn(
      await partsOf(fallback([named('a:1', fails('rateLimited', 90)), named('b:2', fails('auth'))])),
    )
    assert.equal(error, {
      kind: 'rateLimited',
      message: 'it is auth (before it a:1: it is rateLimited)',
      retryAfterMs: 90,
    })
    const never = errorIn(await partsOf(fallback([named('a:1', fails('auth')), named('b:2', fails('badRequest'))])))
    assert.is(never?.kind, 'badRequest')
  })

  it('waits no longer than the first that may be asked again', async () => {
    const models = [named('a:1', fails('rateLimited', 90)), named('b:2', fails('rateLimited', 30))]
    assert.is(errorIn(await partsOf(fallback(models)))?.retryAfterMs, 30)
    const soon = [named('a:1', fails('rateLimited', 90)), named('b:2', fails('network'))]
    assert.is(errorIn(await partsOf(fallback(soon)))?.retryAfterMs, undefined)
  })

  it('asks nobody else once it is aborted, and lets go of a model that does not listen', async () => {
    const left: string[] = []
    const deaf: Model = {
      id: 'a:1',
      stream: () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise<never>(() => {}),
          return: () => {
            left.push('a:1')
            return Promise.resolve({ done: true, value: undefined })
          },
        }),
      }),
    }
    const backup = named('b:2', 'hi')
    const abort = new AbortController()
    const parts = fallback([deaf, backup]).stream(request, { signal: abort.signal })[Symbol.asyncIterator]()
    await parts.next()
    void parts.next()
    await quiet()
    abort.abort()
    void parts.return!()
    await quiet()
    assert.equal([left, backup.requests.length], [['a:1'], 0])
  })

  it('asks no other model when the first is cut off by the abort', async () => {
    const abort = new AbortController()
    const backup = named('b:2', 'hi')
    const first: Model = {
      id: 'a:1',
      async *stream() {
        yield delta('x')
        abort.abort()
      },
    }
    assert.equal(kindsOf(await partsOf(fallback([first, backup]), abort.signal)), ['model a:1', 'text.delta'])
    assert.is(backup.requests.length, 0)
  })

  it('takes language model objects of the AI SDK, and so does a router, with one adapter for each', async () => {
    const calls: string[] = []
    const sdk = (modelId: string) => ({
      specificationVersion: 'v4',
      provider: 'acme.chat',
      modelId,
      doStream: () => {
        calls.push(modelId)
        return Promise.reject(new Error('no network'))
      },
    })
    const one = sdk('one')
    const model = fallback([one, router(() => one), named('b:2', 'hi')])
    assert.is(model.id, 'acme:one')
    assert.equal(kindsOf(await partsOf(model)).slice(0, 4), [
      'model acme:one',
      'model router',
      'model acme:one',
      'model b:2',
    ])
    assert.equal(calls, ['one', 'one'])
  })

  it('may stand in another one, and in a router', async () => {
    const inner = fallback([named('a:1', fails('network')), named('b:2', fails('network'))])
    const outer = fallback([inner, router(() => named('c:3', 'hi'))])
    assert.equal(kindsOf(await partsOf(outer)), [
      'model a:1',
      'model a:1',
      'model b:2',
      'model router',
      'model c:3',
      'text.delta',
      'done',
    ])
  })

  it('says what is wrong with what it was given', () => {
    const invalid = withCode('INVALID_DEFINITION')
    assert.throws(() => fallback([]), invalid)
    assert.throws(() => fallback(named('a:1') as never), invalid)
    assert.throws(() => fallback(['gpt' as never]), withCode('INVALID_DEFINITION', 'fallback: model 1', '"gpt"'))
    assert.throws(() => fallback([named('a:1')], { on: 'network' as never }), withCode('INVALID_DEFINITION', 'on'))
  })
})

describe('router', (it) => {
  for (const { name, run } of modelContract({
    create: (replies) => {
      const model = scriptedModel(replies.map((reply) => reply))
      return router(() => model, { id: 'chosen' })
    },
  }))
    it(name, run)

  it('gives the function the request itself, and says which model it chose', async () => {
    const seen: ModelRequest[] = []
    const model = router((asked) => {
      seen.push(asked)
      return Promise.resolve(named('b:2', 'hi'))
    })
    assert.equal(kindsOf(await partsOf(model)), ['model b:2', 'text.delta', 'done'])
    assert.is(seen[0], request)
    assert.is(model.id, 'router')
  })

  it('throws ROUTER_FAILED with the reason when the function throws or returns no model', async () => {
    const broken = router(() => {
      throw new Error('no idea')
    })
    await assert.rejects(partsOf(broken), withCode('ROUTER_FAILED', 'no idea'))
    for (const nonsense of [undefined, null, 'gpt', 5, {}])
      await assert.rejects(partsOf(router((() => nonsense) as never)), withCode('ROUTER_FAILED', 'a model has'))
  })

  it('takes only a function, and no option it does not know', () => {
    assert.throws(() => router(named('a:1') as never), withCode('INVALID_DEFINITION', 'router takes a function'))
    assert.throws(() => router(() => named('a:1'), { name: 'x' } as never), withCode('INVALID_DEFINITION', 'name'))
  })
})
