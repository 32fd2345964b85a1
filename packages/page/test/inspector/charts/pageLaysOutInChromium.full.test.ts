import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

const coder = defineAgent({ name: 'coder', model: policyModel(() => 'Done.'), braking: { revert: true } })

/** Everything that is drawn, with its place. */
const drawn = `document.querySelector('.chart-picture > g').innerHTML`

describeInChromium('the chart of a page whose server has no layout', (it) => {
  it('is laid out by its own worker, to the byte as a server does it', { timeoutMs: 60_000 }, async (context) => {
    const { server, runtime } = await serveInspector(context, [coder])
    await runtime.spawn(coder, { id: 'c1' })
    const pictureOf = async (
      hasLayout: boolean,
    ): Promise<{ readonly svg: unknown; readonly loaded: readonly string[] }> => {
      const opened = await context.open()
      const loaded: string[] = []
      opened.page.on('response', (response) => {
        const { pathname } = new URL(response.url())
        if (/worker/i.test(pathname)) loaded.push(`${response.status()} ${pathname}`)
      })
      if (!hasLayout)
        await opened.page.route(/chart\.json\?layout=full/, async (route) => {
          const response = await route.fetch()
          const { full: _, ...rest } = (await response.json()) as Record<string, unknown>
          await route.fulfill({ response, json: rest })
        })
      const inspector = await openInspector({ ...context, ...opened }, server.port, {
        hash: '#agent=c1&view=chart&look=full',
      })
      await inspector.page.getByRole('button', { name: /draining/ }).click()
      await inspector.page.locator('.chart-box[data-state="draining.reverts"]').waitFor()
      checkProblems(inspector)
      return { svg: await inspector.page.evaluate(drawn), loaded }
    }
    const [ofServer, own] = [await pictureOf(true), await pictureOf(false)]
    assert.equal([ofServer.loaded, own.loaded], [[], ['200 /assets/layoutWorker.js']])
    assert.is(own.svg, ofServer.svg)
  })
})
