import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { Redactor } from '../../redaction/src/redactor.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { errorOf, resultOf } from '../src/answers.ts'
import { checkPatterns, chosen, matches } from '../src/choices.ts'
import { keyFor } from '../src/keyFor.ts'
import { pauseOf, send } from '../src/send.ts'
import { failure, json, startService, type Answer } from './service.ts'

const answered = (
  body: ConstructorParameters<typeof Response>[0],
  headers: Record<string, string> = {},
  status = 200,
) => new Response(body, { status, headers, statusText: 'Said' })
const rules = { maxBytes: 10, fields: undefined, redact: undefined }
const at = (type: string) => ({ 'content-type': type })

describe('a pause that a service asks for', (it) => {
  const clock = simulatedClock(Date.parse('2026-01-01T00:00:00Z'))
  for (const [given, ms] of [
    ['2', 2_000],
    ['0', 0],
    ['-1', 0],
    ['1.5', 1_500],
    ['', undefined],
    ['soon', undefined],
    ['Infinity', undefined],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ] as const)
    it(`is ${ms} ms by ${JSON.stringify(given)}`, () =>
      assert.is(pauseOf(answered('', { 'retry-after': given }), clock), ms))
  it('is none without a word', () => assert.is(pauseOf(answered(''), clock), undefined))
})

describe('a request to a service', (it) => {
  /** Sends to a service that answers so; `paused`: it was asked again at once after the pauses. */
  async function sent(
    context: Parameters<typeof startService>[0],
    answer: Answer,
    { method = 'GET', mayRepeat = true, body = undefined as string | undefined, advance = 10_000 } = {},
  ) {
    const service = await startService(context, answer)
    const clock = simulatedClock()
    const state = { isOver: false }
    const sending = send(
      {
        method,
        url: new URL(`${service.url}/one`),
        headers: new Headers({ 'content-type': 'text/plain', 'x-kept': '1' }),
        body,
      },
      { signal: new AbortController().signal, clock, origins: new Set([service.url]), mayRepeat },
    ).finally(() => (state.isOver = true))
    sending.catch(() => {})
    for (let turn = 0; turn < 5_000 && !state.isOver; turn += 1) await clock.advance(advance / 10)
    return { service, sending, clock }
  }

  for (const [status, after, mayRepeat, times] of [
    [429, '1', false, 3],
    [429, '1', true, 3],
    [503, '1', true, 3],
    [503, '1', false, 1],
    [500, '1', true, 1],
    [429, '10', true, 3],
    [429, '10.001', true, 1],
    [429, undefined, true, 1],
  ] as const)
    it(`is made ${times} times where it is answered ${status}, after ${after} s, and ${mayRepeat ? 'may' : 'may not'} be repeated`, async (context) => {
      const { service, sending, clock } = await sent(
        context,
        (_, response) => json(response, {}, status, after === undefined ? {} : { 'retry-after': after }),
        { mayRepeat },
      )
      assert.is((await sending).status, status)
      assert.equal([service.asked.length, clock.pending], [times, 0])
    })

  for (const [status, method, outcome] of [
    [301, 'GET', 'GET'],
    [302, 'HEAD', 'HEAD'],
    [302, 'POST', 'refused'],
    [301, 'DELETE', 'refused'],
    [303, 'POST', 'GET'],
    [303, 'GET', 'GET'],
    [307, 'POST', 'POST'],
    [308, 'PUT', 'PUT'],
    [304, 'GET', 'answered'],
    [300, 'GET', 'answered'],
  ] as const)
    it(`with ${method} that is answered ${status} is ${outcome}`, async (context) => {
      const body = ['GET', 'HEAD', 'DELETE'].includes(method) ? undefined : 'hello'
      const { service, sending } = await sent(
        context,
        ({ url }, response) =>
          url === '/one' ? void response.writeHead(status, { location: '/two' }).end() : json(response, {}),
        { method, body },
      )
      if (outcome === 'refused') {
        assert.match(await failure(sending), new RegExp(`answers ${method} with a redirect`))
        assert.is(service.asked.length, 1)
        return
      }
      assert.is((await sending).status, outcome === 'answered' ? status : 200)
      const [, next] = service.asked
      if (outcome === 'answered') return assert.is(next, undefined)
      const isSame = next!.method === method
      assert.equal(
        [next!.method, next!.body, next!.headers['content-type'], next!.headers['x-kept']],
        [outcome, isSame && status !== 303 ? (body ?? '') : '', status === 303 ? undefined : 'text/plain', '1'],
      )
    })

  it('follows five redirects, and not a sixth', async (context) => {
    for (const [hops, isFollowed] of [
      [5, true],
      [6, false],
    ] as const) {
      let left: number = hops
      const { sending, service } = await sent(context, (_, response) => {
        if (left === 0) return json(response, {})
        left -= 1
        response.writeHead(307, { location: `/${left}` }).end()
      })
      if (isFollowed) assert.is((await sending).status, 200)
      else assert.match(await failure(sending), 'again and again')
      assert.is(service.asked.length, 6)
    }
  })
})

