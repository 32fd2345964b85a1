import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { openApiTools } from '../src/openApiTools.ts'
import { toolContext } from '../../../test/support/toolContext.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { documentOf, failure, json, oneTool, opened, startService, use } from './service.ts'

/** Resolves once somebody waits for the time. */
async function pausing(clock: { readonly pending: number }): Promise<void> {
  while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve))
}

const parameter = (place: string, more: object = {}) => ({ name: 'q', in: place, schema: {}, ...more })

describe('the arguments of a call', (it) => {
  for (const [given, value, url] of [
    [{}, 'a b&c', '/pets?q=a%20b%26c'],
    [{}, ['a', 'b'], '/pets?q=a&q=b'],
    [{ explode: false }, ['a', 'b,c'], '/pets?q=a,b%2Cc'],
    [{ style: 'spaceDelimited', explode: false }, ['a', 'b'], '/pets?q=a%20b'],
    [{ style: 'pipeDelimited', explode: false }, ['a', 'b'], '/pets?q=a%7Cb'],
    [{ style: 'deepObject' }, { min: 1, of: { max: 2 } }, '/pets?q%5Bmin%5D=1&q%5Bof%5D%5Bmax%5D=2'],
    [{}, { a: 1, b: 'x' }, '/pets?a=1&b=x'],
    [{ explode: false }, { a: 1, b: 'x' }, '/pets?q=a,1,b,x'],
    [{ allowReserved: true }, 'a/b?c', '/pets?q=a/b?c'],
    [
      { schema: undefined, content: { 'application/json': { schema: {} } } },
      { a: [1] },
      '/pets?q=%7B%22a%22%3A%5B1%5D%7D',
    ],
    [{ name: 'filter[name]' }, 'x', '/pets?filter%5Bname%5D=x'],
    [{}, true, '/pets?q=true'],
    [{}, null, '/pets'],
    [{}, ['a', null], '/pets?q=a'],
    [{ style: 'deepObject' }, ['a', 'b'], '/pets?q%5B%5D=a&q%5B%5D=b'],
    [
      { style: 'deepObject' },
      { of: [{ x: 1 }, { x: 2 }] },
      '/pets?q%5Bof%5D%5B0%5D%5Bx%5D=1&q%5Bof%5D%5B1%5D%5Bx%5D=2',
    ],
  ] as const)
    it(`stand in the query: ${JSON.stringify(given)} of ${JSON.stringify(value)}`, async (context) => {
      const service = await startService(context)
      const tool = await oneTool(service.url, { parameters: [parameter('query', given)] })
      const [key] = Object.keys(tool.inputSchema['properties'] as object)
      await use(tool, { [key!]: value })
      assert.is(service.asked[0]!.url, url)
    })

  for (const [given, value, url] of [
    [{}, 'a/b c', '/pets/a%2Fb%20c'],
    [{}, ['a', 'b'], '/pets/a,b'],
    [{}, { a: 1 }, '/pets/a,1'],
    [{ explode: true }, { a: 1, b: 2 }, '/pets/a=1,b=2'],
    [{ style: 'label' }, 'x', '/pets/.x'],
    [{ style: 'label', explode: true }, ['a', 'b'], '/pets/.a.b'],
    [{ style: 'matrix' }, 'x', '/pets/;q=x'],
    [{ style: 'matrix', explode: true }, ['a', 'b'], '/pets/;q=a;q=b'],
    [{}, '..foo', '/pets/..foo'],
  ] as const)
    it(`stand in the path: ${JSON.stringify(given)} of ${JSON.stringify(value)}`, async (context) => {
      const service = await startService(context)
      await use(await oneTool(service.url, { parameters: [parameter('path', given)] }, { path: '/pets/{q}' }), {
        q: value,
      })
      assert.is(service.asked[0]!.url, url)
    })

  for (const value of ['..', '.', '%2e%2e', ['..'], ''])
    it(`never lead to another path: ${JSON.stringify(value)}`, async (context) => {
      const service = await startService(context)
      const tool = await oneTool(service.url, { parameters: [parameter('path')] }, { path: '/admin/{q}/x' })
      // "%2e" is data: its sign is encoded.
      if (value === '%2e%2e') {
        await use(tool, { q: value })
        assert.is(service.asked[0]!.url, '/admin/%252e%252e/x')
      } else {
        assert.match(await failure(use(tool, { q: value })), /leads to another one|is empty/)
        assert.equal(service.asked, [])
      }
    })

  it('may be left out, whatever they are called', async (context) => {
    const service = await startService(context)
    const parameters = ['constructor', 'toString', 'year'].map((name) => parameter('query', { name }))
    const body = { content: { 'application/json': { schema: { properties: { valueOf: { type: 'string' } } } } } }
    const tool = await oneTool(service.url, { parameters, requestBody: body }, { method: 'post' })
    await use(tool, { year: 1_950, body: {} })
    await use(tool, { constructor: 'Ferrari' })
    assert.equal(
      service.asked.map(({ url }) => url),
      ['/pets?year=1950', '/pets?constructor=Ferrari'],
    )
  })

  it('stand in headers and cookies, and under names of their own', async (context) => {
    const service = await startService(context)
    const parameters = [
      { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
      { name: 'Authorization', in: 'header', schema: { type: 'string' } },
      { name: 'id', in: 'query', schema: { type: 'string' } },
      { name: 'id', in: 'cookie', schema: { type: 'string' } },
      { name: 'body', in: 'query', schema: { type: 'string' } },
      { name: '$top', in: 'query', schema: { type: 'integer' } },
    ]
    const content = { 'application/json': { schema: { type: 'object' } } }
    const tool = await oneTool(service.url, { parameters, requestBody: { content } }, { method: 'post' })
    assert.equal(Object.keys(tool.inputSchema['properties'] as object), [
      'X-Trace',
      'id',
      'id_cookie',
      'body_query',
      'top',
      'body',
    ])
    await use(tool, { 'X-Trace': 't1', id: '1', id_cookie: 'a;b', body_query: 'q', top: 3, body: { a: 1 } })
    const [{ url, headers, body }] = service.asked as [(typeof service.asked)[0]]
    assert.is(url, '/pets?id=1&body=q&%24top=3')
    assert.equal([headers['x-trace'], headers['cookie'], body], ['t1', 'id=a%3Bb', '{"a":1}'])
    assert.match(await failure(use(tool, { authorization: 'x' })), /authorization: unknown field/)
  })

  for (const [type, schema, body, sent] of [
    ['application/x-www-form-urlencoded', { type: 'object' }, { a: 'x y', b: [1, 2] }, /^a=x\+y&b=1&b=2$/],
    ['text/plain', { type: 'string' }, 'words', /^words$/],
    ['application/octet-stream', {}, 'data:image/png;base64,SGk=', /^Hi$/],
    ['application/vnd.pets+json', { type: 'object' }, { a: 1 }, /^\{"a":1\}$/],
    [
      'multipart/form-data',
      { type: 'object', properties: { file: { type: 'string', format: 'binary' }, name: { type: 'string' } } },
      { file: 'data:text/plain;base64,SGk=', name: 'x' },
      /filename="file.txt"\r\nContent-Type: text\/plain\r\n\r\nHi\r\n[^]*name="name"\r\n\r\nx\r\n/,
    ],
  ] as const)
    it(`are the content, as ${type}`, async (context) => {
      const service = await startService(context)
      const tool = await oneTool(
        service.url,
        { requestBody: { required: true, content: { [type]: { schema } } } },
        { method: 'post' },
      )
      await use(tool, { body })
      const [asked] = service.asked
      assert.match(asked!.body, sent)
      assert.ok(asked!.headers['content-type']!.startsWith(type.split(';')[0]!))
      assert.match(await failure(use(tool, {})), /body/)
    })
})

describe('the answer to a call', (it) => {
  const of = async (
    context: Parameters<typeof startService>[0],
    answer: Parameters<typeof startService>[1],
    options = {},
  ) => await oneTool((await startService(context, answer)).url, {}, options)

  for (const [type, sent, expected] of [
    ['text/plain; charset=utf-8', 'häuser', 'häuser'],
    ['application/problem+json', '{"a":1}', { a: 1 }],
    ['application/json', 'not json', 'not json'],
    ['application/xml', '<a/>', '<a/>'],
    ['application/zip', 'PK', [{ type: 'text', text: '[a file: application/zip, 2 bytes; it cannot be shown]' }]],
    ['image/png', 'x', [{ type: 'image', data: new Uint8Array([120]), mimeType: 'image/png' }]],
    ['image/jpg', 'x', [{ type: 'image', data: new Uint8Array([120]), mimeType: 'image/jpeg' }]],
    ['image/tiff', 'x', [{ type: 'text', text: '[a file: image/tiff, 1 bytes; it cannot be shown]' }]],
    ['application/pdf', 'x', [{ type: 'file', data: new Uint8Array([120]), mimeType: 'application/pdf' }]],
  ] as const)
    it(`may be ${type}`, async (context) => {
      const tool = await of(context, (_, response) => void response.writeHead(200, { 'content-type': type }).end(sent))
      assert.equal(await use(tool, {}), expected)
    })

  it('keeps every digit of a large number, which may be given back as text', async (context) => {
    const id = '12345678901234567890'
    const service = await startService(
      context,
      (_, response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(`{"id":${id},"n":7,"x":1.5,"e":1e3}`),
    )
    const parameters = [{ name: 'id', in: 'path', schema: { type: 'integer', format: 'int64', minimum: 1 } }]
    const tool = await oneTool(service.url, { parameters }, { path: '/pets/{id}' })
    assert.equal(await use(tool, { id }), { id, n: 7, x: 1.5, e: 1_000 })
    await use(tool, { id: 7 })
    assert.equal(
      service.asked.map(({ url }) => url),
      [`/pets/${id}`, '/pets/7'],
    )
    assert.match(await failure(use(tool, { id: 0 })), /Invalid arguments: id/)
  })

  it('is read in its own encoding', async (context) => {
    for (const [type, expected] of [
      ['text/plain; charset=iso-8859-1', 'é'],
      ['text/plain; charset=nonsense', '\ufffd'],
    ] as const) {
      const tool = await of(
        context,
        (_, response) => void response.writeHead(200, { 'content-type': type }).end(Buffer.from([0xe9])),
      )
      assert.is(await use(tool, {}), expected)
    }
  })

  it('may be empty, and say where something is', async (context) => {
    const tool = await of(context, (_, response) => void response.writeHead(201, { location: '/pets/7' }).end())
    assert.is(await use(tool, {}), '201 Created (no content), location: /pets/7')
  })

  it('is read no further than it may be', async (context) => {
    let sent = 0
    const tool = await of(
      context,
      async (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        while (!response.destroyed && sent < 64 * 1024 * 1024) {
          sent += 65_536
          if (!response.write('x'.repeat(65_536)))
            await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
        }
        response.end()
      },
      { responses: { maxBytes: 100 } },
    )
    const text = (await use(tool, {})) as string
    assert.match(text, /^x{100}\n\[… the answer is longer than 100 bytes, and was cut off here/)
    assert.ok(sent < 32 * 1024 * 1024)
  })

  it('that is no success is an error with what the service says', async (context) => {
    const tool = await of(context, (_, response) => json(response, { error: 'no such pet' }, 404))
    assert.is(await failure(use(tool, {})), 'GET /pets: 404 Not Found.\n{"error":"no such pet"}')
  })

  it('of a service that asks for a short pause is waited for, and for a long one is told', async (context) => {
    const clock = simulatedClock()
    const times: number[] = []
    const service = await startService(context, (_, response) => {
      times.push(clock.now())
      if (times.length === 1) json(response, {}, 429, { 'retry-after': '3' })
      else if (times.length === 2) json(response, { ok: true })
      else json(response, {}, 503, { 'retry-after': '120' })
    })
    const tools = opened(await openApiTools(documentOf(service.url, { '/a': { get: {} } })), { clock })
    const answer = use(tools['get_a']!, {})
    await pausing(clock)
    await clock.advance(3_000)
    assert.equal(await answer, { ok: true })
    assert.equal(
      times.map((time) => time - times[0]!),
      [0, 3_000],
    )
    assert.match(
      await failure(use(tools['get_a']!, {})),
      /503 Service Unavailable\. It asks to be left alone for 120 s\./,
    )
  })

  it('of a call that may have had effects is not asked for again', async (context) => {
    const service = await startService(context, (_, response) => json(response, {}, 503, { 'retry-after': '0' }))
    const document = documentOf(service.url, { '/a': { post: {}, put: {} } })
    const tools = opened(await openApiTools(document))
    assert.match(await failure(use(tools['post_a']!, {})), /503/)
    assert.is(service.asked.length, 1)
    assert.match(await failure(use(tools['put_a']!, {})), /503/)
    assert.is(service.asked.length, 4)
  })

  it('is not waited for when the call is aborted, in the middle or in a pause', async (context) => {
    const reached = Promise.withResolvers<void>()
    const service = await startService(context, ({ url }, response) => {
      if (url === '/a') reached.resolve()
      else json(response, {}, 429, { 'retry-after': '9' })
    })
    const clock = simulatedClock()
    const tools = opened(await openApiTools(documentOf(service.url, { '/a': { get: {} }, '/b': { get: {} } })), {
      clock,
    })
    for (const [name, started] of [
      ['get_a', () => reached.promise],
      ['get_b', () => pausing(clock)],
    ] as const) {
      const controller = new AbortController()
      const answer = failure(use(tools[name]!, {}, toolContext({ signal: controller.signal })))
      await started()
      controller.abort(new Error('enough'))
      assert.is(await answer, 'enough')
    }
    assert.is(clock.pending, 0)
  })

  it('may be somewhere else at the same service, and nowhere else', async (context) => {
    const other = await startService(context)
    const service = await startService(context, ({ url, method }, response) => {
      const to = {
        '/near': '/there?x=1',
        '/far': `${other.url}/`,
        '/file': 'file:///etc/passwd',
        '/round': '/round',
        '/post': '/there',
        '/kept': '/there',
      }[url]
      if (to === undefined) json(response, { url, method })
      else
        response
          .writeHead(url === '/kept' ? 307 : url === '/near' && method === 'POST' ? 303 : 302, { location: to })
          .end()
    })
    const paths = Object.fromEntries(['near', 'far', 'file', 'round'].map((name) => [`/${name}`, { get: {} }]))
    const tools = opened(
      await openApiTools(
        documentOf(service.url, {
          ...paths,
          '/post': { post: {} },
          '/kept': { post: {} },
          '/near': { get: {}, post: {} },
        }),
      ),
    )
    assert.equal(await use(tools['get_near']!, {}), { url: '/there?x=1', method: 'GET' })
    assert.equal(await use(tools['post_near']!, {}), { url: '/there?x=1', method: 'GET' })
    assert.equal(await use(tools['post_kept']!, {}), { url: '/there', method: 'POST' })
    for (const [name, says] of [
      ['get_far', /redirects to http:\/\/127\.0\.0\.1:\d+ \(302\), which is not one of its servers/],
      ['get_file', /redirects to file: \(302\)/],
      ['get_round', /redirects again and again/],
      ['post_post', /answers POST with a redirect to \/there \(302\): that was not followed/],
    ] as const)
      assert.match(await failure(use(tools[name]!, {})), says)
    assert.equal(other.asked, [])
  })

  it('that never comes is an error without the address', async () => {
    const tool = await oneTool('http://127.0.0.1:9/secret-path', {})
    assert.match(await failure(use(tool, {})), /^The service at http:\/\/127\.0\.0\.1:9 could not be asked: .*$/)
  })
})

describe('what a call does', (it) => {
  const paths = { '/a': { get: {}, post: {}, put: {}, patch: {}, delete: {} } }
  const document = documentOf('http://127.0.0.1:9', paths)
  const approvals = async (approve: object | string | undefined): Promise<string[]> => {
    const tools = opened(await openApiTools(document, approve === undefined ? {} : { approve: approve as never }))
    return Object.values(tools).flatMap((tool) =>
      tool.needsApproval({ n: 1 }, toolContext()) === true ? [tool.name] : [],
    )
  }

  it('is known by its method, unless told', async () => {
    const effects = async (options: object) =>
      Object.fromEntries(
        (await openApiTools(document, options)).operations.map(({ method, effects: its }) => [method, its]),
      )
    assert.equal(await effects({}), {
      GET: 'none',
      PUT: 'idempotent',
      POST: 'irreversible',
      DELETE: 'irreversible',
      PATCH: 'irreversible',
    })
    const told = await effects({ effects: { 'POST *': 'none', 'GET *': 'irreversible', '*': 'idempotent' } })
    assert.equal(told, {
      GET: 'irreversible',
      PUT: 'idempotent',
      POST: 'none',
      DELETE: 'idempotent',
      PATCH: 'idempotent',
    })
  })

  it('is approved first when it changes something, unless told', async () => {
    const writes = ['put_a', 'post_a', 'delete_a', 'patch_a']
    assert.equal(await approvals(undefined), writes)
    assert.equal(await approvals('all'), ['get_a', ...writes])
    assert.equal(await approvals('none'), [])
    assert.equal(await approvals(['DELETE *', 'get_a']), ['get_a', 'delete_a'])
    const seen: unknown[] = []
    const approve = (operation: { readonly method: string }, input: unknown): boolean => {
      seen.push(input)
      return operation.method === 'PATCH'
    }
    assert.equal(await approvals(approve), ['patch_a'])
    assert.equal(seen[0], { n: 1 })
  })

  it('is done once by a service that takes a key', async (context) => {
    const service = await startService(context)
    const parameters = [{ name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } }]
    const source = await openApiTools(documentOf(service.url, { '/a': { post: { parameters } } }))
    assert.is(source.operations[0]!.effects, 'idempotent')
    const { post_a: post } = opened(source)
    assert.equal(post!.inputSchema['properties'], {})
    await use(post!, {})
    await use(post!, {}, Object.assign(toolContext(), { key: `agent-ü/${'x'.repeat(300)}` }))
    const keys = service.asked.map(({ headers }) => headers['idempotency-key'] as string)
    assert.is(keys[0], 'agent-1/t0/tool/call-1')
    assert.match(keys[1]!, /^[0-9a-f]{64}$/)
  })
})
