import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { bundleForPage } from '../../../test/browser/bundleForPage.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../test/browser/chromium.ts'
import { judges } from '../../../test/judges/judges.ts'
import { assert } from '../../../test/support/suite.ts'
import { appHtml } from '../../mcp/test/appServer.ts'

/** Serves a page with an app; it is closed after the case. */
async function serveAppPage({ cleanup }: PageContext): Promise<string> {
  const script = await bundleForPage(fileURLToPath(new URL('appPage.ts', import.meta.url)))
  const mcpApp = {
    server: 'charts',
    uri: 'ui://chart/app.html',
    tool: 'chart',
    html: await appHtml(),
    result: { content: [], structuredContent: { points: 5 } },
  }
  const files: { readonly [path: string]: readonly [type: string, body: string] } = {
    '/page.js': ['text/javascript', script],
    '/data.json': ['application/json', JSON.stringify({ mcpApp })],
  }
  const html = '<!doctype html><link rel="icon" href="data:,"><body><script type="module" src="/page.js"></script>'
  const server = createServer(({ url = '' }, response) => {
    const [type, body] = files[url] ?? ['text/html', html]
    response.setHeader('content-type', type).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describeInChromium('the app of a tool in React', (it) => {
  it('does what the application has a function for, and nothing else', { timeoutMs: 60_000 }, async (context) => {
    if (!judges.isThere()) throw new Error(judges.advice)
    const { page } = context
    await page.goto(await serveAppPage(context))
    const frame = page.frameLocator('iframe[title="The chart"]')
    const said = (id: string) => frame.locator(`#${id}`)
    await said('result').getByText('{"points":5}').waitFor()
    assert.is(await page.locator('iframe').count(), 1)
    assert.is(await said('input').textContent(), '{"of":"hours"}')
    await frame.locator('#try-call').click()
    await said('call').getByText('"points":7').waitFor()
    await page.getByText('It called chart with {"of":"again"}').waitFor()
    await frame.locator('#try-say').click()
    await page.getByText('It says Hello').waitFor()
    for (const [id, answer] of [
      ['link', /^(?:true|no: )/],
      ['store', /^no: .*(?:sandboxed|denied)/],
      ['page', /^no: .*cross-origin/],
      ['net', /^no: Failed to fetch/],
    ] as const) {
      await frame.locator(`#try-${id}`).click()
      await said(id).filter({ hasText: /./ }).waitFor()
      assert.match((await said(id).textContent())!, answer, id)
    }
    // The app stays the same while the page around it changes.
    assert.is(await said('result').textContent(), '{"points":5}')
    checkProblems(context, /Content Security Policy|127\.0\.0\.1:9/)
  })
})