describe('the bytes of an answer', (it) => {
  it('are shown up to the most that are read, and said to be cut only beyond it', async () => {
    assert.is(await resultOf(answered('0123456789', at('text/plain')), rules), '0123456789')
    const cut = (await resultOf(answered('0123456789a', at('text/plain')), rules)) as string
    assert.ok(cut.startsWith('0123456789\n[…') && !cut.includes('a\n'), cut)
    const picture = answered(new Uint8Array(11), at('image/png'))
    assert.match((await resultOf(picture, rules)) as string, /longer than 10 bytes/)
  })

  for (const [type, shown] of [
    ['application/json', { n: 1 }],
    ['application/problem+json', { n: 1 }],
    ['text/json; charset=utf-8', { n: 1 }],
    ['', { n: 1 }],
    ['text/plain', '{"n":1}'],
    ['application/xml', '{"n":1}'],
    ['application/soap+xml', '{"n":1}'],
    ['application/x-ndjson', '{"n":1}'],
    ['application/zip', [{ type: 'text', text: '[a file: application/zip, 7 bytes; it cannot be shown]' }]],
  ] as const)
    it(`are ${typeof shown === 'string' ? 'text' : 'data'} of type ${JSON.stringify(type)}`, async () => {
      const response = answered(Buffer.from('{"n":1}'), type === '' ? {} : at(type))
      assert.equal(await resultOf(response, rules), shown)
    })

  it('are pictures, recordings and documents with their names, and lines for all else', async () => {
    const file = { 'content-disposition': 'attachment; filename="a b.pdf"' }
    const of = async (type: string, more = {}) =>
      await resultOf(answered(Buffer.from('bytes'), { ...at(type), ...more }), rules)
    const data = new Uint8Array(Buffer.from('bytes'))
    assert.equal(await of('image/png'), [{ type: 'image', data, mimeType: 'image/png' }])
    assert.equal(await of('application/pdf', file), [
      { type: 'file', data, mimeType: 'application/pdf', name: 'a b.pdf' },
    ])
    assert.equal(await of('audio/wav'), [{ type: 'file', data, mimeType: 'audio/wav' }])
    assert.equal(await of('application/zip', file), [
      { type: 'text', text: '[a file: a b.pdf, application/zip, 5 bytes; it cannot be shown]' },
    ])
  })

  it('are a status where there are none, with the place that it names', async () => {
    assert.is(await resultOf(answered(null, {}, 204), rules), '204 Said (no content)')
    assert.is(await resultOf(answered('', { location: '/x' }), rules), '200 Said (no content), location: /x')
  })

  it('of an error are told up to 4,000 characters, with the pause that is asked for', async () => {
    const error = async (text: string, pauseMs?: number): Promise<string> =>
      (await errorOf(answered(text, at('text/plain'), 418), 'one', { pauseMs, redact: undefined })).message
    assert.is(await error(' no '), 'one: 418 Said.\nno')
    assert.is(await error(''), 'one: 418 Said.')
    assert.is(await error('no', 1_001), 'one: 418 Said. It asks to be left alone for 2 s.\nno')
    assert.is((await error('x'.repeat(4_000))).split('\n')[1], 'x'.repeat(4_000))
    assert.is((await error('x'.repeat(4_001))).split('\n')[1], `${'x'.repeat(3_999)}…`)
  })

  it('that are cut hold no beginning of a secret', async () => {
    const redact = new Redactor({ secrets: { KEY: 'sk-secret-0123456789' } })
    const shown = (await resultOf(answered('key: sk-secret-0123456789', at('text/plain')), {
      ...rules,
      maxBytes: 15,
      redact,
    })) as string
    assert.not.match(shown, 'sk-secret')
  })
})

describe('a key of a call', (it) => {
  it('goes as it is where services take it, else as its hash', () => {
    for (const key of ['a', 'run/t0/c', 'x'.repeat(255), '!~']) assert.is(keyFor(key), key)
    for (const key of ['x'.repeat(256), 'a b', 'ä', '', 'a\n']) assert.match(keyFor(key), /^[0-9a-f]{64}$/)
    assert.is.not(keyFor('a b'), keyFor('a  b'))
  })
})

describe('a pattern of operations', (it) => {
  const operation = {
    name: 'get_pets_id',
    operationId: 'getPet',
    method: 'GET',
    path: '/pets/{id}',
    tags: ['pets'],
  } as const
  for (const [pattern, isMeant] of [
    ['getPet', true],
    ['get_pets_id', true],
    ['GET /pets/{id}', true],
    ['tag:pets', true],
    ['pets', false],
    ['getpet', false],
    ['GET /pets*', true],
    ['* /pets/*', true],
    ['G*T*id}', true],
    ['*', true],
    ['**', true],
    ['GET*GET*', false],
    ['get*getPet', false],
    ['getP*Pet', false],
    ['*x*', false],
    ['tag:*', true],
    [/^GET /, true],
    [/^POST /, false],
  ] as const)
    it(`means ${isMeant ? 'it' : 'another'}: ${String(pattern)}`, () => assert.is(matches(pattern, operation), isMeant))

  it('with a memory of its own means the same each time', () => {
    const global = /pet/gi
    assert.equal(
      [matches(global, operation), matches(global, operation), matches(global, operation)],
      [true, true, true],
    )
  })

  it('leaves out what is excluded from what is included, which is all unless told', () => {
    const other = { ...operation, name: 'post_pets', operationId: 'addPet', method: 'POST', path: '/pets' } as const
    const names = (choice: object) => chosen([operation, other], choice as never).map(({ operationId }) => operationId)
    assert.equal(names({}), ['getPet', 'addPet'])
    assert.equal(names({ include: ['getPet'] }), ['getPet'])
    assert.equal(names({ exclude: ['getPet'] }), ['addPet'])
    assert.equal(names({ include: ['tag:pets'], exclude: ['POST *'] }), ['getPet'])
    assert.equal(names({ include: [] }), [])
    assert.throws(() => checkPatterns([operation], ['getPett']), /Did you mean "getPet"/)
  })
})
