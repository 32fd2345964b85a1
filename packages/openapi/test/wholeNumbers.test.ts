import { assert, describe } from '../../../test/support/suite.ts'
import { failure, oneTool, startService, use } from './service.ts'

describe('the answer to a call', (it) => {
  it('has its large numbers given back in a body, as numbers with every digit', async (context) => {
    const id = '12345678901234567890'
    const service = await startService(context)
    const wide = { type: 'integer', format: 'int64' }
    const schema = {
      type: 'object',
      required: ['id'],
      properties: {
        id: wide,
        name: { type: 'string' },
        maybe: { type: ['integer', 'null'], format: 'int64' },
        ids: { type: 'array', items: wide },
        tree: { $ref: '#/components/schemas/Tree' },
        either: { oneOf: [{ type: 'string' }, wide, { $ref: '#/components/schemas/Chosen' }] },
      },
      additionalProperties: wide,
    }
    const schemas = {
      Tree: {
        allOf: [
          { type: 'object', properties: { of: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } } },
          { type: 'object', properties: { id: wide } },
        ],
      },
      Chosen: { type: 'object', properties: { id: wide } },
    }
    const requestBody = { required: true, content: { 'application/json': { schema } } }
    const tool = await oneTool(service.url, { requestBody }, { method: 'post', more: { components: { schemas } } })
    const send = async (body: object): Promise<string> => {
      await use(tool, { body })
      return service.asked.at(-1)!.body
    }
    assert.is(
      await send({ id, name: id, maybe: null, ids: [id, 7], tree: { of: [{ id }] }, more: id }),
      `{"id":${id},"name":"${id}","maybe":null,"ids":[${id},7],"tree":{"of":[{"id":${id}}]},"more":${id}}`,
    )
    assert.is(await send({ id: 7, either: id }), `{"id":7,"either":"${id}"}`, 'it may be a text')
    assert.is(await send({ id: '-007' }), '{"id":-7}')
    for (const wrong of ['', 'x', '1.5', '1e3', '+1', ' 1', '1'.repeat(21)])
      assert.match(await failure(use(tool, { body: { id: wrong } })), /Invalid arguments: body\.id/, wrong)
    assert.match(await failure(use(tool, { body: { id: 7, either: { id } } })), /Invalid arguments: body\.either/)
  })
})
