import { z } from 'zod'
import { formOf, readFields, readTyped, type QuestionForm } from '../../src/protocol/bridge/questionForm.ts'
import { assert, describe } from '../support/suite.ts'

const formFor = (schema: z.ZodType): QuestionForm => formOf(z.toJSONSchema(schema, { io: 'input' }))

describe('the form of a question', (it) => {
  const cases: readonly [z.ZodType, QuestionForm][] = [
    [z.boolean(), { type: 'boolean' }],
    [z.string().min(1), { type: 'text' }],
    [z.int(), { type: 'number' }],
    [z.number(), { type: 'number' }],
    [z.enum(['a', 'b']), { type: 'choice', values: ['a', 'b'] }],
    [z.union([z.literal('a'), z.literal(2)]), { type: 'choice', values: ['a', 2] }],
    [z.array(z.string()), { type: 'json' }],
    [z.unknown(), { type: 'json' }],
    [z.object({}), { type: 'json' }],
    [z.union([z.string(), z.number()]), { type: 'json' }],
  ]
  for (const [index, [schema, form]] of cases.entries())
    it(`is ${JSON.stringify(form)}, ${index}`, () => {
      assert.equal(formFor(schema), form)
    })

  it('has the fields of an object, those in objects of their own as JSON', () => {
    const form = formFor(z.object({ a: z.string().describe('the a'), b: z.object({ c: z.number() }).optional() }))
    assert.equal(form, {
      type: 'object',
      fields: [
        { name: 'a', form: { type: 'text' }, isRequired: true, description: 'the a' },
        { name: 'b', form: { type: 'json' }, isRequired: false, description: '' },
      ],
    })
  })
})

describe('what is typed into it', (it) => {
  const choice = { type: 'choice', values: ['red', 2] } as const
  const cases: readonly [QuestionForm, string, unknown][] = [
    [{ type: 'boolean' }, ' Yes ', { value: true }],
    [{ type: 'boolean' }, 'n', { value: false }],
    [{ type: 'boolean' }, 'maybe', { problem: 'neither yes nor no' }],
    [{ type: 'text' }, ' as is ', { value: ' as is ' }],
    [{ type: 'number' }, ' 1.5 ', { value: 1.5 }],
    [{ type: 'number' }, '', { problem: 'not a number' }],
    [{ type: 'number' }, '1e999', { problem: 'not a number' }],
    [choice, 'red', { value: 'red' }],
    [choice, '2', { value: 2 }],
    [choice, '1', { value: 'red' }],
    [choice, 'green', { problem: 'none of red, 2' }],
    [{ type: 'json' }, '[1]', { value: [1] }],
    [{ type: 'json' }, '[', { problem: 'not JSON' }],
  ]
  for (const [form, typed, read] of cases)
    it(`is read: ${form.type}, ${JSON.stringify(typed)}`, () => {
      assert.equal(readTyped(form, typed), read)
    })

  it('is an object without the fields that are left empty, unless they are required', () => {
    const form = formFor(z.object({ to: z.string(), seats: z.number(), by: z.string().optional() }))
    assert.ok(form.type === 'object')
    assert.equal(readFields(form.fields, { to: 'Ulm', seats: '2', by: '' }), { value: { to: 'Ulm', seats: 2 } })
    assert.equal(readFields(form.fields, { to: 'Ulm' }), { problem: 'seats: not a number' })
    assert.equal(readFields(form.fields, { seats: '1' }), { value: { to: '', seats: 1 } })
  })
})
