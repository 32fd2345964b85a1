import { z } from 'zod'
import {
  formOf,
  limitWords,
  readFields,
  readTyped,
  refusedFields,
  type QuestionForm,
} from '../../src/client/questionForm.ts'
import { quickAnswers } from '../../src/client/quickAnswers.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const formFor = (schema: z.ZodType): QuestionForm => formOf(z.toJSONSchema(schema, { io: 'input' }))

describe('the form of a question', (it) => {
  const cases: readonly [z.ZodType, QuestionForm][] = [
    [z.boolean(), { type: 'boolean' }],
    [z.string(), { type: 'text' }],
    [z.string().min(2).max(9), { type: 'text', least: 2, most: 9 }],
    // Its limits are those of all whole numbers.
    [z.int(), { type: 'number', isWhole: true }],
    [z.int().min(1).max(10), { type: 'number', isWhole: true, least: 1, most: 10 }],
    [z.number().gt(0).lt(1), { type: 'number', above: 0, below: 1 }],
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
    [{ type: 'boolean' }, 'maybe', { problem: 'answer yes or no' }],
    [{ type: 'text' }, ' as is ', { value: ' as is ' }],
    [{ type: 'number' }, ' 1.5 ', { value: 1.5 }],
    [{ type: 'number' }, '', { problem: 'not a number' }],
    [{ type: 'number' }, '1e999', { problem: 'not a number' }],
    [{ type: 'text', least: 1 }, '', { problem: 'empty' }],
    [{ type: 'text', least: 3 }, 'me', { problem: 'at least 3 characters' }],
    [{ type: 'text', most: 3 }, 'four', { problem: 'at most 3 characters' }],
    [{ type: 'text', least: 3, most: 3 }, 'you', { value: 'you' }],
    [{ type: 'number', isWhole: true }, '1.5', { problem: 'not a whole number' }],
    [{ type: 'number', least: 1, most: 10 }, '0', { problem: 'at least 1' }],
    [{ type: 'number', least: 1, most: 10 }, '99', { problem: 'at most 10' }],
    [{ type: 'number', least: 1, most: 10 }, '10', { value: 10 }],
    [{ type: 'number', above: 0 }, '0', { problem: 'more than 0' }],
    [{ type: 'number', below: 1 }, '1', { problem: 'less than 1' }],
    [choice, 'red', { value: 'red' }],
    [choice, '2', { value: 2 }],
    [choice, '1', { value: 'red' }],
    [choice, 'green', { problem: 'choose one of red, 2' }],
    [{ type: 'json' }, '[1]', { value: [1] }],
    [{ type: 'json' }, '[', { problem: 'not JSON' }],
  ]
  for (const [form, typed, read] of cases)
    it(`is read: ${JSON.stringify(form)}, ${JSON.stringify(typed)}`, () => {
      assert.equal(readTyped(form, typed), read)
    })

  it('is an object without the fields that are left empty, unless they are required', () => {
    const form = formFor(z.object({ to: z.string(), seats: z.number(), by: z.string().optional() }))
    assert.ok(form.type === 'object')
    assert.equal(readFields(form.fields, { to: 'Ulm', seats: '2', by: '' }), { value: { to: 'Ulm', seats: 2 } })
    assert.equal(readFields(form.fields, { to: 'Ulm' }), { problems: { seats: 'not a number' } })
    assert.equal(readFields(form.fields, { seats: '1' }), { value: { to: '', seats: 1 } })
    const strict = formFor(z.object({ to: z.string().min(2), seats: z.int().max(9) }))
    assert.ok(strict.type === 'object')
    const problems = { to: 'at least 2 characters', seats: 'at most 9' }
    assert.equal(readFields(strict.fields, { to: 'U', seats: '10' }), { problems })
  })
})

describe('the words for what a form takes', (it) => {
  const cases: readonly [QuestionForm, string][] = [
    [{ type: 'number', isWhole: true, least: 1, most: 10 }, 'a whole number, 1 to 10'],
    [{ type: 'number', above: 0 }, 'a number, more than 0'],
    [{ type: 'number' }, 'a number'],
    [{ type: 'text' }, ''],
    // A text that must not be empty is what everybody expects.
    [{ type: 'text', least: 1 }, ''],
    [{ type: 'text', least: 3 }, 'at least 3 characters'],
    [{ type: 'text', least: 1, most: 9 }, '1 to 9 characters'],
    [{ type: 'text', most: 9 }, 'at most 9 characters'],
    [{ type: 'boolean' }, 'yes or no'],
    [{ type: 'choice', values: ['a', 2] }, 'a, 2'],
    [{ type: 'json' }, 'JSON'],
  ]
  for (const [form, words] of cases)
    it(`are "${words}" for ${JSON.stringify(form)}`, () => {
      assert.is(limitWords(form), words)
    })
})

describe('the fields that a refusal names', (it) => {
  const fields = [{ name: 'to' }, { name: 'seats' }]

  it('are found with what it says of them', () => {
    const refusal = 'Call "c0" of "book" asks "Where; to: here?": to: unknown place; seats: Too big: expected less'
    assert.equal(refusedFields(fields, refusal), { to: 'unknown place', seats: 'Too big: expected less' })
  })

  it('are none where it is about the answer as a whole', () => {
    assert.equal(refusedFields(fields, 'Call "c0" of "book" asks "Where?": the two do not go together'), {})
  })
})

describe('the buttons for an answer', (it) => {
  const labels = (schema: Parameters<typeof quickAnswers>[0]): unknown =>
    quickAnswers(schema)?.map(({ label, value }) => [label, value])
  it('are those of a few short choices', () => {
    assert.equal(labels({ type: 'boolean' }), [
      ['No', false],
      ['Yes', true],
    ])
    assert.equal(labels({ type: 'string', enum: ['keep', 'drop'] }), [
      ['keep', 'keep'],
      ['drop', 'drop'],
    ])
    assert.equal(labels({ type: 'number', enum: [1] }), [['1', 1]])
  })

  it('are none where there are many, long ones or any', () => {
    assert.is(labels({ enum: ['a', 'b', 'c', 'd', 'e'] }), undefined)
    assert.is(labels({ enum: ['a'.repeat(30), 'b'.repeat(30)] }), undefined)
    assert.is(labels({ type: 'string' }), undefined)
    assert.is(labels({ type: 'object', properties: {} }), undefined)
  })
})
