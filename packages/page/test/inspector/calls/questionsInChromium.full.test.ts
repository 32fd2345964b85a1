import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, recordsOf, serveInspector, startAgent } from '../inspectorHarness.ts'

const schemas: { readonly [subject: string]: z.ZodType } = {
  yes: z.boolean(),
  colour: z.enum(['red', 'blue']),
  name: z.string().min(3),
  trip: z.object({
    to: z.string().refine((to) => to !== 'Atlantis', 'there is no such place'),
    seats: z.int().max(9).describe('One for each of you'),
    by: z.enum(['train', 'ship']).optional(),
  }),
}

const interviewer = defineAgent({
  name: 'interviewer',
  model: policyModel(({ messages }) => {
    const last = messages.at(-1)!
    if (last.role === 'toolResult') return `It was: ${textOf(last.content)}`
    const said = textOf(last.content)
    const name = said === 'place' ? 'locate' : said === 'write' ? 'write' : 'ask'
    return { toolCalls: [{ name, input: { subject: said } }] }
  }),
  tools: [
    defineTool({
      name: 'ask',
      description: 'Asks.',
      input: z.object({ subject: z.string() }),
      run: ({ subject }, { ask }) => ask(schemas[subject]!, `Which ${subject}?`),
    }),
    defineTool({ name: 'locate', description: 'Where.', input: z.looseObject({}) }),
    defineTool({
      name: 'write',
      description: 'Writes.',
      input: z.object({ subject: z.string() }),
      needsApproval: true,
      run: ({ subject }) => `wrote ${subject}`,
    }),
  ],
})

describeInChromium('what waits for a person, on the page', (it) => {
  it('is a form for the schema, free of what axe finds', { timeoutMs: 60_000 }, async (context) => {
    const { server } = await serveInspector(context, [interviewer])
    const inspector = await openInspector(context, server.port)
    const { page } = inspector
    const asks = page.getByRole('article', { name: 'ask asks a question' })
    const gone = () => asks.waitFor({ state: 'detached' })
    await startAgent(inspector, 'interviewer', { id: 'i1', prompt: 'yes' })
    await inspector.sees('Which yes?', asks)
    await asks.getByRole('button', { name: 'Yes' }).click()
    await inspector.sees('It was: true')
    await gone()

    await inspector.say('colour')
    await inspector.sees('Which colour?', asks)
    assert.equal(await axeViolations(page), [])
    await asks.getByRole('button', { name: 'blue', exact: true }).click()
    await inspector.sees('It was: blue')
    await gone()

    await inspector.say('trip')
    await asks.getByLabel('to', { exact: true }).fill('Ulm')
    await asks.getByLabel('seats', { exact: true }).fill('two')
    await asks.getByRole('button', { name: 'Answer', exact: true }).click()
    await inspector.sees('One for each of you · a whole number, at most 9', asks)
    await inspector.sees('not a number', asks.locator('.answer-field', { hasText: 'seats' }))
    await asks.getByLabel('seats', { exact: true }).fill('10')
    await asks.getByRole('button', { name: 'Answer', exact: true }).click()
    await inspector.sees('at most 9', asks.getByRole('alert'))
    assert.equal(await asks.locator('[aria-invalid=true]').count(), 1)
    await asks.getByLabel('seats', { exact: true }).fill('2')
    await asks.getByLabel('to', { exact: true }).fill('Atlantis')
    await asks.getByRole('button', { name: 'Answer', exact: true }).click()
    // What only the server knows stands at its field too.
    await inspector.sees('there is no such place', asks.locator('.answer-field', { hasText: 'to' }).first())
    assert.is(await page.locator('.errors .error').count(), 0)
    assert.equal(await axeViolations(page), [])
    await asks.getByLabel('to', { exact: true }).fill('Ulm')
    await asks.getByRole('button', { name: 'Answer', exact: true }).click()
    await inspector.sees('It was: {"to":"Ulm","seats":2}')
    checkProblems(context)
  })

  it('keeps asking when the server refuses, and is let go of by a denial', { timeoutMs: 60_000 }, async (context) => {
    const { server, store } = await serveInspector(context, [interviewer])
    const inspector = await openInspector(context, server.port)
    const asks = inspector.page.getByRole('article', { name: 'ask asks a question' })
    await startAgent(inspector, 'interviewer', { id: 'i1', prompt: 'name' })
    await asks.getByRole('textbox').fill('me')
    await asks.getByRole('button', { name: 'Answer', exact: true }).click()
    await inspector.sees('at least 3 characters', asks)
    await asks.getByRole('button', { name: 'Decline' }).click()
    await inspector.sees(/It was: Nobody answers/)
    await asks.waitFor({ state: 'detached' })
    const answered = (await recordsOf(store, 'i1')).filter(({ type }) => type === 'question.answered')
    assert.is(answered.length, 1)
    checkProblems(context)
  })

  it('is a call to be carried out, or one whose arguments are edited', { timeoutMs: 60_000 }, async (context) => {
    const { server } = await serveInspector(context, [interviewer])
    const inspector = await openInspector(context, server.port)
    const { page } = inspector
    await startAgent(inspector, 'interviewer', { id: 'i1', prompt: 'place' })
    const call = page.getByRole('article', { name: 'locate waits for a client' })
    await call.getByRole('textbox').fill('in Ulm')
    await call.getByRole('button', { name: 'Answer', exact: true }).click()
    await inspector.sees('It was: in Ulm')
    await call.waitFor({ state: 'detached' })

    await inspector.say('write')
    const asks = page.getByRole('article', { name: 'write waits for approval' })
    await asks.getByRole('button', { name: 'Edit' }).click()
    await asks.getByLabel('Arguments of write').fill('{ "subject": ')
    await asks.getByRole('button', { name: 'Approve' }).click()
    await inspector.sees('The arguments are not valid JSON.', asks)
    await asks.getByLabel('Arguments of write').fill('{ "subject": "poems" }')
    assert.equal(await axeViolations(page), [])
    await asks.getByRole('button', { name: 'Approve' }).click()
    await inspector.sees(/wrote poems/)
    checkProblems(context)
  })
})
