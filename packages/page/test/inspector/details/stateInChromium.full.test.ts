import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

const schema = z.object({ title: z.string() })
const rename = defineTool({
  name: 'rename',
  description: 'Renames.',
  input: z.object({}),
  run: (_, { state }) => {
    state.of(schema).set({ title: 'Move house' })
    return 'renamed'
  },
})

describeInChromium('the state of an agent on the inspector page', (it) => {
  it(
    'is shown at the chosen message, with what changed since the one before',
    { timeoutMs: 60_000 },
    async (context) => {
      const definition = defineAgent({
        name: 'planner',
        model: policyModel(({ messages }) =>
          messages.at(-1)!.role === 'user' ? { toolCalls: [{ name: 'rename', input: {} }] } : 'Done.',
        ),
        tools: [rename],
        state: { schema, initial: { title: 'untitled' } },
      })
      const { runtime, server } = await serveInspector(context, [definition])
      const agent = await runtime.spawn(definition, { id: 'p' })
      await agent.prompt('go').result
      const inspector = await openInspector(context, server.port, { hash: '#agent=p&node=n2' })
      const part = inspector.page.getByRole('group', { name: 'State' })
      await inspector.sees('= /title "Move house"', part)
      assert.equal(await axeViolations(inspector.page), [])
      await inspector.goto('#agent=p&node=n1')
      await inspector.sees('As at the message before.', part)
      await inspector.sees('untitled', part)
      checkProblems(inspector)
    },
  )
})
