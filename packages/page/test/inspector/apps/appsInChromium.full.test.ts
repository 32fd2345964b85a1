import { defineAgent } from '../../../../define/src/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { mcpTools } from '../../../../../src/mcp.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { judges } from '../../../../../test/judges/judges.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { serveApp } from '../../../../mcp/test/appServer.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

describeInChromium('the app of a tool', (it) => {
  it(
    'is shown with its result, in a frame that shares nothing with the page',
    { timeoutMs: 60_000 },
    async (context) => {
      if (!judges.isThere()) throw new Error(judges.advice)
      const port = await serveApp(context)
      const charts = mcpTools({ name: 'charts', url: `http://127.0.0.1:${port}/mcp`, approve: 'none', apps: true })
      const offered: string[][] = []
      const agent = defineAgent({
        name: 'drawer',
        tools: [charts],
        model: policyModel(({ messages, tools }) => {
          offered.push(tools.map(({ name }) => name))
          return messages.at(-1)?.role === 'toolResult'
            ? 'Drawn.'
            : { toolCalls: [{ name: 'chart', input: { of: 'hours' } }] }
        }),
      })
      const { server, runtime } = await serveInspector(context, [agent])
      await (await runtime.spawn(agent, { id: 'a' })).prompt('Draw.').result
      assert.equal(offered[0], ['chart'])
      const inspector = await openInspector(context, server.port, { hash: '#agent=a&node=n3' })
      const { page } = inspector
      const output = page.locator('#details').getByRole('region', { name: 'Output' })
      const frame = output.frameLocator('iframe')
      const said = (id: string) => frame.locator(`#${id}`)
      await said('result').getByText('{"points":5}').waitFor()
      assert.is(await said('input').textContent(), '{"of":"hours"}')
      assert.match((await said('host').textContent())!, /^\{"name":"escapement"/)
      const tries: [string, RegExp][] = [
        ['call', /^no: .*The app may not call "chart": here only the agent calls tools/],
        ['say', /^true$/],
        ['link', /^false$/],
        ['store', /^no: .*(?:sandboxed|denied)/],
        ['page', /^no: .*cross-origin/],
        ['net', /^no: Failed to fetch/],
      ]
      for (const [id, answer] of tries) {
        // Not by the mouse: the frame grows with each answer, and the button would move under it.
        await frame.locator(`#try-${id}`).dispatchEvent('click')
        await said(id).filter({ hasText: /./ }).waitFor()
        assert.match((await said(id).textContent())!, answer, id)
      }
      await output.getByRole('link', { name: 'https://example.org/more' }).waitFor()
      assert.is(await output.locator('iframe').getAttribute('sandbox'), 'allow-scripts')
      assert.equal(await axeViolations(page), [])
      checkProblems(context, /Content Security Policy|127\.0\.0\.1:9|frame-ancestors/)
    },
  )
})
