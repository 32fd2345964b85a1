import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { defineTool, type ToolContext } from '../../src/actors/tools/defineTool.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { calls, quiet } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

class Shop {
  readonly seen: string[] = []
}

/** A tool that tells the shop who called it. */
const tell = defineTool({
  name: 'tell',
  description: 'Tells the shop.',
  input: z.object({ who: z.string() }),
  run: ({ who }, { deps }: ToolContext<Shop>) => {
    deps.seen.push(who)
    return 'told'
  },
})

describe('what the application gives to a run', (it) => {
  it('reaches whom the conversation is handed to, and an agent that reports', async (context) => {
    const teller = (name: string) =>
      defineAgent({ name, model: scriptedModel([calls(name, ['tell', { who: name }]), 'done', 'done']), tools: [tell] })
    const [billing, helper] = [teller('billing'), teller('helper')]
    const triage = defineAgent({
      name: 'triage',
      model: scriptedModel([calls('t', ['helper', { task: 'x' }], 'transfer_to_billing')]),
      tools: [tell],
      agents: [{ definition: helper, detach: 'report' }],
      handoffs: [billing],
    })
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(triage)
    const shop = new Shop()
    await agent.prompt('go', { deps: shop }).result
    while (shop.seen.length < 2 || agent.state !== 'idle') await quiet()
    assert.equal(
      shop.seen.toSorted((a, b) => a.localeCompare(b)),
      ['billing', 'helper'],
    )
  })
})
