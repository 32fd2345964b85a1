import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'
import { keyboardOf } from '../keyboard.ts'

const writer = defineAgent({
  name: 'writer',
  model: policyModel(({ messages }) => {
    const last = messages
      .at(-1)
      ?.content.flatMap((block) => (block.type === 'text' ? block.text : []))
      .join(' ')
    return `A poem about ${last}, in four lines.`
  }),
})

describeInChromium('a person without a mouse', (it) => {
  it('forks an agent at a message, says something else, and compares', { timeoutMs: 60_000 }, async (context) => {
    const { server, runtime } = await serveInspector(context, [writer])
    const agent = await runtime.spawn(writer, { id: 'w1' })
    for (const said of ['spring', 'autumn']) await agent.prompt(said).result
    const inspector = await openInspector(context, server.port, { hash: '#agent=w1' })
    const { page } = inspector
    const keys = keyboardOf(page)
    await inspector.isIn('idle')
    await inspector.sees('A poem about autumn, in four lines.')
    await keys.tabTo(/^(Messages, oldest first|.*A poem about|.*User)/)
    await keys.press('Home')
    await keys.moveTo(/A poem about spring/, 'ArrowDown')
    await keys.press('Enter')
    await until(page, `location.hash.includes('node=n2')`)
    await keys.press('f')
    await keys.isAt(/^First prompt/)
    await keys.type('winter')
    await keys.tabTo(/^Fork$/)
    await keys.press('Enter')
    await inspector.sees('A poem about winter, in four lines.')
    await keys.press('v')
    await keys.isAt(/^Agent or session/)
    await page.getByRole('dialog').getByText('source', { exact: true }).waitFor()
    await keys.tabTo(/w1/)
    await keys.press('Enter')
    await inspector.sees('2 identical messages at the start')
    await inspector.sees('2 rows different')
    await keys.tabTo(/identical messages at the start/)
    await keys.press('Enter')
    await inspector.sees('A poem about spring, in four lines.')
    await keys.press('Escape')
    await until(page, `document.querySelector('.compare') === null`)
    await inspector.sees('A poem about winter, in four lines.')
    checkProblems(context)
  })
})
