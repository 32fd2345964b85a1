import { aiSdkModel } from '../../../../src/aiSdk.ts'
import type { ModelError, ModelErrorKind, ModelPart } from '../../../../src/protocol/ports/model.ts'
import { freePort } from '../../../../test/support/freePort.ts'
import { assert, type CaseContext, describe } from '../../../../test/support/suite.ts'
import { ask, iterate, partsOf, replyOf, useWire, wireFamilies } from '../../../../test/support/wireServer/useWire.ts'
import { fakeKey, type WireFamily, type WireReply } from '../../../../test/support/wireServer/wireFamily.ts'
import type { WireScript } from '../../../../test/support/wireServer/wireServer.ts'

/** The error of one call, which must be its last part and its only terminal one; the parts before it too. */
async function failureOf(
  test: CaseContext,
  family: WireFamily,
  script: WireScript,
): Promise<{ error: ModelError; before: ModelPart[] }> {
  const { server, model } = await useWire(test, family, [script])
  const parts = await partsOf(model, ask('hi'), test.signal)
  assert.is(server.requests.length, 1)
  return { error: errorIn(parts), before: parts.slice(0, -1) }
}

function errorIn(parts: readonly ModelPart[]): ModelError {
  const last = parts.at(-1)
  if (last?.type !== 'error') assert.unreachable(`the last part is ${JSON.stringify(last)}`)
  assert.is(parts.filter((part) => part.type === 'done' || part.type === 'error').length, 1)
  assert.not.match(last.error.message, fakeKey)
  return last.error
}

