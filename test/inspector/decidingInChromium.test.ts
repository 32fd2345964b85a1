import { defineAgent } from '../../src/actors/defineAgent.ts'
import { policyModel } from '../../src/actors/models/policyModel.ts'
import { checkProblems, describeInChromium, type PageContext } from '../browser/chromium.ts'
import type { Serving } from '../server/bridge/bridgeHarness.ts'
import { assert } from '../support/suite.ts'
import { deploy } from './deployTool.ts'
import { openInspector, recordsOf, serveInspector, until } from './inspectorHarness.ts'

const places = ['north', 'south', 'east']
const releaser = defineAgent({
  name: 'releaser',
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult'
      ? 'It went so.'
      : { toolCalls: places.map((to) => ({ name: 'deploy', input: { to } })) },
  ),
  tools: [deploy],
})

/** A server with an agent that waits for three approvals. */
async function waiting(context: PageContext): Promise<Serving> {
  const serving = await serveInspector(context, [releaser])
  for (const id of ['rel', 'other']) {
    const agent = await serving.runtime.spawn(releaser, { id })
    if (id === 'other') continue
    const asked = Promise.withResolvers<void>()
    let count = 0
    agent.subscribe(({ type }) => type === 'approval.requested' && (count += 1) === places.length && asked.resolve())
    void agent.prompt('Go').result.catch(() => {})
    await asked.promise
  }
  return serving
}

/** Where it was decided about, in order. */
async function decidedIn({ store }: Serving): Promise<readonly string[]> {
  const records = await recordsOf(store, 'rel')
  const asked = new Map(
    records.flatMap((one) =>
      one.type === 'approval.requested' ? [[one.key, (one.input as { to: string }).to] as const] : [],
    ),
  )
  return records.flatMap((one) => (one.type === 'approval.decided' ? [`${one.decision} ${asked.get(one.key)}`] : []))
}

const keysAct = '.approvals[aria-keyshortcuts="y n"]'

describeInChromium('the keys that decide', (it) => {
  const tall = { timeoutMs: 40_000, viewport: { width: 1280, height: 900 } }

  it('decide the call that stands open, and the one where the focus is', tall, async (context) => {
    const serving = await waiting(context)
    const { page } = await openInspector(context, serving.server.port, { hash: '#agent=rel' })
    await page.locator(keysAct).waitFor()
    await page.locator('.pending-item .pending-fold', { hasText: 'east' }).click()
    // Away from its line: what stands open counts.
    await page.evaluate('document.activeElement.blur()')
    await page.locator(keysAct).waitFor()
    await page.keyboard.press('y')
    await page.getByText('2 wait for you').waitFor()
    assert.equal(await decidedIn(serving), ['approve east'])
    await page.getByRole('button', { name: /Deny: .*south/ }).focus()
    await page.locator(keysAct).waitFor()
    await page.keyboard.press('n')
    await page.locator('.pending-sum').waitFor({ state: 'detached' })
    assert.equal(await decidedIn(serving), ['approve east', 'deny south'])
    checkProblems(context)
  })

  it(
    'decide nothing where a narrow page shows something else',
    { timeoutMs: 40_000, viewport: { width: 375, height: 900 } },
    async (context) => {
      const serving = await waiting(context)
      const { page } = await openInspector(context, serving.server.port, { hash: '#agent=rel' })
      await page.locator(keysAct).waitFor()
      await page.getByRole('tab', { name: 'Agents' }).click()
      await page.locator('#agents').waitFor()
      assert.is(await page.locator('.approvals').isVisible(), false)
      await page.keyboard.press('y')
      await page.keyboard.press('n')
      await page.getByRole('tab', { name: 'Agent', exact: true }).click()
      await page.getByText('3 wait for you').waitFor()
      assert.is(await page.getByRole('dialog').count(), 0)
      await page.keyboard.press('n')
      await page.getByText('2 wait for you').waitFor()
      assert.equal(await decidedIn(serving), ['deny north'])
      checkProblems(context)
    },
  )

  it(
    'decide nothing of what is folded into its count, as beside a chart with little room',
    { timeoutMs: 40_000, viewport: { width: 1024, height: 700 } },
    async (context) => {
      const serving = await waiting(context)
      const { page } = await openInspector(context, serving.server.port, { hash: '#agent=rel&view=chart' })
      const count = page.getByRole('button', { name: '3 wait for you' })
      await count.waitFor()
      assert.is(await page.locator('.pending-item').count(), 0)
      await count.click()
      await page.locator('.pending-item').nth(2).waitFor()
      await page.locator(keysAct).waitFor()
      // Folded again, they have stood long enough and are not seen.
      await count.click()
      await page.locator('.pending-item').first().waitFor({ state: 'detached' })
      await page.keyboard.press('y')
      await count.click()
      await page.locator('.pending-item').nth(2).waitFor()
      await page.locator(keysAct).waitFor()
      await page.keyboard.press('n')
      await page.locator('.pending-item').nth(2).waitFor({ state: 'detached' })
      assert.equal(await decidedIn(serving), ['deny north'])
      // Each view as suits it.
      await page.getByRole('tab', { name: 'Conversation' }).click()
      await page.locator('.pending-item').nth(1).waitFor()
      checkProblems(context)
    },
  )

  it('decide one row of the overview, however fast they are pressed again', { timeoutMs: 40_000 }, async (context) => {
    const serving = await waiting(context)
    const { page } = context
    await page.clock.install()
    await openInspector(context, serving.server.port)
    await page.getByRole('row', { name: /deploy north/ }).waitFor()
    await page.keyboard.press('0')
    await page.locator('#overview[aria-keyshortcuts="y n"]').waitFor()
    const isDecided = Promise.withResolvers<void>()
    serving.runtime.agent('rel')!.subscribe(({ type }) => type === 'approval.decided' && isDecided.resolve())
    // On a machine that is busy, presses may lie further apart than a person's.
    await page.clock.pauseAt(Date.now() + 60_000)
    for (let count = 0; count < 4; count += 1) await page.keyboard.press('y')
    await page.clock.resume()
    await isDecided.promise
    await until(page, `document.querySelectorAll('.home-row .home-acts .primary').length === 2`)
    assert.is((await decidedIn(serving)).length, 1)
    // A person who moves to a row has seen it.
    await page.locator('#overview[aria-keyshortcuts="y n"]').waitFor()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('n')
    await until(page, `document.querySelectorAll('.home-row .home-acts .primary').length === 1`)
    assert.is((await decidedIn(serving)).length, 2)
    checkProblems(context)
  })
})
