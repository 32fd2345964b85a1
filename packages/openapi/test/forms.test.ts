import { openApiTools } from '../src/openApiTools.ts'
import type { CaseContext } from '../../../test/support/suite.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { documentOf, failure, oneTool, opened, startService, use } from './service.ts'

const urlencoded = 'application/x-www-form-urlencoded'

/** A body as a service gets it: the media type as the document has it. */
async function sent(context: CaseContext, type: string, media: object, body: unknown) {
  const service = await startService(context)
  const requestBody = { required: true, content: { [type]: { schema: { type: 'object' }, ...media } } }
  await use(await oneTool(service.url, { requestBody }, { method: 'post' }), { body })
  return service.asked[0]!
}

const deep = { style: 'deepObject', explode: true }

describe('a form that is urlencoded', (it) => {
  for (const [encoding, value, expected] of [
    [deep, { order: '6735', 'a b': 1 }, 'f[order]=6735&f[a+b]=1'],
    [deep, { of: { depth: [1, 2] } }, 'f[of][depth][]=1&f[of][depth][]=2'],
    [deep, ['de', 'fr'], 'f[]=de&f[]=fr'],
    [deep, [{ price: 'p1', tags: ['x'] }, { price: 'p2' }], 'f[0][price]=p1&f[0][tags][]=x&f[1][price]=p2'],
    [deep, 'now', 'f=now'],
    [deep, { a: null, b: 1 }, 'f[b]=1'],
    [{ explode: true }, { a: 1, b: 'x y' }, 'a=1&b=x+y'],
    [{ style: 'form', explode: false }, ['a', 'b,c'], 'f=a,b%2Cc'],
    [{ style: 'pipeDelimited', explode: false }, ['a', 'b'], 'f=a%7Cb'],
    [{ style: 'spaceDelimited', explode: false }, ['a', 'b'], 'f=a%20b'],
    [{ allowReserved: true }, 'a/b?c+d&e', 'f=a/b?c%2Bd%26e'],
    [{ contentType: 'application/json' }, [1, { a: 2 }], 'f=%5B1%2C%7B%22a%22%3A2%7D%5D'],
    [{}, [1, 2], 'f=1&f=2'],
    [{}, { a: 1 }, 'f=%7B%22a%22%3A1%7D'],
    [{}, "it's 100%*~", 'f=it%27s+100%25*~'],
    [{}, null, ''],
  ] as const)
    it(`has ${JSON.stringify(value)} as ${JSON.stringify(encoding)} says`, async (context) => {
      const { body, headers } = await sent(context, urlencoded, { encoding: { f: encoding } }, { f: value })
      assert.is(body.replaceAll('%5B', '[').replaceAll('%5D', ']'), bracketed(expected))
      assert.is(headers['content-type'], urlencoded)
    })

  it('follows no encoding of a field that has the name of a method of objects', async (context) => {
    assert.is((await sent(context, urlencoded, { encoding: {} }, { toString: 'x' })).body, 'toString=x')
  })

  it('is told of where its encoding has a style that there is not', async (context) => {
    const { url } = await startService(context)
    const content = { [urlencoded]: { encoding: { f: { style: 'deep' } } } }
    assert.match(
      await failure(oneTool(url, { requestBody: { content } }, { method: 'post' })),
      /requestBody\/content\/application~1x-www-form-urlencoded\/encoding\/f\/style/,
    )
  })
})

/** Brackets in values are escaped in what was sent as well. */
const bracketed = (text: string): string => text.replaceAll('%5B', '[').replaceAll('%5D', ']')

const binary = { type: 'string', format: 'binary' }
const bytes = 'data:audio/mpeg;base64,SGk='

describe('a form of several parts', (it) => {
  for (const [what, media, value, expected] of [
    ['names a file by its field and its type', { f: binary }, bytes, 'f; filename="f.mp3"|audio/mpeg|Hi'],
    [
      'takes the name of a file from its data URL, without folders',
      { f: binary },
      'data:image/png;name=..%2Fa%20%22b%22.png;base64,SGk=',
      'f; filename="a %22b%22.png"|image/png|Hi',
    ],
    ['takes a text as a file', { f: binary }, 'Hi', 'f; filename="f"|application/octet-stream|Hi'],
    [
      'knows a file by its encoding',
      { f: { type: 'string', contentEncoding: 'binary' } },
      bytes,
      'f; filename="f.mp3"|audio/mpeg|Hi',
    ],
    ['leaves base64 that the service decodes', { f: { type: 'string', contentEncoding: 'base64' } }, 'SGk=', 'f||SGk='],
    [
      'knows a file that may be null',
      { f: { anyOf: [binary, { type: 'null' }] } },
      bytes,
      'f; filename="f.mp3"|audio/mpeg|Hi',
    ],
    ['has an object as JSON', {}, { a: 1 }, 'f|application/json|{"a":1}'],
    ['has texts and numbers as they are', {}, 7, 'f||7'],
  ] as const)
    it(what, async (context) => {
      const schema = { type: 'object', properties: media }
      const { body, headers } = await sent(context, 'multipart/form-data', { schema }, { f: value, gone: null })
      const [, boundary] = /^multipart\/form-data; boundary=(\S+)$/.exec(headers['content-type']!)!
      assert.is(body, partsAs(boundary!, [expected]))
    })

  it('has lists as a part for each item, of the types that its encoding names', async (context) => {
    const properties = {
      files: { type: 'array', items: { $ref: '#/components/schemas/File' } },
      meta: {},
      link: {},
      list: {},
    }
    const encoding = {
      files: { contentType: 'image/*, application/pdf' },
      meta: { contentType: 'application/vnd.meta+json' },
      link: deep,
      list: { contentType: 'application/json' },
    }
    const service = await startService(context)
    const content = { 'multipart/form-data': { schema: { allOf: [{ properties }] }, encoding } }
    const more = { components: { schemas: { File: binary } } }
    const tool = await oneTool(service.url, { requestBody: { content } }, { method: 'post', more })
    await use(tool, {
      body: { files: ['x', 'data:image/gif;base64,SGk='], meta: { a: 1 }, link: { create: true }, list: [1, 2] },
    })
    const [{ body, headers }] = service.asked as [(typeof service.asked)[0]]
    const [, boundary] = /boundary=(\S+)$/.exec(headers['content-type']!)!
    assert.is(
      body,
      partsAs(boundary!, [
        'files; filename="files.pdf"|application/pdf|x',
        'files; filename="files.gif"|image/gif|Hi',
        'meta|application/vnd.meta+json|{"a":1}',
        'link[create]||true',
        'list|application/json|[1,2]',
      ]),
    )
  })
})

