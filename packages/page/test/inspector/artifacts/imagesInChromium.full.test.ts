import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

const talker = defineAgent({ name: 'talker', model: policyModel(() => 'A cat.') })

describeInChromium('images on the inspector page', (it) => {
  it('are links when they lie elsewhere, and the page fetches none of them', { timeoutMs: 30_000 }, async (context) => {
    const url = 'https://pictures.invalid/cat.png'
    const { server, runtime } = await serveInspector(context, [talker])
    const agent = await runtime.spawn(talker, { id: 't1' })
    await agent.prompt([
      { type: 'text', text: 'What is it?' },
      { type: 'image', url },
    ]).result
    const asked: string[] = []
    context.page.on('request', (request) => asked.push(request.url()))
    const inspector = await openInspector(context, server.port, { hash: '#agent=t1' })
    const link = inspector.page.getByRole('link', { name: url })
    await link.first().waitFor()
    assert.equal(
      [await link.first().getAttribute('href'), await link.first().getAttribute('rel')],
      [url, 'noopener noreferrer'],
    )
    assert.equal(
      asked.filter((address) => address.includes('pictures.invalid')),
      [],
    )
    checkProblems(context)
  })
})
