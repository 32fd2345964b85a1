import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as fc from 'fast-check'
import { stringify } from 'yaml'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { openApiTools } from '../src/openApiTools.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { documentOf, failure, json, oneTool, opened, startService, use } from './service.ts'

const here = 'http://127.0.0.1:9'

const pets = documentOf(here, {
  '/pets': {
    get: { operationId: 'listPets', summary: 'All pets.', tags: ['pets'] },
    post: { tags: ['pets', 'admin'] },
  },
  '/pets/{id}': {
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }] as never,
    get: { operationId: 'getPet', description: 'One pet.' },
    put: {},
    delete: { tags: ['admin'], deprecated: true },
  },
})

const namesOf = async (document: object | string | URL, options = {}): Promise<string[]> =>
  (await openApiTools(document, options)).operations.map(({ name }) => name)

describe('an OpenAPI document', (it) => {
  it('becomes tools with names, descriptions and effects', async () => {
    const source = await openApiTools(pets)
    assert.is(source.source, 'Pet_Shop')
    assert.equal(
      source.operations.map(({ name, method, path, effects }) => [name, method, path, effects]),
      [
        ['listPets', 'GET', '/pets', 'none'],
        ['post_pets', 'POST', '/pets', 'irreversible'],
        ['getPet', 'GET', '/pets/{id}', 'none'],
        ['put_pets_id', 'PUT', '/pets/{id}', 'idempotent'],
        ['delete_pets_id', 'DELETE', '/pets/{id}', 'irreversible'],
      ],
    )
    const { listPets, getPet, delete_pets_id: remove } = opened(source)
    assert.is(listPets!.description, 'All pets.\n(GET /pets)')
    assert.is(remove!.description, 'Deprecated.\n(DELETE /pets/{id})')
    assert.equal(getPet!.inputSchema, {
      type: 'object',
      properties: { id: { type: 'integer' } },
      required: ['id'],
      additionalProperties: false,
    })
  })

  it('is read as an object, as text in JSON and YAML, from a path and from an address', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'escapement-openapi-'))
    context.cleanup(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'shop.yaml')
    writeFileSync(path, stringify(pets))
    const text = JSON.stringify(pets)
    const service = await startService(context, (_, response) => json(response, { ...pets, servers: [{ url: '/v1' }] }))
    const all = ['listPets', 'post_pets', 'getPet', 'put_pets_id', 'delete_pets_id']
    for (const document of [pets, text, stringify(pets), path, pathToFileURL(path), pathToFileURL(path).href])
      assert.equal(await namesOf(document), all)
    assert.equal(await namesOf(`${service.url}/openapi.json`), all)
    assert.equal(await namesOf(new URL(`${service.url}/openapi.json`)), all)
  })

  it('may be of version 2.0, 3.0 or 3.1', async (context) => {
    const service = await startService(context)
    const host = service.url.replace('http://', '')
    const two = {
      swagger: '2.0',
      info: { title: 'Old', version: '1' },
      host,
      basePath: '/v1',
      schemes: ['http'],
      consumes: ['application/json'],
      definitions: { Pet: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
      paths: {
        '/pets/{id}': {
          put: {
            operationId: 'savePet',
            parameters: [
              { name: 'id', in: 'path', required: true, type: 'integer' },
              { name: 'tags', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'csv' },
              { name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } },
            ],
            responses: {},
          },
        },
      },
    }
    const tools = opened(await openApiTools(two))
    await use(tools['savePet']!, { id: 7, tags: ['a', 'b'], body: { name: 'Rex' } })
    assert.equal(
      service.asked.map(({ method, url, body }) => [method, url, body]),
      [['PUT', '/v1/pets/7?tags=a,b', '{"name":"Rex"}']],
    )
    assert.match(await failure(use(tools['savePet']!, { id: 7, body: {} })), /Invalid arguments: body\.name/)
    const three = {
      openapi: '3.0.3',
      info: {},
      servers: [{ url: service.url }],
      paths: {
        '/a': { get: { parameters: [{ name: 'q', in: 'query', schema: { type: 'string', nullable: true } }] } },
      },
    }
    const a = opened(await openApiTools(three))['get_a']!
    assert.ok(a.parse({ q: null }).ok)
    assert.not.ok(a.parse({ q: 1 }).ok)
  })

  it('gives each operation a name of its own that every provider takes', async () => {
    const names = await namesOf(
      documentOf(here, {
        '/a.b/c d': { get: {} },
        '/a-b/c-d': { get: {} },
        '/x': { get: { operationId: 'same thing' }, post: { operationId: 'same/thing' } },
        [`/${'long/'.repeat(40)}`]: { get: {} },
        '/': { get: {} },
      }),
    )
    assert.equal(names.slice(0, 4), ['get_a_b_c_d', 'get_a_b_c_d_2', 'same_thing', 'same_thing_2'])
    assert.is(names[5], 'get_root')
    for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/)
  })

  it('is chosen from by name, by method and path, by tag and by pattern', async () => {
    for (const [include, exclude, expected] of [
      [['listPets'], [], ['listPets']],
      [['GET *'], [], ['listPets', 'getPet']],
      [['tag:admin'], [], ['post_pets', 'delete_pets_id']],
      [[/pet$/i], [], ['getPet']],
      [['*'], ['* /pets/{id}'], ['listPets', 'post_pets']],
      [['PUT /pets/{id}', 'tag:pets'], ['post_pets'], ['listPets', 'put_pets_id']],
    ] as const)
      assert.equal(await namesOf(pets, { include, exclude }), expected)
    for (const [options, says] of [
      [{ include: ['lstPets'] }, /No operation of the document is meant by "lstPets"\. Did you mean "listPets"\?/],
      [{ exclude: ['tag:cats'] }, /meant by "tag:cats"/],
      [{ approve: ['DELTE *'] }, /meant by "DELTE \*"/],
      [{ effects: { 'POST /pts': 'none' } }, /meant by "POST \/pts"\. Did you mean "POST \/pets"\?/],
      [{ responses: { fields: { getPets: ['id'] } } }, /meant by "getPets"/],
    ] as const)
      assert.match(await failure(openApiTools(pets, options)), says)
  })

  it('says what there is where a pattern means nothing, the nearest first', async () => {
    for (const [include, says] of [
      ['tag:adminn', / There are: tag:admin, tag:pets, /],
      ['tag:cats', / There are: tag:pets, tag:admin, /],
      ['PATCH /pets/{id}', / There are: PUT \/pets\/\{id\}, GET \/pets\/\{id\}, /],
      ['listAnimals', / There are: listPets, /],
      [/nothing/, / There are: .*getPet/],
    ] as const)
      assert.match(await failure(openApiTools(pets, { include: [include] })), says)
    const many = documentOf(here, Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`/p${n}`, { get: {} }])))
    const message = await failure(openApiTools(many, { include: [`x${'y'.repeat(100_000)}`.slice(0, 300)] }))
    assert.match(message, /, and 488 more\. /)
  })

  it('may have schemas that refer to themselves and to one another', async () => {
    const document = documentOf(
      here,
      {
        '/pets': {
          post: {
            requestBody: {
              required: true,
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
            },
          },
        },
      },
      {
        components: {
          schemas: {
            Pet: {
              type: 'object',
              properties: {
                id: { type: 'integer', readOnly: true },
                name: { type: 'string', example: 'Rex' },
                parent: { $ref: '#/components/schemas/Pet' },
                owner: { $ref: '#/components/schemas/Owner' },
              },
              required: ['id', 'name'],
            },
            Owner: {
              type: 'object',
              properties: { pets: { type: 'array', items: { $ref: '#/components/schemas/Pet' } } },
            },
          },
        },
      },
    )
    const { post_pets: post } = opened(await openApiTools(document))
    assert.equal(post!.inputSchema, {
      type: 'object',
      properties: { body: { $ref: '#/$defs/Pet' } },
      required: ['body'],
      additionalProperties: false,
      $defs: {
        Pet: {
          type: 'object',
          properties: { name: { type: 'string' }, parent: { $ref: '#/$defs/Pet' }, owner: { $ref: '#/$defs/Owner' } },
          required: ['name'],
        },
        Owner: { type: 'object', properties: { pets: { type: 'array', items: { $ref: '#/$defs/Pet' } } } },
      },
    })
    const nested = post!.parse({ body: { name: 'a', parent: { name: 'b', owner: { pets: [{ name: 7 }] } } } })
    assert.match(nested.ok ? '' : nested.message, /body\.parent\.owner\.pets\.0\.name/)
    assert.ok(post!.parse({ body: { name: 'a', parent: { name: 'b' } } }).ok)
  })

  it('takes arguments that zod cannot check for the service to check', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', pattern: '(' }, b: { not: { const: 1 } } },
      required: ['a'],
      if: {},
      else: {},
    }
    const tool = await oneTool(
      here,
      { requestBody: { content: { 'application/json': { schema } } } },
      { method: 'post' },
    )
    assert.ok(tool.parse({ body: { a: 'x', b: 2 } }).ok)
    assert.not.ok(tool.parse({ body: { b: 2 } }).ok)
    assert.equal((tool.inputSchema['properties'] as { body: unknown }).body, schema)
  })

  it('is refused with the place of what is wrong', async () => {
    const operation = (given: unknown, more: object = {}) => documentOf(here, { '/pets': { get: given } }, more)
    const circular: Record<string, unknown> = documentOf(here, {})
    circular['self'] = circular
    for (const [document, says] of [
      [{}, /says neither "openapi" nor "swagger"/],
      [{ openapi: '4.0.0' }, /says "4\.0\.0"; OpenAPI 2\.0, 3\.0, 3\.1 and 3\.2 can be read/],
      [{ openapi: ['3.1.0'] }, /says "\[\\"3/],
      ['[]', /The document is not an object/],
      ['{ nonsense', /The document is not JSON/],
      ['a: &a\nb: *c', /The document is not YAML/],
      [circular, /give it with its references, not with the objects in their place/],
      ['https://', /"https:\/\/" is no address of a document/],
      [
        './nowhere.json',
        /nowhere\.json could not be read: ENOENT.*'\. Correct the part that the message names: the document, its address, or the/,
      ],
      ['http://127.0.0.1:9/openapi.json', /could not be read: fetch failed/],
      [documentOf(here, {}), /The document has no operations/],
      [{ ...documentOf(here, {}), paths: [] }, /^#\/paths: /],
      [
        documentOf(here, { '/pets': { post: { requestBody: { content: { 'application/json': { schema: null } } } } } }),
        /application~1json\/schema: a schema is an object, true or false/,
      ],
      [operation(5), /#\/paths\/~1pets\/get: .*give an object/],
      [operation({ parameters: [{ name: 'q', in: 'body' }] }), /#\/paths\/~1pets\/get\/parameters\/0\/in: /],
      [
        operation({ parameters: [{ $ref: '#/components/parameters/q' }] }),
        /parameters\/0: \$ref "#\/components\/parameters\/q" names nothing/,
      ],
      [
        operation({ parameters: [{ $ref: 'other.json#/q' }] }),
        /parameters\/0: \$ref "other\.json#\/q" leaves the document/,
      ],
      [operation({ parameters: [{ $ref: 'file:///etc/passwd' }] }), /leaves the document/],
      [operation({ parameters: [{ $ref: '#/x' }] }, { x: { $ref: '#/x' } }), /its references go in a circle/],
      [
        documentOf(here, {
          '/pets': {
            post: {
              requestBody: { content: { 'application/json': { schema: { items: { $ref: 'http://127.0.0.1:9/x' } } } } },
            },
          },
        }),
        /post\/requestBody\/content\/application~1json\/schema\/items: \$ref .* leaves the document/,
      ],
      [
        operation({ requestBody: { required: true, content: { 'text/plain': {} } } }),
        /get\/requestBody: a GET with content cannot be sent/,
      ],
      [documentOf('/v1', { '/pets': { get: {} } }), /the server "\/v1" is no whole address/],
      [documentOf('ftp://x', { '/pets': { get: {} } }), /the server "ftp:\/\/x" is not reached by http or https/],
      [documentOf('http://{region}.x', { '/pets': { get: {} } }), /has no default for \{region\}/],
      [documentOf(here, { '/pets/{id}': { get: {} } }), /there is no parameter for \{id\} of \/pets\/\{id\}/],
    ] as const) {
      const thrown = await openApiTools(document as object).catch((one: unknown) => one)
      assert.ok(thrown instanceof RuntimeError, String(thrown))
      assert.is(thrown.code, 'OPENAPI_INVALID')
      assert.match(thrown.message, says)
    }
  })

  it('loses one operation that cannot be used, unless that is asked for by name', async () => {
    const document = documentOf(here, {
      '/a': { get: {} },
      '/b': { get: { operationId: 'b', parameters: [{ $ref: 'x.json' }] } },
    })
    const source = await openApiTools(document)
    assert.equal(
      source.operations.map(({ name }) => name),
      ['get_a'],
    )
    assert.match(source.leftOut[0]!, /#\/paths\/~1b\/get\/parameters\/0: \$ref "x\.json" leaves the document/)
    assert.match(
      source.open({ clock: { now: () => 0, after: () => () => {} } }).trouble!,
      /1 operations were left out: #\/paths\/~1b/,
    )
    assert.match(await failure(openApiTools(document, { include: ['b'] })), /leaves the document/)
  })

  it('is no way to use up memory or stack', async () => {
    let schema: object = { type: 'string' }
    for (let depth = 0; depth < 500; depth += 1) schema = { type: 'array', items: schema }
    const deep = { requestBody: { content: { 'application/json': { schema } } } }
    assert.match(
      await failure(openApiTools(documentOf(here, { '/a': { post: deep } }))),
      /nested deeper than 64 levels/,
    )
    const wide = {
      requestBody: {
        content: { 'application/json': { schema: { enum: Array.from({ length: 50_000 }, (_, n) => `value ${n}`) } } },
      },
    }
    assert.match(
      await failure(openApiTools(documentOf(here, { '/a': { post: wide } }))),
      /a schema of \d+ characters, more than "maxSchemaChars" \(100000\)/,
    )
    const bomb = [
      'a: &a [1,1,1,1,1,1,1,1,1]',
      ...Array.from(
        'bcdefghijkl',
        (name, n) =>
          `${name}: &${name} [${Array(9)
            .fill(`*${String.fromCharCode(97 + n)}`)
            .join()}]`,
      ),
    ]
    assert.match(await failure(openApiTools(bomb.join('\n'))), /not YAML: Excessive alias count/)
  })

  it('may hold anything: it is read or refused', async () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(null, true, 0, '', 'get', '#/paths', 'query'),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom(
            '$ref',
            'parameters',
            'schema',
            'content',
            'name',
            'in',
            'get',
            'properties',
            'items',
            'application/json',
            'requestBody',
            'servers',
            'url',
            'security',
          ),
          tie('any'),
          { maxKeys: 4 },
        ),
      ),
    })).any
    await fc.assert(
      fc.asyncProperty(value, value, async (item, components) => {
        const document = { ...documentOf(here, {}), paths: { '/a': item, '/b': { get: item } }, components }
        const read = await openApiTools(document).catch((thrown: unknown) => thrown)
        if (read instanceof Error) assert.is((read as RuntimeError).code, 'OPENAPI_INVALID', read.stack)
      }),
      { numRuns: 300, seed: 18 },
    )
  })

  for (const [what, options, says] of [
    [
      'an option that there is not',
      { includes: [] },
      /openApiTools: "includes" is not known; did you mean "include"\?/,
    ],
    ['effects that need an undo', { effects: { x: 'reversible' } }, /openApiTools: effects\.x/],
    ['a secret that is none, without showing it', { auth: { key: 4711 } }, /auth\.key: give a string/],
    ['a server that is no address', { servers: ['shop'] }, /servers\.0/],
  ] as const)
    it(`refuses ${what}`, async () => {
      const message = await failure(openApiTools(pets, options as never))
      assert.match(message, says)
      assert.not.match(message, /4711/)
    })
})
