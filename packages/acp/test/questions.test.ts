import type { CreateElicitationRequest, CreateElicitationResponse } from '@agentclientprotocol/sdk'
import { z } from 'zod'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { calls, resultsOf, tool } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { choose, openHouse, type EditorOptions } from './acpHarness.ts'

const schemas: { readonly [name: string]: z.ZodType } = {
  sure: z.boolean(),
  colour: z.enum(['red', 'blue']),
  name: z.string().min(3),
  trip: z.object({ to: z.string(), seats: z.number() }),
  list: z.array(z.string()),
}

/** Returns the input of the tool that asks about this. */
async function asked(
  context: Parameters<typeof openHouse>[0],
  name: string,
  options: EditorOptions,
): Promise<string | undefined> {
  const model = scriptedModel([calls('c', name === 'locate' ? name : 'ask'), 'done'])
  const ask = tool('ask', (_, call) => call.ask(schemas[name]!, `Which ${name}?`))
  const locate = defineTool({ name: 'locate', description: 'Where.', input: z.object({}) })
  const { connect } = await openHouse(context, [defineAgent({ name: 'asker', model, tools: [ask, locate] })])
  const editor = await connect(options)
  assert.is((await editor.say(await editor.open(), 'go')).stopReason, 'end_turn')
  return resultsOf(model.requests[1])[0]
}

const accept = (content: { [field: string]: string | number | boolean }): CreateElicitationResponse => ({
  action: 'accept',
  content,
})

describe('a question over ACP', (it) => {
  it('is a form where the editor has forms, of the fields of an object', async (context) => {
    const forms: CreateElicitationRequest[] = []
    const fill = (form: CreateElicitationRequest) => {
      forms.push(form)
      return accept({ to: 'Ulm', seats: 2 })
    }
    assert.is(await asked(context, 'trip', { fill }), '{"to":"Ulm","seats":2}')
    const [form] = forms
    assert.ok(form?.mode === 'form' && 'requestedSchema' in form)
    assert.is(form.message, 'Which trip?')
    assert.equal((form.requestedSchema as { required?: string[] }).required, ['to', 'seats'])
  })

  it('is a form of one field for any other value, which is typed as JSON if need be', async (context) => {
    assert.is(await asked(context, 'name', { fill: () => accept({ answer: 'Ann' }) }), 'Ann')
    assert.is(await asked(context, 'list', { fill: () => accept({ answer: '["a","b"]' }) }), '["a","b"]')
  })

  it('is asked again with what was wrong, but not for ever', async (context) => {
    const said: string[] = []
    const names = ['me', 'Ann']
    const fill = ({ message }: CreateElicitationRequest) => {
      said.push(message)
      return accept({ answer: names.shift() ?? '' })
    }
    assert.is(await asked(context, 'name', { fill }), 'Ann')
    assert.is(said.length, 2)
    assert.match(said[1]!, 'give at least 3 characters')
    const never = await asked(context, 'name', { fill: () => accept({ answer: 'x' }) })
    assert.match(never!, /Nobody answers "Which name\?"\. Reason: The client gave no answer that fits/)
  })

  for (const [action, reason] of [
    ['decline', 'did not want to answer'],
    ['cancel', 'was dismissed'],
  ] as const)
    it(`that is answered by ${action} rejects in the tool`, async (context) => {
      assert.match((await asked(context, 'name', { fill: () => ({ action }) }))!, reason)
    })

  it('is a choice where the editor has no forms', async (context) => {
    assert.is(await asked(context, 'sure', { answer: () => choose('1') }), 'false')
    assert.is(await asked(context, 'colour', { answer: () => choose('1') }), 'blue')
    assert.match((await asked(context, 'colour', { answer: () => choose('none') }))!, 'did not want to answer')
    assert.match((await asked(context, 'name', {}))!, 'cannot ask such a question')
  })

  it('is denied if it is a call for a client, which an editor does not carry out', async (context) => {
    assert.match((await asked(context, 'locate', {}))!, 'An editor does not carry out calls.')
  })
})
