import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

/** Surveys, and gives the application more than its model reads. */
function surveyor() {
  const survey = defineTool({
    name: 'survey',
    description: 'Surveys.',
    input: z.object({ places: z.array(z.string()) }),
    output: z.object({ heights: z.array(z.number()) }),
    run: ({ places }, { give }) => {
      if (places.length > 1) give('x'.repeat(70_000), 'map')
      return { heights: places.map((place) => place.length) }
    },
    toModel: ({ heights }) => `Surveyed ${heights.length}.`,
  })
  return defineAgent({
    name: 'surveyor',
    model: policyModel(({ messages }) =>
      messages.at(-1)?.role === 'toolResult'
        ? 'Done.'
        : { toolCalls: [['mill'], ['mill', 'ford']].map((places) => ({ name: 'survey', input: { places } })) },
    ),
    tools: [survey],
  })
}

describeInChromium('the result of a call', (it) => {
  it('has the data for the application behind a tab', { timeoutMs: 40_000 }, async (context) => {
    const agent = surveyor()
    const { server, runtime } = await serveInspector(context, [agent])
    await (await runtime.spawn(agent, { id: 'a' })).prompt('Survey.').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=a&node=n3' })
    const { page } = inspector
    const output = page.locator('#details').getByRole('region', { name: 'Output' })
    await output.getByText('Surveyed 1.').waitFor()
    assert.is(await output.getByText('heights').count(), 0)
    await output.getByRole('tab', { name: 'Output' }).press('ArrowRight')
    await output.getByRole('tabpanel', { name: 'Data' }).getByText('heights').waitFor()
    assert.is(await output.getByText('Surveyed 1.').count(), 0)
    assert.equal(await axeViolations(page), [])
    // Another result shows what its model read first.
    await inspector.goto('#agent=a&node=n4')
    await output.getByText('Surveyed 2.').waitFor()
    await output.getByRole('tab', { name: 'Data' }).click()
    await output.getByText(/^\{"map":"xxx/).waitFor()
    await output.getByText(/70\.0 KB/).waitFor()
    // Those of a reply, each beside its call.
    await inspector.goto('#agent=a&node=n2')
    const first = page.getByRole('region', { name: 'Call of survey' }).first()
    await first.getByRole('tab', { name: 'Data' }).click()
    await first.getByText('heights').waitFor()
    checkProblems(context)
  })
})
