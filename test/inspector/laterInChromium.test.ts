import { defineAgent } from '../../src/actors/defineAgent.ts'
import { policyModel } from '../../src/actors/models/policyModel.ts'
import { checkProblems, describeInChromium } from '../browser/chromium.ts'
import { assert } from '../support/suite.ts'
import { openInspector, serveInspector } from './inspectorHarness.ts'

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
    await inspector.sees('This view could not be loaded')
    await inspector.tab('Conversation').click()
    await inspector.sees('I was asked.')
  })
})
