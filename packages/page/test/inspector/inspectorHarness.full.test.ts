import { describeInChromium } from '../../../../test/browser/chromium.ts'
import { assert } from '../../../../test/support/suite.ts'
import { until } from './inspectorHarness.ts'

describeInChromium('waiting for what a page is to say', (it) => {
  it('ends with what it has waited for in vain', {}, async ({ page }) => {
    await until(page, '1 + 1 === 2')
    await assert.rejects(() => until(page, '1 + 1 === 3', 50), /50 ms in vain: 1 \+ 1 === 3/)
  })
})
