import { openApiTools } from '../src/openApiTools.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { documentOf, json, opened, startService, use } from './service.ts'

describe('the answer to a call', (it) => {
  it('is shaped by its fields, for all operations or for some', async (context) => {
    const service = await startService(context, (_, response) =>
      json(response, { items: [{ id: 1, name: 'a', owner: { id: 2, mail: 'x' } }], total: 1, next: 'n' }),
    )
    const document = documentOf(service.url, { '/a': { get: {} }, '/b': { get: {} } })
    for (const [fields, a, b] of [
      [
        ['items.id', 'items.owner.id', 'total'],
        { items: [{ id: 1, owner: { id: 2 } }], total: 1 },
        { items: [{ id: 1, owner: { id: 2 } }], total: 1 },
      ],
      [
        { 'GET /a': ['total'] },
        { total: 1 },
        { items: [{ id: 1, name: 'a', owner: { id: 2, mail: 'x' } }], total: 1, next: 'n' },
      ],
    ] as const) {
      const tools = opened(await openApiTools(document, { responses: { fields } }))
      assert.equal([await use(tools['get_a']!, {}), await use(tools['get_b']!, {})], [a, b])
    }
  })

  it('is whole after a write, unless its fields are named by pattern', async (context) => {
    const service = await startService(context, (_, response) => json(response, { id: 1, state: 'made' }))
    const document = documentOf(service.url, { '/a': { get: {}, post: {}, put: {} }, '/search': { post: {} } })
    const answers = async (fields: readonly string[] | { readonly [pattern: string]: readonly string[] }) => {
      const options = { effects: { 'POST /search': 'none' }, responses: { fields } } as const
      const tools = opened(await openApiTools(document, options))
      return await Promise.all(['get_a', 'post_a', 'put_a', 'post_search'].map((name) => use(tools[name]!, {})))
    }
    const whole = { id: 1, state: 'made' }
    assert.equal(await answers(['id']), [{ id: 1 }, whole, whole, { id: 1 }])
    assert.equal(await answers({ 'P* /a': ['id'] }), [whole, { id: 1 }, { id: 1 }, whole])
  })
})
