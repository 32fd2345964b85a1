import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'

const keeper = defineAgent({ name: 'keeper', model: policyModel(() => 'The <b>kingfisher</b> waits by the weir.') })

describeInChromium('what was said, on the overview', (it) => {
  it(
    'is looked for where somebody asks for it, and leads into the agent',
    { reducedMotion: 'reduce' },
    async (context) => {
      const { page } = context
      const serving = await serveInspector(context, [keeper])
      for (const id of ['north', 'south']) {
        const agent = await serving.runtime.spawn(keeper, { id })
        await agent.prompt(`Watch the ${id}`).result
      }
      await openInspector(context, serving.server.port)
      const filter = page.getByRole('searchbox', { name: /^Filter by title/ })
      await filter.fill('weir kingfisher')
      await page.getByRole('button', { name: 'Search all conversations for “weir kingfisher”' }).click()
      const found = page.getByRole('region', { name: 'Messages with “weir kingfisher”' })
      await found.getByText('2 records of 2 sessions').waitFor()
      const hit = found.getByRole('link', { name: /^Watch the north/ })
      // Text, whatever it looks like.
      await hit.getByText('<b>kingfisher</b> waits by the weir').waitFor()
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        assert.equal(await axeViolations(page), [], colorScheme)
      }
      await page.setViewportSize({ width: 390, height: 800 })
      await until(page, 'document.documentElement.scrollWidth === 390')
      await page.setViewportSize({ width: 1280, height: 800 })
      await hit.click()
      await page.getByRole('main', { name: 'Agent north' }).waitFor()
      // The words lie apart: the first of them is looked for there.
      assert.is(await page.getByRole('searchbox', { name: 'Search this agent' }).inputValue(), 'weir')
      await page.getByText('1 match', { exact: true }).waitFor()
      await page.goBack()
      await filter.fill('heron')
      await page.getByRole('button', { name: 'Search all conversations for “heron”' }).click()
      await page.getByText('No messages with “heron”.').waitFor()
    },
  )
})
