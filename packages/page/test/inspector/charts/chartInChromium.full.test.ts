import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'

const coder = defineAgent({ name: 'coder', model: policyModel(() => 'Done.'), braking: { revert: true } })

const helper = defineAgent({ name: 'helper', model: policyModel(() => 'Found it.') })
const lead = defineAgent({
  name: 'lead',
  model: policyModel(({ messages }) =>
    messages.some(({ role }) => role === 'toolResult')
      ? 'Done.'
      : { toolCalls: [{ name: 'helper', input: { task: 'look for it' } }] },
  ),
  agents: [helper],
})

describeInChromium('the agents of a tree on the inspector page', (it) => {
  it('are seen calling each other, live and in the past', { timeoutMs: 60_000 }, async (context) => {
    const { server, runtime } = await serveInspector(context, [lead])
    const agent = await runtime.spawn(lead, { id: 'l1' })
    const inspector = await openInspector(context, server.port, { hash: '#agent=l1&view=chart' })
    const { page } = inspector
    await inspector.button('Agents').click()
    await inspector.sees('No messages yet')
    await agent.prompt('Where is it?').result
    const steps = page.locator('.actors-step a')
    // The name of the root comes with its title, which is heard of later.
    await page.locator('.actors-step a[aria-label="Where is it? answers people: done"]').waitFor()
    assert.equal(await Promise.all([0, 1, 2, 3].map((index) => steps.nth(index).getAttribute('aria-label'))), [
      'people says to Where is it?: Where is it?',
      'Where is it? calls look for it: helper look for it',
      'look for it answers Where is it?: Found it.',
      'Where is it? answers people: done',
    ])
    assert.equal(await axeViolations(page), [])
    await inspector.button('Read its log: l1.1').click()
    await page.locator('.actors-head', { hasText: 'helper' }).waitFor()
    const link = await page.locator('.actors-head a').first().boundingBox()
    assert.ok(link !== null && link.height >= 24 && link.width >= 24, JSON.stringify(link))
    // The moment of the call: what came later has not happened.
    await steps.nth(1).click()
    await steps.nth(2).waitFor({ state: 'detached' })
    assert.is(await steps.count(), 2)
    // The digits are the page's, also where the picture of the chart has the focus.
    await inspector.goto('#agent=l1&view=chart')
    await page.locator('.chart-stage').focus()
    await page.keyboard.press('1')
    await page.locator('.conversation-row').first().waitFor()
    checkProblems(inspector)
  })
})

