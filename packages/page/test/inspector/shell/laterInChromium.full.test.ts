import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'I was asked.') })

describeInChromium('views whose code comes later', (it) => {
  it('are loaded when they are first shown, and once', { timeoutMs: 60_000 }, async (context) => {
    const { server, runtime } = await serveInspector(context, [echo])
    await runtime.spawn(echo, { id: 'a1' })
    const asked: string[] = []
    context.page.on('request', (request) => void asked.push(new URL(request.url()).pathname))
    const inspector = await openInspector(context, server.port, { hash: '#agent=a1' })
    await inspector.prompt.waitFor()
    const isChart = (path: string): boolean => /chartPane/.test(path)
    assert.not.ok(asked.some(isChart))
    for (let round = 0; round < 2; round += 1) {
      await inspector.tab('Chart').click()
      await inspector.page.locator('.chart').waitFor()
      await inspector.tab('Conversation').click()
      await inspector.page.locator('.chart').waitFor({ state: 'detached' })
    }
    assert.is(asked.filter(isChart).length, 1)
    checkProblems(inspector)
  })

  it('say so where their code cannot be loaded, and the others stay', { timeoutMs: 60_000 }, async (context) => {
    const { server, runtime } = await serveInspector(context, [echo])
    const agent = await runtime.spawn(echo, { id: 'a1' })
    await agent.prompt('Say it.').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=a1' })
    await inspector.page.route('**/assets/requestPane-*', (route) => route.abort())
    await inspector.tab('Requests').click()
    await inspector.sees('Could not load this view')
    await inspector.tab('Conversation').click()
    await inspector.sees('I was asked.')
  })

  it(
    'leave what there is beside them: an agent without its details, and a list of agents without one',
    {},
    async (context) => {
      const { server, runtime } = await serveInspector(context, [echo])
      const agent = await runtime.spawn(echo, { id: 'a1' })
      await agent.prompt('Say it.').result
      await context.page.route('**/assets/detailsPane-*', (route) => route.abort())
      const inspector = await openInspector(context, server.port, { hash: '#agent=a1' })
      await inspector.sees('I was asked.')
      await inspector.sees('Could not load this view', inspector.page.locator('.details'))
      await inspector.page.route('**/assets/agentPane-*', (route) => route.abort())
      await inspector.goto('#agent=a1')
      await inspector.sees('Could not load this view', inspector.page.getByRole('main', { name: 'Agent a1' }))
      await inspector.sees('a1', inspector.page.locator('.sidebar'))
    },
  )

  it(
    'are fetched while nobody waits for them: who comes to an agent from the overview sees it at once',
    {},
    async (context) => {
      const { server, runtime } = await serveInspector(context, [echo])
      const agent = await runtime.spawn(echo, { id: 'a1' })
      await agent.prompt('Say it.').result
      // With one agent alone the page begins there.
      await runtime.spawn(echo, { id: 'a2' })
      const fetched = ['agentPane', 'detailsPane', 'richTextParts'].map(async (name) => {
        await (await context.page.waitForResponse(`**/assets/${name}-*`)).finished()
      })
      const inspector = await openInspector(context, server.port)
      await context.page.locator('.home-row').first().waitFor()
      await Promise.all(fetched)
      await context.page.route('**/assets/**', (route) => route.abort())
      await context.page.evaluate(`location.hash = 'agent=a1'`)
      await inspector.sees('I was asked.')
    },
  )
})
