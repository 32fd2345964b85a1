import { openApiTools } from '../src/openApiTools.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { documentOf, failure, oneTool, startService, use } from './service.ts'

const here = 'https://pets.example'

describe('the check by a schema of a document', (it) => {
  it('refuses no more than the document means by a choice, by values that are objects and by formats', async (context) => {
    const service = await startService(context)
    const schema = {
      type: 'object',
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
      properties: {
        ports: { type: 'object', additionalProperties: { enum: [{}] } },
        id: { type: 'string', format: 'uuid' },
        at: { type: 'string', format: 'date-time' },
        kind: { oneOf: [{ type: 'object', properties: { k: { type: 'string' } } }, { type: 'object' }] },
      },
    }
    const tool = await oneTool(
      service.url,
      { requestBody: { content: { 'application/json': { schema } } } },
      { method: 'post', approve: 'none' },
    )
    const body = {
      a: 1,
      b: 2,
      ports: { '80/tcp': {} },
      id: '6F9619FF-8B86-D011-B42D-00CF4FC964FF',
      at: '2026-01-01t00:00:00z',
      kind: { k: 'x' },
    }
    await use(tool, { body })
    assert.equal(JSON.parse(service.asked[0]!.body), body)
    assert.match(await failure(use(tool, { body: { ports: { '80/tcp': 1 }, a: 1 } })), /body\.ports/)
    assert.match(await failure(use(tool, { body: {} })), /body/)
  })

  it('takes no field to be missing that the service fills in', async (context) => {
    const service = await startService(context)
    const schema = { type: 'object', properties: { a: { default: 1 }, b: {} }, required: ['a', 'b'] }
    const tool = await oneTool(
      service.url,
      { requestBody: { content: { 'application/json': { schema } } } },
      { method: 'post', approve: 'none' },
    )
    await use(tool, { body: { b: 2 } })
    assert.is(service.asked[0]!.body, '{"b":2}')
    assert.match(await failure(use(tool, { body: {} })), /body\.b: missing/)
  })
})

describe('a schema of a document', (it) => {
  it('that is too large for a request has the descriptions that are furthest inside shortened, and no field that is called so', async () => {
    const words = 'word '.repeat(100)
    const fields = Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [
        `f${at}`,
        {
          type: 'object',
          description: `Field ${at}.`,
          properties: { description: { type: 'string', description: words } },
        },
      ]),
    )
    const schema = { type: 'object', description: 'All of it.', properties: fields }
    const post = { requestBody: { content: { 'application/json': { schema } } } }
    const { leftOut, open } = await openApiTools(documentOf(here, { '/a': { post } }))
    assert.equal(leftOut, [])
    const shown = open({ clock: { now: () => 0, after: () => () => {} } }).tools[0]!.inputSchema
    assert.ok(JSON.stringify(shown).length <= 100_000)
    const { body } = shown['properties'] as {
      readonly body: { readonly description: string; readonly properties: object }
    }
    assert.is(body.description, 'All of it.')
    const { f7 } = body.properties as { readonly f7: { readonly description: string; readonly properties: object } }
    assert.is(f7.description, 'Field 7.')
    assert.equal(Object.keys(f7.properties), ['description'])
  })

  it('is shown without the words of a vendor, and with fields that are called so', async () => {
    const schema = { type: 'object', 'x-order': 1, properties: { 'x-a': { type: 'string', 'x-b': {} } } }
    const post = { requestBody: { content: { 'application/json': { schema } } } }
    const { open } = await openApiTools(documentOf(here, { '/a': { post } }))
    const shown = open({ clock: { now: () => 0, after: () => () => {} } }).tools[0]!.inputSchema
    assert.equal(shown['properties'], { body: { type: 'object', properties: { 'x-a': { type: 'string' } } } })
  })

  it('that is too large even so is left out, unless the application takes larger ones', async () => {
    const schema = { type: 'object', properties: { a: { enum: ['x'.repeat(100_000)] } } }
    const paths = {
      '/a': { post: { requestBody: { content: { 'application/json': { schema } } } } },
      '/b': { get: {} },
    }
    const { leftOut } = await openApiTools(documentOf(here, paths))
    assert.match(leftOut[0] ?? '', /~1a\/post: .* \d+ characters, more than "maxSchemaChars" \(100000\)/)
    const larger = await openApiTools(documentOf(here, paths), { maxSchemaChars: 200_000 })
    assert.equal([larger.leftOut, larger.operations.length], [[], 2])
    const smaller = await openApiTools(documentOf(here, paths), { maxSchemaChars: 1_000 })
    assert.is(smaller.operations.length, 1)
    assert.match(await failure(openApiTools(documentOf(here, paths), { maxSchemaChars: 0 })), /maxSchemaChars/)
  })

  it('of which the service alone checks parts is told of', async () => {
    const schema = { type: 'string', pattern: '^(a)\\1$' }
    const source = await openApiTools(
      documentOf(here, { '/a': { get: { operationId: 'a', parameters: [{ name: 'q', in: 'query', schema }] } } }),
    )
    const { trouble } = source.open({ clock: { now: () => 0, after: () => () => {} } })
    assert.match(
      trouble!,
      /^arguments of 1 operations are checked by the service alone, or in part: a: its pattern .* is not tried: it refers back/,
    )
  })
})
