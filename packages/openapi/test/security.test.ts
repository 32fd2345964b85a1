import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { openApiTools } from '../src/openApiTools.ts'
import { checkReceivers } from '../src/servers.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { documentOf, failure, json, opened, startService, use } from './service.ts'

const schemes = {
  header: { type: 'apiKey', in: 'header', name: 'X-Key' },
  query: { type: 'apiKey', in: 'query', name: 'api key' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
  bearer: { type: 'http', scheme: 'bearer' },
  basic: { type: 'http', scheme: 'basic' },
  oauth: { type: 'oauth2', flows: {} },
  oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example' },
  cert: { type: 'mutualTLS' },
}
const components = { securitySchemes: schemes }

describe('proof of who calls', (it) => {
  for (const [name, auth, seen] of [
    ['header', 'k€y', undefined],
    ['header', 'a-secret-key', { 'x-key': 'a-secret-key' }],
    ['query', 'a secret&key', { url: '/a?api%20key=a%20secret%26key' }],
    ['cookie', 'a;secret', { cookie: 'sid=a%3Bsecret' }],
    ['bearer', 'a-secret-token', { authorization: 'Bearer a-secret-token' }],
    [
      'basic',
      { username: 'ann', password: 'a-secret' },
      { authorization: `Basic ${Buffer.from('ann:a-secret').toString('base64')}` },
    ],
    ['oauth', () => 'a-fresh-token', { authorization: 'Bearer a-fresh-token' }],
    ['oidc', async () => 'a-fresh-token', { authorization: 'Bearer a-fresh-token' }],
  ] as const)
    it(`is sent as the document has it: ${name}, ${typeof auth === 'function' ? 'a function' : JSON.stringify(auth)}`, async (context) => {
      const service = await startService(context)
      const document = documentOf(service.url, { '/a': { get: { security: [{ [name]: [] }] } } }, { components })
      const tools = opened(await openApiTools(document, { auth: { [name]: auth } }))
      if (seen === undefined) {
        const message = await failure(use(tools['get_a']!, {}))
        assert.not.match(message, /k€y/)
        return
      }
      await use(tools['get_a']!, {})
      const { url, headers } = service.asked[0]!
      for (const [where, value] of Object.entries(seen)) assert.is(where === 'url' ? url : headers[where], value)
    })

  it('is that of the operation, or of the document; the first way for which all is there', async (context) => {
    const service = await startService(context)
    const document = documentOf(
      service.url,
      {
        '/own': { get: { security: [{ basic: [] }, { bearer: [], header: [] }, { header: [] }] } },
        '/open': { get: { security: [] } },
        '/either': { get: { security: [{}, { header: [] }] } },
        '/all': { get: {} },
      },
      { components, security: [{ bearer: [] }] },
    )
    const tools = opened(await openApiTools(document, { auth: { bearer: 'token-of-ann', header: 'key-of-ann' } }))
    for (const name of ['get_own', 'get_open', 'get_either', 'get_all']) await use(tools[name]!, {})
    assert.equal(
      service.asked.map(({ headers }) => [headers.authorization, headers['x-key']]),
      [
        ['Bearer token-of-ann', 'key-of-ann'],
        [undefined, undefined],
        [undefined, 'key-of-ann'],
        ['Bearer token-of-ann', undefined],
      ],
    )
  })

  it('is no argument of the tool', async (context) => {
    const service = await startService(context)
    const parameters = [
      { name: 'x-key', in: 'header', required: true, schema: { type: 'string' } },
      { name: 'q', in: 'query', schema: { type: 'string' } },
    ]
    const document = documentOf(
      service.url,
      { '/a': { get: { parameters, security: [{ header: [] }] } } },
      { components },
    )
    const { get_a: tool } = opened(await openApiTools(document, { auth: { header: 'a-secret-key' } }))
    assert.equal(Object.keys(tool!.inputSchema['properties'] as object), ['q'])
    assert.not.ok(tool!.parse({ 'x-key': 'mine' }).ok)
  })

  it('is got anew once when it is refused, and said to be missing when it is', async (context) => {
    const service = await startService(context, ({ headers }, response) =>
      headers.authorization === 'Bearer second' ? json(response, { ok: true }) : json(response, {}, 401),
    )
    const document = documentOf(service.url, { '/a': { post: { security: [{ oauth: [] }] } } }, { components })
    const asked: boolean[] = []
    const renewing = ({ isRefused }: { readonly isRefused: boolean }): string => {
      asked.push(isRefused)
      return isRefused ? 'second' : 'first'
    }
    const hidden: string[] = []
    const hide = (secrets: readonly string[]): void => void hidden.push(...secrets)
    const { post_a: tool } = opened(await openApiTools(document, { auth: { oauth: renewing } }), { hide })
    assert.equal(await use(tool!, {}), { ok: true })
    assert.equal(asked, [false, true])
    assert.equal(hidden, ['first', 'second'])
    const never = opened(await openApiTools(document, { auth: { oauth: () => 'third' } }))
    assert.match(await failure(use(never['post_a']!, {})), /^POST \/a: 401 Unauthorized/)
    const without = opened(await openApiTools(document))
    assert.match(await failure(use(without['post_a']!, {})), /the application gave no "auth" for oauth/)
    const empty = opened(await openApiTools(document, { auth: { oauth: () => '' } }))
    assert.match(await failure(use(empty['post_a']!, {})), /The application gave no token/)
  })

  it('is refused where the document has no place for it', async () => {
    const document = documentOf('http://127.0.0.1:9', { '/a': { get: {} } }, { components })
    for (const [auth, says] of [
      [{ bearr: 'a-secret-token' }, /no security scheme "bearr" \(did you mean "bearer"\?\)/],
      [{ basic: 'a-secret-token' }, /"basic" takes \{ username, password \}/],
      [{ bearer: { username: 'a', password: 'a-secret-token' } }, /"bearer" takes a string/],
      [{ cert: 'a-secret-token' }, /"cert" is a client certificate/],
    ] as const) {
      const message = await failure(openApiTools(document, { auth }))
      assert.match(message, says)
      assert.not.match(message, /a-secret/)
    }
  })

  it('goes to no host that only a fetched document names', async (context) => {
    const thief = await startService(context)
    const honest: { url: string } = await startService(context, (_, response) =>
      json(response, documentOf(thief.url, { '/a': { get: { security: [{ bearer: [] }] } } }, { components })),
    )
    const auth = { bearer: 'a-secret-token' }
    assert.match(
      await failure(openApiTools(honest.url, { auth })),
      /would have "auth" sent to http:\/\/127\.0\.0\.1:\d+: if that is right, say so with "servers"/,
    )
    await openApiTools(honest.url)
    const tools = opened(await openApiTools(honest.url, { auth, servers: [thief.url] }))
    await use(tools['get_a']!, {})
    assert.is(thief.asked[0]!.headers.authorization, 'Bearer a-secret-token')
  })

  it('goes by http to this machine alone, or where the application says so', async () => {
    const options = { auth: { bearer: 'a-secret-token' } }
    const at = (server: string) => documentOf(server, { '/a': { get: { security: [{ bearer: [] }] } } }, { components })
    for (const server of [
      'http://shop.example',
      'http://127.0.0.1.shop.example',
      'http://10.0.0.7:80',
      'http://localhost.shop.example',
    ])
      assert.match(
        await failure(openApiTools(at(server), options)),
        /"auth" would be sent in clear to http:\/\/[\w.]+: give an https address/,
      )
    for (const server of ['https://shop.example', 'http://localhost:9', 'http://127.0.0.1:9', 'http://[::1]:9'])
      await openApiTools(at(server), options)
    await openApiTools(at('http://shop.example'))
    await openApiTools(at('https://shop.example'), { ...options, servers: ['http://shop.example'] })
  })

  it('goes to the same host by no other scheme and no other port than the document came by', async () => {
    const from = new URL('https://shop.example/openapi.json')
    for (const [server, says] of [
      ['http://shop.example', /from https:\/\/shop\.example and would have "auth" sent to http:\/\/shop\.example/],
      ['https://shop.example:444', /sent to https:\/\/shop\.example:444/],
    ] as const)
      assert.throws(() => checkReceivers([new URL(server)], from), says)
    checkReceivers([new URL('https://shop.example/v1')], from)
  })
})

describe('secrets of a service', (it) => {
  it('are in no record, event or request of a model, whatever the service says', async (context) => {
    const secrets = ['key-of-the-shop-1', 'pass-of-the-shop-2', 'token-of-the-shop-3', 'query key&of the shop-4']
    const service = await startService(context, ({ url, headers }, response) => {
      const echoed = `${JSON.stringify(headers)} ${url}`
      if (url.startsWith('/bad')) json(response, { you: 'sent', echoed }, 400)
      else response.writeHead(200, { 'content-type': 'text/plain' }).end(echoed)
    })
    const security = (name: string) => ({ security: [{ [name]: [] }] })
    const document = documentOf(
      service.url,
      {
        '/a': { get: security('header') },
        '/b': { get: security('basic') },
        '/c': { get: security('oauth') },
        '/d': { get: security('query') },
        '/bad': { get: security('header') },
      },
      { components },
    )
    const shop = await openApiTools(document, {
      auth: {
        header: secrets[0]!,
        basic: { username: 'ann', password: secrets[1]! },
        oauth: () => secrets[2]!,
        query: secrets[3]!,
      },
    })
    const requests: unknown[] = []
    const agent = defineAgent({
      name: 'clerk',
      tools: [shop],
      model: policyModel((request) => {
        requests.push(request)
        return request.messages.at(-1)!.role === 'user'
          ? { toolCalls: shop.operations.map(({ name }) => ({ name, input: {} })) }
          : 'done'
      }),
    })
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const clerk = await runtime.spawn(agent)
    const events: unknown[] = []
    clerk.subscribe((event) => events.push(event))
    assert.is((await clerk.prompt('go').result).text, 'done')
    const records: unknown[] = []
    for await (const record of store.read(clerk.id)) records.push(record)
    const all = JSON.stringify([requests, events, records])
    assert.match(all, /redacted:Pet_Shop/)
    assert.is(service.asked.length, 5)
    const forms = secrets.flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      new URLSearchParams([['', secret]]).toString().slice(1),
    ])
    for (const secret of [...forms, Buffer.from(`ann:${secrets[1]}`).toString('base64')])
      assert.not.ok(all.includes(secret), secret)
  })
})

describe('a name and password in an address', (it) => {
  it('are refused in that of a server, and not told', async () => {
    const document = documentOf('https://ann:hunter2-hunter2@shop.example/v1', { '/a': { get: {} } })
    const refused = await openApiTools(document).then(
      () => '',
      (thrown: unknown) => String(thrown),
    )
    assert.match(refused, /the address of the server at shop\.example holds a name or password: give "auth"/)
    assert.not.match(refused, /hunter2|ann/)
  })

  it('are left out of one that the service redirects to', async (context) => {
    const service = await startService(context, ({ url, headers }, response) => {
      const to = `http://ann:hunter2-hunter2@${headers.host}/there`
      if (url === '/a') response.writeHead(302, { location: to }).end()
      else json(response, { url, isProved: headers['authorization'] !== undefined })
    })
    const tools = opened(await openApiTools(documentOf(service.url, { '/a': { get: {} } })))
    assert.equal(await use(tools['get_a']!, {}), { url: '/there', isProved: false })
  })
})
