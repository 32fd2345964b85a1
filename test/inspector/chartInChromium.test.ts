import { defineAgent } from '../../src/actors/defineAgent.ts'
import { policyModel } from '../../src/actors/models/policyModel.ts'
import { checkProblems, describeInChromium } from '../browser/chromium.ts'
import { assert } from '../support/suite.ts'
import { axeViolations } from './axe.ts'
import { openInspector, serveInspector } from './inspectorHarness.ts'

const coder = defineAgent({ name: 'coder', model: policyModel(() => 'Done.'), braking: { revert: true } })

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
      await inspector.button('Every state').click()
      await page.locator('.chart-box[data-state="draining.reverts"]').waitFor()
      await inspector.button('Overview').click()
      await page.locator('.chart-chip').first().waitFor()
      assert.equal(
        asked.filter((path) => /worker|elk/i.test(path)),
        [],
      )
      assert.is(asked.filter((path) => path.endsWith('chart.json?layout=full')).length, 1)
      checkProblems(inspector)
    },
  )

  it('says of a state and of an arrow that is chosen what it is', { timeoutMs: 60_000 }, async (context) => {
    const { server, runtime } = await serveInspector(context, [coder])
    await runtime.spawn(coder, { id: 'c1' })
    const inspector = await openInspector(context, server.port, { hash: '#agent=c1&view=chart' })
    const { page } = inspector
    await page.locator('.chart-box[data-state="draining"] > rect').click({ position: { x: 10, y: 10 } })
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
              .locator(look === 'Overview' ? '.chart-chip, .chart-name' : '.chart-box[data-state^="draining."]')
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
