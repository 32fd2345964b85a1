import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { copiedRequest, openInspector, payloadsOf, recordsOf, serveInspector, until } from '../inspectorHarness.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.number() }),
  run: ({ at }) => `Nothing at ${at}.`,
})

/** Looks at sixty places one by one. */
const scout = defineAgent({
  name: 'scout',
  model: policyModel(({ messages }) => {
    const at = messages.filter(({ role }) => role === 'toolResult').length
    return at < 60 ? { toolCalls: [{ name: 'look', input: { at } }] } : 'I have looked.'
  }),
  tools: [look],
  instructions: ({ turnIndex }) => `You look.\n${turnIndex < 30 ? 'You tell.' : 'You tell all.'}`,
  captureTurnRequests: true,
})

describeInChromium('the requests on the inspector page', (it) => {
  it(
    'show what changed, with all that is as before in one line, and are walked change by change with the keyboard',
    { timeoutMs: 60_000, permissions: ['clipboard-read', 'clipboard-write'] },
    async (context) => {
      const { runtime, server, store } = await serveInspector(context, [scout])
      await (await runtime.spawn(scout, { id: 's' })).prompt('go').result
      const inspector = await openInspector(context, server.port, { hash: '#agent=s&view=requests' })
      const { page } = inspector
      const messages = page.locator('.request-message')
      const fold = page.getByRole('button', { name: /messages unchanged/ })
      const turn = page.getByRole('spinbutton')

      await inspector.sees(/^119 messages unchanged/, fold)
      assert.is(await messages.count(), 2)
      await inspector.sees('Nothing at 59.', messages)
      assert.equal(await axeViolations(page), [])

      // To the change before, which is in the request before, and back.
      await page.keyboard.press('C')
      await inspector.sees('Nothing at 58.', messages)
      assert.is(await turn.inputValue(), '60')
      await page.keyboard.press('c')
      await inspector.sees('Nothing at 59.', messages)

      // All of it, of which only what is in sight is made; it goes on where the change is.
      await fold.focus()
      await page.keyboard.press('Enter')
      await inspector.sees('Nothing at 1.', messages)
      assert.ok((await messages.count()) < 60)
      await page.keyboard.press('C')
      await inspector.sees('Nothing at 58.', page.locator('.request-shown, .request-message.is-new'))
      await page.locator('.request-shown').getByText('look').first().waitFor()
      assert.is(await messages.getByText('Nothing at 1.', { exact: false }).count(), 0)

      // The system prompt that changed is open, as the lines that changed.
      await turn.fill('31')
      await page.keyboard.press('Enter')
      await inspector.sees('You tell all.', page.locator('.diff-line.is-added'))
      await inspector.sees('Change 1 of 2')
      // The number is typed, so letters are keys again.
      await page.keyboard.press('c')
      await inspector.sees('Change 2 of 2')
      await inspector.sees('Nothing at 29.', page.locator('.request-message.is-new'))

      await inspector.button('Newest').click()
      await inspector.button('Raw JSON').click()
      const lines = page.locator('.json-line')
      await inspector.sees('"You look.\\nYou tell all."', lines)
      const payloads = payloadsOf(await recordsOf(store, 's'))
      assert.is(await copiedRequest(inspector), payloads[60])
      // Of more than a thousand lines those in sight are made; they fold.
      await inspector.sees(/1,\d{3} lines/)
      assert.ok((await lines.count()) < 100)
      await page.getByRole('region', { name: 'Raw JSON' }).focus()
      await page.keyboard.press('End')
      await inspector.sees(/Nothing at 59/, lines)
      await page.keyboard.press('Home')
      await page.locator('[data-index="0"]').getByRole('button').focus()
      await page.keyboard.press('Enter')
      await until(page, `document.querySelectorAll('.json-line').length === 1`)
      await page.keyboard.press('Enter')
      await inspector.sees('"system":', lines)
      assert.equal(await axeViolations(page), [])
      checkProblems(inspector)
    },
  )
})
