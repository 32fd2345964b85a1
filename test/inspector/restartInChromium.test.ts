import { assert } from '../support/suite.ts'
import { checkProblems, describeInChromium } from '../browser/chromium.ts'
import { startServerProcess } from '../bridge/resume/serverProcess.ts'
import { openInspector, textIn, until } from './inspectorHarness.ts'
import { servedPage } from './servedPage.ts'

describeInChromium('the inspector page over a server that is killed', (it) => {
  it('says so, goes on without a reload, and has the whole log', { timeoutMs: 60_000 }, async (context) => {
    await servedPage()
    const server = await startServerProcess(context)
    const port = Number(URL.parse(server.url)!.port)
    const inspector = await openInspector(context, port)
    const { page } = inspector
    await page.evaluate('globalThis.isTheSame = true')
  })
})
