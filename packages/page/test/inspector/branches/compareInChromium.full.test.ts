import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { forkSession } from '../../../../sessions/src/forkSession.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import { lastingStore } from '../../../../bridge/test/server/bridgeHarness.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until, type OpenInspector } from '../inspectorHarness.ts'
import { z } from 'zod'

const weigh = defineTool({
  name: 'weigh',
  description: 'Weighs.',
  input: z.object({ what: z.string() }),
  run: ({ what }) => `${what} weighs ${what.length} kg`,
})
/** Weighs what it is told of, and says so. */
const scale = defineAgent({
  name: 'scale',
  tools: [weigh],
  model: policyModel(({ messages }) => {
    const last = messages.at(-1)!
    const words = last.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(' ')
    return last.role === 'toolResult'
      ? `I have weighed it with great care, and ${words}.`
      : { text: 'I weigh it.', toolCalls: [{ name: 'weigh', input: { what: words } }] }
  }),
})

/** An agent that was told two things, and a fork that was told another instead of the second. */
async function serveScales(context: PageContext) {
  const store = lastingStore()
  const serving = await serveInspector(context, [scale], { runtime: { store } })
  const { runtime } = serving
  const agent = await runtime.spawn(scale, { id: 's1' })
  await agent.prompt('a pear').result
  await agent.prompt('an apple').result
  await forkSession(store, 's1', 'n4', { id: 's2' })
  await (await runtime.resume('s2', scale)).prompt('an elephant').result
  return { ...serving, store }
}

const hash = ({ page }: OpenInspector): Promise<string> => page.evaluate('location.hash')

describeInChromium('two agents side by side on the inspector page', (it) => {
  it('are a fork and its source, from where they part', { timeoutMs: 40_000 }, async (context) => {
    const { server } = await serveScales(context)
    const inspector = await openInspector(context, server.port, { hash: '#agent=s2' })
    const { page } = inspector
    await inspector.isIn('idle')
    await inspector.choose('Compare with its source')
    await inspector.sees('4 identical messages at the start')
    assert.is(await hash(inspector), '#agent=s2&with=s1')
    await inspector.sees('4 rows different')
    const row = page.locator('.compare-pair').first()
    assert.equal(await row.locator('del').allTextContents(), ['elephant'])
    assert.equal(await row.locator('ins').allTextContents(), ['apple'])
    const totals = await page.locator('.compare-totals tbody tr').allTextContents()
    assert.match(totals[0] ?? '', /A s2idle2 4 total/)
    assert.equal(await axeViolations(page), [])
    await page.getByRole('button', { name: /4 identical messages/ }).press('Enter')
    await inspector.sees('A = B')
    assert.is(await page.locator('.compare-pair.is-same').count(), 4)
    await inspector.button('Swap').click()
    await until(page, `location.hash === '#agent=s1&with=s2'`)
    await inspector.sees('4 rows different')
    await page.keyboard.press('Escape')
    await until(page, `document.querySelector('.compare') === null`)
    checkProblems(context)
  })

  it(
    'stand one above the other where there is no room, and go on while one works',
    { timeoutMs: 40_000 },
    async (context) => {
      const { server, runtime } = await serveScales(context)
      const inspector = await openInspector(context, server.port, {
        hash: '#agent=s1&with=s2',
        viewport: { width: 375, height: 700 },
      })
      const { page } = inspector
      await inspector.sees('4 rows different')
      const [a, b] = await Promise.all(
        [0, 1].map((at) => page.locator('.compare-pair').first().locator('.compare-side').nth(at).boundingBox()),
      )
      assert.ok(a !== null && b !== null && a!.y + a!.height <= b!.y + 1)
      assert.equal(await axeViolations(page), [])
      await runtime
        .agents()
        .find(({ id }) => id === 's2')!
        .prompt('a whale').result
      await inspector.sees('8 rows different')
      checkProblems(context)
    },
  )

  it('are chosen from a list, or by an id; one that is not there is said', { timeoutMs: 40_000 }, async (context) => {
    const { server, runtime } = await serveScales(context)
    await (await runtime.spawn(scale, { id: 'other' })).prompt('a pear').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=s1' })
    const { page } = inspector
    await inspector.isIn('idle')
    await page.keyboard.press('v')
    const dialog = page.getByRole('dialog', { name: 'Compare with' })
    await dialog.getByText('fork', { exact: true }).waitFor()
    assert.equal(await dialog.locator('.compare-choice .mono').allTextContents(), ['s2', 'other'])
    assert.equal(await axeViolations(page), [])
    await page.keyboard.type('other')
    await page.keyboard.press('Enter')
    await inspector.sees('4 identical messages at the start')
    await inspector.sees('4 rows different')
    // A view takes its place.
    await page.keyboard.press('3')
    await until(page, `location.hash === '#agent=s1&view=timeline'`)
    await page.keyboard.press('v')
    await dialog.waitFor()
    await page.keyboard.type('nobody')
    await page.keyboard.press('Enter')
    await inspector.sees('The other agent could not be loaded')
    await inspector.button('Stop comparing').click()
    await until(page, `document.querySelector('.bar-row') !== null`)
    checkProblems(context)
  })

  it('stay side by side when one is deleted, until it is asked for again', { timeoutMs: 60_000 }, async (context) => {
    const { server, runtime, store } = await serveScales(context)
    await runtime
      .agents()
      .find(({ id }) => id === 's2')!
      .close()
    const inspector = await openInspector(context, server.port, { hash: '#agent=s1&with=s2' })
    const { page } = inspector
    await inspector.sees('4 rows different')
    await store.delete('s2')
    await page.getByRole('button', { name: /4 identical messages/ }).click()
    await inspector.sees('A = B')
    await inspector.sees('4 rows different')
    // Swapped, the one that is gone is the one that is shown.
    await inspector.button('Swap').click()
    await inspector.sees('Agent not found')
    await inspector.goto('#agent=s1&with=s2')
    await inspector.sees('The other agent could not be loaded')
    assert.equal(await axeViolations(page), [])
    await inspector.button('Stop comparing').click()
    await until(page, `document.querySelector('.conversation-row') !== null`)
    checkProblems(context, /status of 404/)
  })

  it('may be long: only rows in sight are drawn', { timeoutMs: 60_000 }, async (context) => {
    const { server, runtime } = await serveScales(context)
    const agent = runtime.agents().find(({ id }) => id === 's1')!
    for (let n = 0; n < 150; n++) await agent.prompt(`thing ${n}`).result
    const inspector = await openInspector(context, server.port, { hash: '#agent=s1&with=s2' })
    const { page } = inspector
    await inspector.sees('604 rows different')
    assert.ok((await page.locator('.compare-pair').count()) < 60)
    await page.locator('#compared').press('End')
    await inspector.sees('thing 149 weighs 9 kg')
    checkProblems(context)
  })
})
