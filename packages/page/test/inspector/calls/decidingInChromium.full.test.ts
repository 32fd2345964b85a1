import type { Page } from 'playwright-core'
import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import type { Serving } from '../../../../bridge/test/server/bridgeHarness.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { deploy } from '../deployTool.ts'
import { openInspector, recordsOf, serveInspector, until } from '../inspectorHarness.ts'

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

/** Waits for an approval and then, once it may, for an answer too. */
const asker = (may: Promise<void>) =>
  defineAgent({
    name: 'asker',
    model: policyModel(({ messages }) =>
      messages.at(-1)?.role === 'toolResult'
        ? 'It went so.'
        : {
            toolCalls: [
              { name: 'deploy', input: { to: 'north' } },
              { name: 'survey', input: {} },
            ],
          },
    ),
    tools: [
      deploy,
      defineTool({
        name: 'survey',
        description: 'Asks.',
        input: z.object({}),
        run: async (_, { ask }) => {
          await may
          return ask(z.string(), 'Who knows of it?')
        },
      }),
    ],
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

/** A key that is pressed where the focus is, at a time: that of a person, however slow the machine is. */
const keyDown = (page: Page, key: string, timeStamp: number): Promise<unknown> =>
  page.evaluate(`(() => {
    const event = new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true })
    Object.defineProperty(event, 'timeStamp', { value: ${timeStamp} })
    document.activeElement.dispatchEvent(event)
  })()`)

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
    await page.getByText('2 decisions waiting').waitFor()
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
      await page.getByText('3 decisions waiting').waitFor()
      assert.is(await page.getByRole('dialog').count(), 0)
      await page.keyboard.press('n')
      await page.getByText('2 decisions waiting').waitFor()
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
      const count = page.getByRole('button', { name: '3 decisions waiting' })
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

  for (const [size, viewport] of Object.entries({
    tall: { width: 1280, height: 900 },
    low: { width: 1280, height: 700 },
  }))
    it(
      `leave a call alone while a person writes about it and another comes, in a ${size} window`,
      { timeoutMs: 40_000, viewport },
      async (context) => {
        const { page } = context
        const more = Promise.withResolvers<void>()
        const serving = await serveInspector(context, [asker(more.promise)])
        void (await serving.runtime.spawn(asker(more.promise), { id: 'rel' })).prompt('Go').result.catch(() => {})
        await openInspector(context, serving.server.port, { hash: '#agent=rel' })
        await page.locator(keysAct).waitFor()
        const reason = page.getByLabel('Reason, for deploy')
        await reason.click()
        await page.keyboard.type('onl')
        more.resolve()
        await page.getByText('2 decisions waiting').waitFor()
        await page.keyboard.type('y on Sunday')
        assert.equal(await decidedIn(serving), [])
        assert.is(await reason.inputValue(), 'only on Sunday')
        checkProblems(context)
      },
    )

  it('are letters to who writes on, though the call has gone that it was about', tall, async (context) => {
    const { page } = context
    const serving = await waiting(context)
    await openInspector(context, serving.server.port, { hash: '#agent=rel' })
    await page.locator(keysAct).waitFor()
    await page.getByLabel('Reason, for deploy').focus()
    await keyDown(page, 'l', 10_000)
    const agent = serving.runtime.agent('rel')!
    const [first] = agent.pending()
    agent.decide(first!.key, 'deny')
    await page.getByText('2 decisions waiting').waitFor()
    await page.locator(keysAct).waitFor()
    for (const [index, key] of ['a', 't', 'e', 'l', 'y', ' ', 'n', 'o'].entries())
      await keyDown(page, key, 10_900 + index * 900)
    assert.is(await page.getByRole('dialog').count(), 0)
    assert.equal(await decidedIn(serving), ['deny north'])
    // After a pause it is a key again.
    await keyDown(page, 'y', 30_000)
    await page.getByText('2 decisions waiting').waitFor({ state: 'detached' })
    assert.equal(await decidedIn(serving), ['deny north', 'approve south'])
    checkProblems(context)
  })

  for (const { key, code, field } of [
    { key: '/', code: 'searchBar', field: '#search' },
    { key: 'f', code: 'smallDialogs', field: 'dialog textarea' },
  ])
    it(`are letters while the field that ${key} asks for is on its way`, tall, async (context) => {
      const { page } = context
      const serving = await waiting(context)
      const mayCome = Promise.withResolvers<void>()
      await page.route(`**/assets/${code}-*`, async (route) => {
        await mayCome.promise
        await route.continue()
      })
      await openInspector(context, serving.server.port, { hash: '#agent=rel' })
      await page.locator(keysAct).waitFor()
      await keyDown(page, key, 10_000)
      await keyDown(page, 'y', 10_500)
      await keyDown(page, 'n', 11_000)
      mayCome.resolve()
      await page.locator(field).waitFor()
      await until(page, `document.activeElement.matches('${field}')`)
      assert.equal(await decidedIn(serving), [])
      checkProblems(context)
    })

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

  it('wait with what is typed for them, wherever they are shown', { timeoutMs: 40_000 }, async (context) => {
    const serving = await waiting(context)
    const { page } = context
    await openInspector(context, serving.server.port)
    const more = page.getByRole('row', { name: /deploy north/ }).getByRole('button', { name: /^More/ })
    await more.click()
    const field = page.getByLabel('Reason, for deploy')
    await field.fill('not on a Friday')
    await page.getByRole('button', { name: /^Edit/ }).click()
    await page.getByLabel('Arguments of deploy').fill('{"to":"west"}')
    await page.evaluate("location.hash = '#agent=rel'")
    await page.locator('.pending-item').nth(2).waitFor()
    assert.is(await field.inputValue(), 'not on a Friday')
    await page.goBack()
    await more.click()
    assert.is(await page.getByLabel('Arguments of deploy').inputValue(), '{"to":"west"}')
    await page.locator('.home-card').getByRole('button', { name: 'Deny' }).click()
    await until(page, `document.querySelectorAll('.home-card').length === 0`)
    const decided = (await recordsOf(serving.store, 'rel')).find(({ type }) => type === 'approval.decided')
    assert.is(decided?.type === 'approval.decided' && decided.reason, 'not on a Friday')
    checkProblems(context)
  })
})
