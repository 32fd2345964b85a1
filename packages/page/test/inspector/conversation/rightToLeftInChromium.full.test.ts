import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

const asked = 'لماذا الكلفة في src/cost.ts خاطئة؟'
const reply = `الخطأ في src/cost.ts سطر 3.

- أولا: اقرأ الملف
- ثانيا: صحح الشرط

> مقتبس من src/cost.ts.

| اسم | قيمة |
|---|---|
| أ | 1 |

\`\`\`ts
const a = 1
\`\`\`

This sentence is English.`

const writer = defineAgent({ name: 'writer', model: policyModel(() => reply) })

describeInChromium('what people and models wrote from right to left', (it) => {
  it(
    'stands from right to left, block by block, and code from left to right',
    { timeoutMs: 60_000 },
    async (context) => {
      const { runtime, server } = await serveInspector(context, [writer])
      const agent = await runtime.spawn(writer, { id: 'w' })
      await agent.prompt(asked).result
      const inspector = await openInspector(context, server.port, { hash: '#agent=w' })
      const { page } = inspector
      const message = page.locator('.conversation-row.is-message').nth(1)
      await message.locator('table').waitFor()
      const directions = (place: string): Promise<unknown> =>
        page.evaluate(
          `[...document.querySelectorAll(${JSON.stringify(place)})].map((one) => getComputedStyle(one).direction).join()`,
        )
      assert.is(await directions('.prose > p'), 'rtl,rtl,ltr')
      assert.is(await directions('.prose li'), 'rtl,rtl')
      assert.is(await directions('.prose blockquote p, .prose td'), 'rtl,rtl,rtl')
      assert.is(await directions('.prose-code pre'), 'ltr')
      assert.is(await directions('.agent-title h1'), 'rtl')
      // A list's signs are at its right.
      assert.ok(
        await page.evaluate(`parseFloat(getComputedStyle(document.querySelector('.prose ul')).paddingRight) > 10`),
      )
      await inspector.prompt.fill('مرحبا')
      assert.is(await directions('#prompt'), 'rtl')
      await page.getByRole('button', { name: 'Raw', exact: true }).click()
      await page.locator('.conversation-text-body').first().waitFor()
      assert.is(await directions('.conversation-text-body'), 'rtl,rtl')
      checkProblems(context)
    },
  )
})
