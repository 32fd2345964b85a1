import { z } from 'zod'
import { elicit, type AskingCall } from '../../src/client/elicitation.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const text = { type: 'string' }

/** Returns the messages a server hears that asks for these fields and is answered with these values in turn until one fits. */
async function asked(schema: object, ...answers: readonly unknown[]) {
  let shown: unknown
  const wrong: string[] = []
  const left = [...answers]
  const ask = async (form: z.ZodType): Promise<unknown> => {
    shown = z.toJSONSchema(form, { io: 'input' })
    while (left.length > 0) {
      const read = form.safeParse(left.shift())
      if (read.success) return read.data
      wrong.push(read.error.issues[0]!.message)
    }
    throw new RuntimeError('QUESTION_DENIED', 'nobody answers')
  }
  const request = { message: 'Who?', requestedSchema: { type: 'object', ...schema } }
  const call = { ask: ask as AskingCall['ask'], signal: new AbortController().signal }
  const heard = await elicit('srv', request, call, () => {})
  return { heard, wrong, shown: shown as { readonly [keyword: string]: unknown } }
}

describe('what an MCP server asks people for', (it) => {
  it('is checked as arguments are: what is required has to be there, with and without a schema of its own', async () => {
    for (const schema of [{ required: ['name'] }, { required: ['name'], properties: { name: text } }]) {
      const { heard, wrong } = await asked(schema, {}, { name: 'Zoë' })
      assert.equal(heard, { action: 'accept', content: { name: 'Zoë' } })
      assert.is(wrong.length, 1)
      assert.match(wrong[0]!, /name/)
    }
  })

  it('may have fields by names that every object has', async () => {
    const properties = { constructor: text, toString: text, a: { type: 'integer', maximum: 5 } }
    const { heard, wrong } = await asked({ properties }, { a: 6 }, { a: 5 })
    assert.equal([heard, wrong.length], [{ action: 'accept', content: { a: 5 } }, 1])
  })

  it('is shown as the server has it, with the titles of choices, and gets the defaults of what nobody filled in', async () => {
    const properties = {
      size: { type: 'string', enum: ['s', 'l'], enumNames: ['small', 'large'], default: 's' },
      mail: { type: 'string', format: 'email' },
    }
    const schema = { properties, required: ['size', 'mail'] }
    const { heard, wrong, shown } = await asked(schema, { mail: 'nowhere' }, { mail: 'a@b.example' })
    assert.equal(heard, { action: 'accept', content: { size: 's', mail: 'a@b.example' } })
    assert.equal(wrong, ['mail: it is no email'])
    assert.equal(Object.keys(shown['properties'] as object), ['size', 'mail'])
    assert.equal(shown['required'], ['size', 'mail'])
    assert.match(JSON.stringify(shown), /s: small, l: large/)
  })

  it('is declined when nobody answers, and asked though a part of its schema cannot be read', async () => {
    assert.equal((await asked({ properties: { a: text } })).heard, { action: 'decline' })
    const { heard } = await asked({ properties: { a: { ...text, pattern: '(?P<x>a)' }, b: null } }, { a: 'x' })
    assert.equal(heard, { action: 'accept', content: { a: 'x' } })
  })

  it('takes no answer that is no object', async () => {
    const { heard, wrong } = await asked({ properties: { a: text } }, 'a', null, ['a'])
    assert.equal([heard, wrong.length], [{ action: 'decline' }, 3])
  })

  it('is held against whatever pattern its form has, and against none that cannot be tried', async () => {
    const ofForm = (pattern: string) => ({ properties: { a: { type: 'string', pattern } } })
    const answers = [{ a: `${'a'.repeat(60)}!` }, { a: 'a a' }]
    const { heard, wrong } = await asked(ofForm('^(\\w+\\s?)*$'), ...answers)
    assert.equal([heard, wrong.length], [{ action: 'accept', content: answers[1] }, 1])
    const back = await asked(ofForm('^(a)\\1$'), ...answers)
    assert.equal([back.heard, back.wrong], [{ action: 'accept', content: answers[0] }, []])
  })
})