for (const family of wireFamilies) {
  const { stops } = family
  const partial: WireReply = { blocks: [{ text: ['Hel', 'lo'] }], stop: stops.stop }
  const answer =
    (status: number, type: string, message: string, headers: Record<string, string> = {}): WireScript =>
    (exchange) =>
      exchange.answer(status, family.error(type, message), headers)

  describe(`AI SDK errors of ${family.name}`, (it) => {
    const date = 'Wed, 21 Oct 2026 07:28:00 GMT'
    const limits: [string, Record<string, string>, number | undefined][] = [
      ['whole seconds', { 'retry-after': '7' }, 7000],
      ['a fraction of seconds', { 'retry-after': '0.25' }, 250],
      ['milliseconds, which are more precise', { 'retry-after': '7', 'retry-after-ms': '6543' }, 6543],
      [
        'an HTTP date, seen from the date of the answer',
        { date, 'retry-after': 'Wed, 21 Oct 2026 07:29:30 GMT' },
        90_000,
      ],
      ['a date that has passed', { date, 'retry-after': 'Wed, 21 Oct 2026 07:00:00 GMT' }, undefined],
      ['no time at all', { 'retry-after': '0' }, undefined],
      ['no milliseconds at all', { 'retry-after-ms': '0' }, undefined],
      ['seconds beside empty milliseconds', { 'retry-after': '7', 'retry-after-ms': '' }, 7000],
      ['empty milliseconds', { 'retry-after-ms': '' }, undefined],
      ['less than nothing', { 'retry-after': '-5' }, undefined],
      ['nothing', {}, undefined],
      ['nonsense', { 'retry-after': 'soon' }, undefined],
    ]
    for (const [what, headers, expected] of limits) {
      it(`reads a rate limit that says ${what}`, async (test) => {
        const { error } = await failureOf(test, family, answer(429, 'rate_limit_error', 'Slow down.', headers))
        assert.is(error.kind, 'rateLimited')
        assert.is(error.retryAfterMs, expected)
        assert.is('retryAfterMs' in error, expected !== undefined)
        assert.match(error.message, /429.*Slow down/)
      })
    }

    const answers: [number, string, string, ModelErrorKind][] = [
      [500, 'api_error', 'Internal server error', 'network'],
      [503, 'api_error', 'Service unavailable', 'network'],
      [529, 'overloaded_error', 'Overloaded', 'network'],
      [401, 'authentication_error', `invalid x-api-key: ${fakeKey}`, 'auth'],
      [403, 'permission_error', `Your key ${fakeKey} does not have permission`, 'auth'],
      [400, 'invalid_request_error', 'prompt is too long: 213423 tokens > 200000 maximum', 'overflow'],
      [
        400,
        'invalid_request_error',
        'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
        'overflow',
      ],
      [
        400,
        'invalid_request_error',
        "This model's maximum context length is 8192 tokens. However, you requested 9000.",
        'overflow',
      ],
      [
        400,
        'invalid_request_error',
        'The input token count (1200000) exceeds the maximum number of tokens allowed',
        'overflow',
      ],
      [500, 'api_error', 'prompt too long; exceeded max context length by 4 tokens', 'overflow'],
      [429, 'insufficient_quota', 'You exceeded your current quota.', 'auth'],
      [429, 'rate_limit_error', 'You exceeded your current quota.', 'rateLimited'],
      [402, 'billing_error', 'Insufficient credits', 'auth'],
      [400, 'invalid_request_error', 'Your credit balance is too low to access the API.', 'auth'],
      [400, 'invalid_request_error', 'Insufficient balance', 'auth'],
      [413, 'request_too_large', 'Request exceeds the maximum size', 'overflow'],
      [400, 'invalid_request_error', 'messages: at least one message is required', 'badRequest'],
      [
        400,
        'invalid_request_error',
        'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens',
        'badRequest',
      ],
      [404, 'not_found_error', 'model: no-such-model', 'badRequest'],
      [422, 'invalid_request_error', 'unprocessable', 'badRequest'],
    ]
    const overflows = [
      'prompt token count of 128500 exceeds the limit of 128000',
      'Prompt exceeds max length',
      'Range of input length should be [1, 98304]',
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32769. Given: 40000 `inputs` tokens',
      'token limit exceeded',
      "You passed 40961 input tokens. However, the model's context length is only 40960 tokens",
      'The input (40000 tokens) is longer than the model’s context length (32768 tokens).',
      'Input tokens exceed the configured limit of 272000 tokens.',
    ]
    for (const message of overflows) answers.push([400, 'invalid_request_error', message, 'overflow'])
    for (const [status, type, message, kind] of answers) {
      it(`reads HTTP ${status} "${message.replace(fakeKey, '…').slice(0, 40)}" as ${kind}`, async (test) => {
        const { error, before } = await failureOf(test, family, answer(status, type, message))
        assert.is(error.kind, kind)
        assert.match(error.message, `HTTP ${status}: ${message.replace(fakeKey, '').slice(0, 8)}`)
        assert.equal(before, [])
      })
    }

    it("reads the words of a body that is not in the provider's format", async (test) => {
      const { error } = await failureOf(test, family, (exchange) =>
        exchange.answer(400, { error: 'prompt too long; exceeded' }),
      )
      assert.is(error.kind, 'overflow')
      assert.match(error.message, 'prompt too long')
    })

    it('reads an answer of 400 without a word as a request that is too long', async (test) => {
      const { error } = await failureOf(test, family, (exchange) => exchange.answer(400, ''))
      assert.is(error.kind, 'overflow')
    })

    it('reads how long to wait from the body, as Google says it', async (test) => {
      const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '2.5s' }]
      const { error } = await failureOf(test, family, (exchange) =>
        exchange.answer(429, {
          error: { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED', details },
        }),
      )
      assert.equal([error.kind, error.retryAfterMs], ['rateLimited', 2500])
    })

    it('keeps the page of a broken proxy out of the message', async (test) => {
      const { error } = await failureOf(test, family, (exchange) =>
        exchange.answer(502, '<html><body>Bad gateway</body></html>'),
      )
      assert.equal(error, { kind: 'network', message: 'HTTP 502: Bad Gateway' })
    })

    it('gives the error inside a stream after the deltas before it', async (test) => {
      const { error, before } = await failureOf(test, family, (exchange) => {
        exchange.send(...family.open(partial), family.streamError('overloaded_error', 'Overloaded'))
        exchange.send(...family.finish(partial))
        exchange.end()
      })
      assert.is(error.kind, 'network')
      assert.match(error.message, 'Overloaded')
      assert.is(before.length, 2)
    })

    it('closes the connection after an error inside a stream that goes on', async (test) => {
      const { server, model } = await useWire(test, family, [
        (exchange) =>
          exchange.send(...family.open(partial), family.streamError('overloaded_error', 'Overloaded'), 'data: {"'),
      ])
      const arrival = server.arrival()
      const parts = iterate(model, test.signal)
      while ((await parts.next()).value?.type !== 'error');
      assert.is((await parts.next()).done, true)
      await (
        await arrival
      ).closedByClient
    })

    it('reads an error that is the first thing in a stream', async (test) => {
      const { error, before } = await failureOf(test, family, (exchange) => {
        exchange.send(family.streamError('rate_limit_error', 'Slow down.'))
        exchange.end()
      })
      assert.is(error.kind, 'rateLimited')
      assert.equal(before, [])
    })

    for (const [what, data] of [
      ['not JSON', '{"broken'],
      ['JSON of another shape', '{"choices":7}'],
    ]) {
      it(`ends with one error on a chunk that is ${what}`, async (test) => {
        const { error, before } = await failureOf(test, family, (exchange) => {
          exchange.send(...family.open(partial), `data: ${data}\n\n`, ...family.finish(partial))
          exchange.end()
        })
        assert.is(error.kind, 'other')
        assert.is(before.length, 2)
      })
    }

    it('reads a connection dropped in the middle as a network error', async (test) => {
      const { server, model } = await useWire(test, family, [(exchange) => exchange.send(...family.open(partial))])
      const arrival = server.arrival()
      const parts: ModelPart[] = []
      for await (const part of model.stream(ask('hi'), { signal: test.signal })) {
        parts.push(part)
        if (parts.length === 2) (await arrival).drop()
      }
      assert.is(errorIn(parts).kind, 'network')
      assert.is(parts.length, 3)
    })

    it('reads a connection dropped before the answer as a network error', async (test) => {
      const { error } = await failureOf(test, family, (exchange) => exchange.drop())
      assert.is(error.kind, 'network')
    })

    it('reads a stream that ended without a finish as a network error', async (test) => {
      const { error, before } = await failureOf(test, family, (exchange) => {
        exchange.send(...family.open(partial))
        exchange.end()
      })
      assert.is(error.kind, 'network')
      assert.is(before.length, 2)
    })

    it('reads a stream without a single event as a network error', async (test) => {
      const { error } = await failureOf(test, family, (exchange) => {
        exchange.send('')
        exchange.end()
      })
      assert.is(error.kind, 'network')
    })

    it('reads a refused connection as a network error', async (test) => {
      const model = aiSdkModel(family.model(`http://127.0.0.1:${await freePort()}`))
      const error = errorIn(await partsOf(model, ask('hi'), test.signal))
      assert.is(error.kind, 'network')
      assert.match(error.message, 'ECONNREFUSED')
    })

    it('never asks twice by itself, and works again on the next call', async (test) => {
      const { server, model } = await useWire(test, family, [
        answer(500, 'api_error', 'Oops'),
        answer(529, 'overloaded_error', 'Busy'),
      ])
      errorIn(await partsOf(model, ask('hi'), test.signal))
      assert.is(server.requests.length, 1)
      errorIn(await partsOf(model, ask('hi'), test.signal))
      server.script((exchange) => {
        exchange.send(...family.open(partial), ...family.finish(partial))
        exchange.end()
      })
      assert.equal((await replyOf(model, ask('hi'), test.signal)).content, [{ type: 'text', text: 'Hello' }])
    })
  })
}
