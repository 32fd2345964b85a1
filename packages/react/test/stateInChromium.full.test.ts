import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { createRuntime, defineAgent, policyModel } from '../../../src/index.ts'
import { bundleForPage } from '../../../test/browser/bundleForPage.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../test/browser/chromium.ts'
import { assert } from '../../../test/support/suite.ts'

const planner = defineAgent({
  name: 'planner',
  model: policyModel(() => 'ok'),
  state: {
    schema: z.object({ title: z.string(), steps: z.record(z.string(), z.string()) }),
    initial: { title: 'untitled', steps: {} },
  },
})

/** Serves a page that edits the state of one agent; everything is closed after the case. */
async function servePlan({ cleanup }: PageContext) {
  const script = await bundleForPage(fileURLToPath(new URL('statePage.ts', import.meta.url)))
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const runtime = await createRuntime()
  await runtime.serve({ server, definitions: [planner] })
  const agent = await runtime.spawn(planner, { id: 'shared' })
  server.on('request', (request, response) => {
    const isScript = request.url === '/page.js'
    response
      .setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      .end(
        isScript
          ? script
          : '<!doctype html><link rel="icon" href="data:,"><body><script type="module" src="/page.js"></script>',
      )
  })
  cleanup(async () => {
    server.closeAllConnections()
    server.close()
    await runtime.close()
  })
  return { agent, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const stepsIn = async (page: Page): Promise<string[]> => (await page.locator('li').allInnerTexts()).toSorted()

describeInChromium('one state in two tabs', (it) => {
  it(
    'is the same in both once both have changed it, and a change for an older state is refused and shown',
    { timeoutMs: 60_000 },
    async (context) => {
      const { page: one } = context
      const { agent, url } = await servePlan(context)
      await one.goto(`${url}/?tab=one`)
      const two = await one.context().newPage()
      await two.goto(`${url}/?tab=two`)
      for (const page of [one, two]) await page.getByText('untitled').waitFor()

      await Promise.all([one, two].map((page) => page.getByText('Add steps').click()))
      for (const page of [one, two]) await page.locator('li').nth(39).waitFor()
      const expected = ['one', 'two']
        .flatMap((tab) => Array.from({ length: 20 }, (_, n) => `step ${n} of ${tab}`))
        .toSorted()
      for (const page of [one, two]) assert.equal(await stepsIn(page), expected)

      await one.getByText('Retitle').click()
      for (const page of [one, two]) await page.getByText('title of one').waitFor()
      await two.getByText('Retitle').click()
      await two.getByRole('alert').filter({ hasText: 'has changed since version 0' }).waitFor()
      for (const page of [one, two]) assert.is(await page.locator('h1').innerText(), 'title of one')
      assert.equal((agent.appState as { title: string }).title, 'title of one')

      await two.reload()
      await two.getByText('title of one').waitFor()
      await two.getByText('Retitle').click()
      for (const page of [one, two]) await page.getByText('title of two').waitFor()
      assert.equal(await stepsIn(two), expected)
      checkProblems(context)
    },
  )
})