describeInChromium('the chart on the inspector page', (it) => {
  it(
    'is the overview at once, and every state when asked, without laying anything out',
    { timeoutMs: 60_000 },
    async (context) => {
      const { server, runtime } = await serveInspector(context, [coder])
      await runtime.spawn(coder, { id: 'c1' })
      const asked: string[] = []
      context.page.on('request', (request) =>
        asked.push(new URL(request.url()).pathname + new URL(request.url()).search),
      )
      const inspector = await openInspector(context, server.port, { hash: '#agent=c1&view=chart' })
      const { page } = inspector
      await page.locator('.chart-box.is-itself[data-state="idle"]').waitFor()
      assert.is(await page.locator('.chart-arrow.is-ring').count(), 4)
      assert.is(await page.locator('.chart-chip.is-open').count(), 2)
      // Text changes its colour at once: what it stands on does, too.
      assert.is(
        await page.evaluate(`getComputedStyle(document.querySelector('.chart-box > rect')).transitionProperty`),
        'stroke',
      )
      await inspector.button('Every state').click()
      assert.match(inspector.page.url(), /&look=full$/)
      // It is seen as a whole at first, with the state closed that holds most.
      await page.locator('.chart-box[data-state="draining"]:not(.is-outer)').waitFor()
      assert.is(
        await page.evaluate(`(() => {
          const [stage, picture] = ['.chart-stage', '.chart-picture > g'].map((place) => document.querySelector(place).getBoundingClientRect())
          return picture.top >= stage.top && picture.bottom <= stage.bottom && picture.left >= stage.left && picture.right <= stage.right
        })()`),
        true,
      )
      const draining = page.getByRole('button', { name: /draining/ })
      assert.is(await draining.getAttribute('aria-expanded'), 'false')
      assert.equal(await axeViolations(page), [])
      await draining.press('Enter')
      await page.locator('.chart-box[data-state="draining.reverts"]').waitFor()
      assert.is(await draining.getAttribute('aria-expanded'), 'true')
      await until(page, `document.activeElement.ariaExpanded === 'true'`)
      await draining.press('Enter')
      await page.locator('.chart-box[data-state="draining.reverts"]').waitFor({ state: 'detached' })
      // By pointing at it, too.
      await page
        .locator('.chart-box[data-state="replying"].is-outer > rect')
        .dblclick({ position: { x: 8, y: 4 }, force: true })
      await page.locator('.chart-box[data-state="replying"]:not(.is-outer)').waitFor()
      await inspector.button('Overview').click()
      await page.locator('.chart-chip').first().waitFor()
      assert.equal(
        asked.filter((path) => /worker|elk/i.test(path)),
        [],
      )
      assert.equal(
        asked.filter((path) => path.includes('layout=full')).map((path) => path.split('?')[1]),
        ['draining', '', 'draining', 'draining,replying'].map((closed) => `layout=full&closed=${closed}`),
      )
      // How it is shown stays over a reload.
      await inspector.button('Every state').click()
      await page.reload()
      await page.locator('.chart-looks [aria-pressed="true"]', { hasText: 'Every state' }).waitFor()
      checkProblems(inspector)
    },
  )

  it('has the reason of a pause lit', { timeoutMs: 60_000 }, async (context) => {
    const limited = defineAgent({
      name: 'limited',
      model: policyModel(() => ({ toolCalls: [{ name: 'helper', input: { task: 'look for it' } }] })),
      agents: [helper],
      limits: { turns: 1 },
    })
    const { server, runtime } = await serveInspector(context, [limited])
    assert.is((await (await runtime.spawn(limited, { id: 'l1' })).prompt('Go').result).stopReason, 'paused')
    const inspector = await openInspector(context, server.port, { hash: '#agent=l1&view=chart' })
    await inspector.sees('limit reached', inspector.page.locator('.chart-box.is-itself .chart-reason'))
    await inspector.page.getByRole('img', { name: /Active: paused, limit reached\./ }).waitFor()
    assert.equal(await axeViolations(inspector.page), [])
    checkProblems(inspector)
  })

  it('says of a state and of an arrow that is chosen what it is', { timeoutMs: 60_000 }, async (context) => {
    const { server, runtime } = await serveInspector(context, [coder])
    await runtime.spawn(coder, { id: 'c1' })
    const inspector = await openInspector(context, server.port, { hash: '#agent=c1&view=chart' })
    const { page } = inspector
    await page.locator('.chart-box[data-state="draining"] > rect').click({ position: { x: 4, y: 20 } })
    await inspector.sees('the only place where the conversation may be reshaped', page.locator('.chart-card'))
    await inspector.sees('brake shut: never taken', page.locator('.chart-card'))
    await page.keyboard.press('Escape')
    await page.locator('.chart-label.is-ring', { hasText: 'reply with calls' }).click()
    await inspector.sees('repliedWithCalls', page.locator('.chart-card'))
    assert.equal(await axeViolations(page), [])
    await page.keyboard.press('Escape')
    await page.locator('.chart-card').waitFor({ state: 'detached' })
    checkProblems(inspector)
  })

  for (const colorScheme of ['light', 'dark'] as const)
    it(
      `has from afar only names that can be read, and is clean for helps to read it, ${colorScheme}`,
      { timeoutMs: 60_000 },
      async (context) => {
        const { server, runtime } = await serveInspector(context, [coder])
        await runtime.spawn(coder, { id: 'c1' })
        for (const width of [375, 1024, 1440]) {
          const inspector = await openInspector(context, server.port, {
            hash: '#agent=c1&view=chart',
            colorScheme,
            viewport: { width, height: 812 },
          })
          const { page } = inspector
          for (const look of ['Overview', 'Every state']) {
            await inspector.button(look).click()
            await page
              .locator(look === 'Overview' ? '.chart-chip, .chart-name' : '.chart-box[data-state^="replying."]')
              .first()
              .waitFor({ state: 'attached' })
            const small = await page.evaluate(`(() => {
            const scale = Number(/scale\\(([\\d.]+)/.exec(document.querySelector('.chart-picture > g').getAttribute('transform'))[1])
            if (scale >= 0.6) return []
            return [...document.querySelectorAll('.chart-picture text')]
              .filter((text) => parseFloat(getComputedStyle(text).fontSize) * scale < 12)
              .map((text) => text.textContent)
          })()`)
            assert.equal(small, [], `${look} at ${width}`)
            assert.equal(await axeViolations(page), [], `${look} at ${width}`)
          }
          checkProblems(inspector)
        }
      },
    )
})
