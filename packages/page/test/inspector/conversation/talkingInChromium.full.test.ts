import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

const refund = defineTool({
  name: 'refund',
  description: 'CANARY',
  input: z.object({ order: z.string() }),
  needsApproval: true,
  run: () => 'CANARY',
})
const shop = defineAgent({
  name: 'shop',
  instructions: 'CANARY',
  tools: [refund],
  model: policyModel(({ messages }) =>
    messages.at(-1)!.role === 'user'
      ? { text: 'I look into it.', thinking: 'CANARY', toolCalls: [{ name: 'refund', input: { order: 'CANARY' } }] }
      : 'It is paid.',
  ),
})

describeInChromium('the inspector page with a token that may only talk', (it) => {
  it('shows what was said, takes words, and has nothing to approve with', { timeoutMs: 60_000 }, async (context) => {
    const tokens = { 'token-of-a-customer-01': 'talk' } as const
    const { runtime, server } = await serveInspector(context, [shop], { tokens })
    const agent = await runtime.spawn(shop, { id: 's' })
    const inspector = await openInspector(context, server.port, { hash: '#agent=s&token=token-of-a-customer-01' })
    const { page } = inspector
    await inspector.sees('No messages yet')
    await inspector.say('It is broken.')
    await inspector.sees('I look into it.')
    await inspector.sees('refund')
    const approve = inspector.button(/^Approve/)
    await approve.waitFor()
    assert.is(await approve.getAttribute('aria-disabled'), 'true')
    await page.keyboard.press('y')
    await approve.click({ force: true })
    await inspector.sees(/right "approve"/)
    assert.is(agent.pending().length, 1)
    agent.decide(agent.pending()[0]!.key, 'approve')
    await inspector.sees('It is paid.')
    assert.not.match(await page.content(), 'CANARY')
    checkProblems(inspector)
  })
})
