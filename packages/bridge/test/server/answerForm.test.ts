import { answerForm } from '../../src/server/answerForm.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

describe('the form of an answer', (it) => {
  const fields: readonly (readonly [what: string, schema: object, field: object, filled: unknown, value: unknown])[] = [
    [
      'a text, with its limits',
      { type: 'string', minLength: 1, maxLength: 9, pattern: 'x' },
      { type: 'string', minLength: 1, maxLength: 9 },
      'a',
      'a',
    ],
    [
      'a text of a format that forms know',
      { type: 'string', format: 'email' },
      { type: 'string', format: 'email' },
      'a@b',
      'a@b',
    ],
    ['a text of another format', { type: 'string', format: 'ipv4' }, { type: 'string' }, '1', '1'],
    [
      'a number, with its limits',
      { type: 'number', minimum: 1, maximum: 5 },
      { type: 'number', minimum: 1, maximum: 5 },
      3,
      3,
    ],
    ['a whole number', { type: 'integer' }, { type: 'integer' }, 3, 3],
    ['a yes or no', { type: 'boolean', description: 'Well?' }, { type: 'boolean', description: 'Well?' }, false, false],
    ['a choice of numbers, by their names', { enum: [1, 2] }, { type: 'string', enum: ['1', '2'] }, '2', 2],
    ['a choice of texts', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }, 'b', 'b'],
    ['anything else, as JSON', { type: 'array', items: {} }, { type: 'string', description: 'As JSON.' }, '[1]', [1]],
    [
      'anything else, with what it is for',
      { type: 'array', items: {}, description: 'All' },
      { type: 'string', description: 'All (as JSON)' },
      'no JSON',
      'no JSON',
    ],
  ]
  for (const [what, schema, field, filled, value] of fields)
    it(`has, alone or among others, ${what}`, () => {
      const alone = answerForm(schema as never)
      assert.equal(alone.schema, { type: 'object', properties: { answer: field }, required: ['answer'] })
      assert.equal([alone.read({ answer: filled }), alone.read({})], [value, null])
      const among = answerForm({
        type: 'object',
        properties: { one: schema, two: { type: 'boolean' } },
        required: ['one'],
      })
      assert.equal(among.schema, {
        type: 'object',
        properties: { one: field, two: { type: 'boolean' } },
        required: ['one'],
      })
      assert.equal([among.read({ one: filled, more: 1 }), among.read({})], [{ one: value }, {}])
    })
})
