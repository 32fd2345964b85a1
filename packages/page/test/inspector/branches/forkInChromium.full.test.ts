import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until, type OpenInspector } from '../inspectorHarness.ts'

const cook = defineAgent({
  name: 'cook',
  model: policyModel(({ messages }) => {
    const words = messages.at(-1)?.content.flatMap((block) => (block.type === 'text' ? block.text : [])) ?? []
    return `I make ${words.join(' ')}, with salt.`
  }),
})

const baker = defineAgent({
  name: 'baker',
  model: policyModel(() => ({ toolCalls: [{ name: 'bake', input: {} }] })),
  tools: [
    defineTool({ name: 'bake', description: 'Bakes.', input: z.object({}), needsApproval: true, run: () => 'Baked.' }),
  ],
})

/** An agent that was told two things. */
async function serveCook(
  context: Parameters<typeof serveInspector>[0],
  options?: Parameters<typeof serveInspector>[2],
) {
  const serving = await serveInspector(context, [cook, baker], options)
  const agent = await serving.runtime.spawn(cook, { id: 'c1' })
  await agent.prompt('soup').result
  await agent.prompt('bread').result
  return { ...serving, agent }
}

const shownAgent = ({ page }: OpenInspector): Promise<string> =>
  page.evaluate(`new URLSearchParams(location.hash.slice(1)).get('agent')`)

describeInChromium('a person who forks an agent on the inspector page', (it) => {
  it(
    'forks it by the keyboard at a message, with a first prompt, and finds the way back',
    { timeoutMs: 40_000 },
    async (context) => {
      const { server, agent } = await serveCook(context)
      const inspector = await openInspector(context, server.port, { hash: '#agent=c1&node=2' })
      const { page } = inspector
      await inspector.isIn('idle')
      await page.keyboard.press('f')
      const dialog = page.getByRole('dialog', { name: 'Fork at n2' })
      await inspector.sees('The fork shares the first 2 messages (1 turn) up to n2', dialog)
      assert.equal(await axeViolations(page), [])
      await page.keyboard.type('cake')
      await page.keyboard.press('Control+Enter')
      await dialog.waitFor({ state: 'detached' })
      await inspector.sees('I make cake, with salt.')
      const fork = await shownAgent(inspector)
      assert.match(fork, /^cook-[0-9a-f]{16}$/)
      await inspector.sees(/fork of c1 at n2/)
      assert.is(await page.getByText('I make bread, with salt.').count(), 0)
      assert.is(agent.conversation.trunk().length, 4)
      await page.locator('.agent-line').getByRole('link', { name: 'c1' }).click()
      await until(page, `document.querySelector('#forks-title') !== null`)
      const forks = page.getByRole('region', { name: 'Forks' })
      await forks.getByRole('link', { name: fork, exact: true }).click()
      await inspector.sees('I make cake, with salt.')
      checkProblems(context)
    },
  )

  it(
    'forks it where it stands from the menu, and says what a server refuses',
    { timeoutMs: 40_000 },
    async (context) => {
      const { server, runtime } = await serveCook(context)
      const inspector = await openInspector(context, server.port, { hash: '#agent=c1' })
      const { page } = inspector
      await inspector.isIn('idle')
      await inspector.choose('Fork at the newest message, n4')
      const dialog = page.getByRole('dialog', { name: 'Fork at n4' })
      await dialog.getByRole('button', { name: 'Fork', exact: true }).click()
      await inspector.sees(/fork of c1 at n4/)
      // Nothing was said to it.
      await inspector.sees('I make bread, with salt.')
      const waiting = await runtime.spawn(baker, { id: 'b1' })
      void waiting.prompt('bread')
      await inspector.goto('#agent=b1&node=2')
      await inspector.isIn('paused')
      // Its call waits, and has no result that could be shared.
      await page.keyboard.press('f')
      await page.getByRole('dialog').getByRole('button', { name: 'Fork', exact: true }).click()
      await inspector.sees(/The step of n2 is not whole yet/, page.getByRole('alert'))
      checkProblems(context)
    },
  )

  it('finds forks that others make, as they are made, and how they are', { timeoutMs: 40_000 }, async (context) => {
    const serving = await serveCook(context)
    const inspector = await openInspector(context, serving.server.port, { hash: '#agent=c1' })
    await inspector.isIn('idle')
    const { page } = inspector
    assert.is(await page.locator('#forks-title').count(), 0)
    const other = serving.connect()
    const { agentId } = await other.agent('c1').fork('n2')
    await other.agent(agentId).prompt('cake').result
    const forks = page.getByRole('region', { name: 'Forks' })
    await forks.getByRole('link', { name: agentId, exact: true }).waitFor()
    await forks.getByText('idle').waitFor()
    assert.equal(await axeViolations(page), [])
    await forks.getByRole('link', { name: `Compare ${agentId} with this agent` }).click()
    await inspector.sees('2 rows different')
    checkProblems(context)
  })

  it('is told why, where only others may start agents', { timeoutMs: 30_000 }, async (context) => {
    const { server } = await serveCook(context, { tokens: { 'drive-token-0123456789': 'drive' } })
    const inspector = await openInspector(context, server.port, {
      hash: '#agent=c1&node=2&token=drive-token-0123456789',
    })
    await inspector.isIn('idle')
    const button = inspector.button('Fork here, at n2')
    assert.is(await button.getAttribute('aria-disabled'), 'true')
    await inspector.page.keyboard.press('f')
    assert.is(await inspector.page.getByRole('dialog').count(), 0)
    checkProblems(context)
  })
})
