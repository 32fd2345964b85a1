import { z } from 'zod'
import { codeTool } from '../../../../../src/code.ts'
import { defineAgent } from '../../../../define/src/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, recordsOf, serveInspector } from '../inspectorHarness.ts'

const List = z.object({ done: z.array(z.string()) })

const publish = defineTool({
  name: 'publish',
  description: 'Publishes.',
  input: z.object({ name: z.string() }),
  subject: ({ name }) => ({ text: name }),
  run: ({ name }, { state }) => {
    state.of(List).update((list) => void list.done.push(name))
    return `${name} is out`
  },
})

const code = `for (const name of ['clock', 'spring']) await tools.publish({ name })
return 'both are out'`

const clerk = defineAgent({
  name: 'clerk',
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult' ? 'All is out.' : { toolCalls: [{ name: 'run_code', input: { code } }] },
  ),
  tools: [codeTool([publish], { only: true })],
  permissions: { ask: ['publish'] },
  state: { schema: List, initial: { done: [] } },
})

describeInChromium('a script whose calls wait for a person', (it) => {
  const tall = { timeoutMs: 60_000, viewport: { width: 1440, height: 900 } }

  it(
    'is allowed the rest by a rule, which stands with its record; schedules fire by a button',
    tall,
    async (context) => {
      const serving = await serveInspector(context, [clerk])
      const agent = await serving.runtime.spawn(clerk, { id: 'rel' })
      agent.schedule({ id: 'weekly', every: 604_800_000, prompt: 'Once more.' })
      const inspector = await openInspector(context, serving.server.port, { hash: '#agent=rel' })
      const { page } = inspector
      await inspector.say('Publish.')
      const card = page.getByRole('article', { name: 'publish waits for approval' })
      await card.waitFor()
      await inspector.sees('clock', card)
      await card.getByRole('combobox', { name: 'Rule to add, for publish' }).selectOption('publish')
      await card.getByRole('button', { name: 'For this session' }).click()
      await inspector.sees('All is out.')
      const records = await recordsOf(serving.store, 'rel')
      assert.is(records.filter(({ type }) => type === 'approval.requested').length, 1)
      assert.equal(
        records.flatMap((one) => (one.type === 'inner.start' ? [one.rule] : [])),
        ['publish', 'publish'],
      )
      assert.equal(agent.appState, { done: ['clock', 'spring'] })

      await page.getByText('run_code').first().click()
      await inspector.sees('publish')
      await inspector.goto('#agent=rel&view=context')
      const rules = page.getByRole('list', { name: 'Rules that people added' })
      await inspector.sees('this session', rules)
      await page.getByRole('button', { name: 'Revoke publish' }).click()
      await rules.waitFor({ state: 'detached' })
      await page.getByRole('combobox', { name: 'Mode' }).selectOption('plan')
      await inspector.goto('#agent=rel')
      await page.getByRole('button', { name: 'Fire weekly now' }).click()
      await inspector.sees('Once more.')
      checkProblems(context)
    },
  )
})