/** Parts as they are sent, of `name|type|value`. */
const partsAs = (boundary: string, parts: readonly string[]): string =>
  `${parts
    .map((part) => {
      const [name = '', type = '', value = ''] = part.split('|')
      const [field, file] = name.split('; ')
      return `--${boundary}\r\nContent-Disposition: form-data; name="${field}"${file === undefined ? '' : `; ${file}`}${type === '' ? '' : `\r\nContent-Type: ${type}`}\r\n\r\n${value}\r\n`
    })
    .join('')}--${boundary}--\r\n`

describe('a body of several types', (it) => {
  const lists = 'application/json-patch+json'
  const merged = 'application/merge-patch+json'
  for (const [types, taken] of [
    [[lists, merged, 'application/strategic-merge-patch+json'], merged],
    [[lists, 'application/json'], 'application/json'],
    [[lists], lists],
  ] as const)
    it(`is fields rather than a list of single changes: ${types.join(', ')}`, async (context) => {
      const service = await startService(context)
      const content = Object.fromEntries(types.map((type) => [type, { schema: { type: 'object' } }]))
      const tool = await oneTool(service.url, { requestBody: { content } }, { method: 'patch' })
      await use(tool, { body: { spec: { replicas: 2, paused: null } } })
      const [{ headers, body }] = service.asked as [(typeof service.asked)[0]]
      assert.equal([headers['content-type'], body], [taken, '{"spec":{"replicas":2,"paused":null}}'])
      assert.is(/one that is null is removed/.test(JSON.stringify(tool.inputSchema)), taken === merged)
    })
})

describe('the paths of a document', (it) => {
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
  for (const [path, url] of [
    ['/responses/{id}?beta=true', '/responses/a%3Fb?beta=true&q=1'],
    ['/token#refresh', '/token?q=1'],
    ['/token?a=1#refresh?x', '/token?a=1&q=1'],
    ['/?Action=Get&Id={id}', '/?Action=Get&Id=a%3Fb&q=1'],
  ] as const)
    it(`may have what is no path: ${path}`, async (context) => {
      const service = await startService(context)
      const q = { name: 'q', in: 'query', schema: { type: 'integer' } }
      const parameters = path.includes('{id}') ? [id, q] : [q]
      await use(await oneTool(service.url, { parameters }, { path }), {
        q: 1,
        ...(path.includes('{id}') ? { id: 'a?b' } : {}),
      })
      assert.is(service.asked[0]!.url, url)
    })

  it('may refer to operations in the document', async (context) => {
    const service = await startService(context)
    const document = documentOf(
      service.url,
      { '/pets/{id}': { get: { $ref: '#/components/x-operations/one' } }, 'x-internal': { get: {} } },
      { components: { 'x-operations': { one: { operationId: 'one', tags: ['pets'], parameters: [id] } } } },
    )
    const source = await openApiTools(document, { include: ['tag:pets'] })
    await use(opened(source)['one']!, { id: '7' })
    assert.equal([source.operations.length, service.asked[0]!.url], [1, '/pets/7'])
  })

  it('are told of where they refer to another document', async (context) => {
    const { url } = await startService(context)
    const paths = {
      '/pets': { get: { $ref: 'pets.yml' }, post: {} },
      '/cats': { $ref: './cats.yml' },
    }
    const { operations, leftOut } = await openApiTools(documentOf(url, paths))
    assert.equal(
      operations.map(({ method }) => method),
      ['POST'],
    )
    assert.is(leftOut.length, 2)
    for (const why of leftOut)
      assert.match(why, /^#\/paths\/~1(?:cats|pets\/get): \$ref ".*yml" leaves the document: bundle it/)
    assert.match(
      await failure(openApiTools(documentOf(url, { '/cats': { $ref: './cats.yml' } }), { include: ['cats'] })),
      /No operation of the document can be used\. #\/paths\/~1cats: \$ref/,
    )
  })

  it('are no tools if they begin with "x-"', async (context) => {
    const { url } = await startService(context)
    const { operations } = await openApiTools(documentOf(url, { 'x-internal': { get: {} }, '/pets': { get: {} } }))
    assert.equal(
      operations.map(({ path }) => path),
      ['/pets'],
    )
  })
})
