import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import { wantsAll } from '../../../../../test/support/seeds.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until, type OpenInspector } from '../inspectorHarness.ts'

const dig = defineTool({
  name: 'dig',
  description: 'Digs.',
  input: z.object({ depth: z.number() }),
  run: ({ depth }) => `Nothing ${depth} metres down.`,
})
const blast = defineTool({
  name: 'blast',
  description: 'Blasts.',
  input: z.object({ charge: z.string() }),
  needsApproval: true,
  run: () => 'It went off.',
})
/** Digs, gives the hole up, and asks to blast. */
const miner = defineAgent({
  name: 'miner',
  model: policyModel(({ messages }) => {
    const texts = messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'text' ? block.text : [])),
    )
    if (texts.some((text) => text.includes('It went off.'))) return 'There is gold.'
    if (texts.some((text) => text.includes('<brake-note')))
      return { text: 'Digging is of no use here.', toolCalls: [{ name: 'blast', input: { charge: 'large' } }] }
    if (!texts.some((text) => text.includes('Nothing 9')))
      return { text: 'I dig.', thinking: 'How deep?', toolCalls: [{ name: 'dig', input: { depth: 9 } }] }
    const input = { category: 'failure', step: 'n1', summary: 'There is nothing to be found by digging.' }
    return { text: 'I start over.', toolCalls: [{ name: 'revert_to_state', input }] }
  }),
  tools: [dig, blast],
  braking: { revert: true },
  captureTurnRequests: true,
})

/** An agent with a branch given up that waits for an approval, and one at rest. */
async function serveMine(context: PageContext) {
  const serving = await serveInspector(context, [miner])
  const old = await serving.runtime.spawn(miner, { id: 'old' })
  void old.prompt('Find gold.')
  const asked = Promise.withResolvers<void>()
  old.subscribe(({ type }) => {
    if (type === 'approval.requested') asked.resolve()
  })
  await asked.promise
  return serving
}

const views = ['Conversation', 'Chart', 'Timeline', 'Requests'] as const
const landmarks = {
  Conversation: '.conversation-row',
  Chart: '.chart-box',
  Timeline: '.bar-row',
  Requests: '.request-message',
}

/** Everything of it is seen, and nothing is wider than the page. */
async function checkWidth({ page }: OpenInspector, what: string): Promise<void> {
  const wide = await page.evaluate(`[...document.querySelectorAll('body, body > *, .page > *, .panel')]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 || document.documentElement.scrollWidth > innerWidth)
    .map((element) => element.className || element.tagName)`)
  assert.equal(wide, [], `${what} is wider than the page`)
}

const checkAxe = async ({ page }: OpenInspector, what: string): Promise<void> => {
  // Colours on their way to others have contrasts of their own.
  await until(page, `document.getAnimations().every(({ playState }) => playState !== 'running')`)
  assert.equal(await axeViolations(page), [], what)
}

/** Moves by the keyboard until what has the focus has such a name. */
async function tabTo({ page }: OpenInspector, selector: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)})`)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${selector} is not reached by Tab`)
}

describeInChromium('how the inspector page looks', (it) => {
  for (const width of [375, 1440])
    for (const colorScheme of ['light', 'dark'] as const) {
      const look = { viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce' } as const
      it(
        `fits ${width} px in ${colorScheme}, and axe finds nothing`,
        { timeoutMs: 60_000, ...look },
        async (context) => {
          const { server } = await serveMine(context)
          const inspector = await openInspector(context, server.port, { hash: '#agent=old' })
          const { page, tab } = inspector
          const isNarrow = width < 700
          // Rules look at what is there and at its colours: each view in either scheme is enough for every day.
          const isJudged = wantsAll || isNarrow === (colorScheme === 'dark')
          const check = async (what: string): Promise<void> => {
            await checkWidth(inspector, what)
            if (isJudged) await checkAxe(inspector, what)
          }
          for (const view of views) {
            await tab(view).click()
            await page.locator(landmarks[view]).first().waitFor()
            await check(view)
          }
          await tab('Conversation').click()
          await page
            .locator('.conversation-row')
            .first()
            .click({ position: { x: 90, y: 12 } })
          if (isNarrow) await tab('Details').click()
          await page.getByRole('heading', { name: /n1 User message/ }).waitFor()
          await check('Details')
          if (isNarrow) {
            await tab('Agents').click()
            await page.getByRole('treeitem', { name: /old/ }).waitFor()
            await check('Agents')
          }
          await inspector.button('Start an agent').first().click()
          await page.getByRole('dialog').waitFor()
          await check('a dialog')
          checkProblems(inspector)
        },
      )
    }

  const still = { timeoutMs: 60_000, reducedMotion: 'reduce' } as const
  it('is empty, closed and broken without a fault of axe, too', still, async (context) => {
    const { server } = await serveInspector(context, [miner], { tokens: { 'a-token-of-somebody': 'admin' } })
    const inspector = await openInspector(context, server.port)
    const check = async (what: string): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await inspector.page.emulateMedia({ colorScheme })
        await checkAxe(inspector, `${what} in ${colorScheme}`)
      }
    }
    await inspector.sees('This server requires a token')
    await check('the gate')
    await inspector.goto('#token=a-token-of-somebody')
    await inspector.sees('No agent yet')
    await check('no agent')
    await inspector.goto('#agent=nobody')
    await inspector.sees('Agent not found')
    await check('no such agent')
  })
})

describeInChromium('the keyboard on the inspector page', (it) => {
  it('is enough from the load to a prompt', { timeoutMs: 60_000 }, async (context) => {
    const { server } = await serveMine(context)
    const inspector = await openInspector(context, server.port)
    const { page } = inspector
    const { keyboard } = page
    await page.locator('.conversation-row').first().waitFor()

    // The tree of messages: to the first one, and in.
    await tabTo(inspector, '[role="tree"].conversation-scroll')
    await keyboard.press('Home')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: /n1 User message/ }).waitFor()
    assert.match(page.url(), 'node=n1')
    await keyboard.press('Escape')
    await until(page, `!location.hash.includes('node')`)

    // Tabs by arrow keys, and by their numbers.
    await keyboard.press('2')
    await page.locator('.chart-box').first().waitFor()
    await page.locator('[role="tab"][data-tab="chart"]').focus()
    await keyboard.press('ArrowRight')
    await page.locator('.bar-row').first().waitFor()
    await until(page, `document.activeElement.dataset.tab === 'timeline'`)
    await tabTo(inspector, '.bars')
    await keyboard.press('Home')
    await page.locator('.bars').getByRole('treeitem', { selected: true }).filter({ hasText: 'Find gold.' }).waitFor()

    // Dialogs: opened, closed by Escape, and the focus is where it was.
    await keyboard.press('?')
    await page.getByRole('dialog', { name: 'Help' }).waitFor()
    await keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await until(page, `document.activeElement.matches('.bars')`)

    // The call that waits is answered, and the agent is spoken to.
    await tabTo(inspector, '.approval-answer .button.primary')
    await keyboard.press('Enter')
    await page.locator('.approval').waitFor({ state: 'detached' })
    // The same key would have denied it.
    await keyboard.press('n')
    await page.getByRole('dialog', { name: 'Start an agent' }).waitFor()
    await keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await keyboard.press('1')
    await keyboard.press('p')
    await until(page, `document.activeElement.id === 'prompt'`)
    await keyboard.type('Look elsewhere.')
    await keyboard.press('Enter')
    await page.locator('.conversation-row').filter({ hasText: 'Look elsewhere.' }).waitFor()
    checkProblems(context)
  })
})
