import { assert } from '../support/suite.ts'
import { checkProblems, describeInChromium } from './chromium.ts'

describeInChromium('a page in Chromium', (it) => {
  it('runs', {}, async ({ page, problems }) => {
    await page.setContent('<title>here</title><p>hello</p>')
    assert.is(await page.title(), 'here')
    assert.is(await page.evaluate('1 + 1'), 2)
    checkProblems({ page, problems })
  })

  it('is as wide as asked, and another one has nothing in common with it', {}, async ({ open, page }) => {
    const phone = await open({ viewport: { width: 390, height: 700 } })
    assert.is(await phone.page.evaluate('innerWidth'), 390)
    assert.is(await page.evaluate('innerWidth'), 1280)
    assert.ok(phone.page.context() !== page.context())
  })

  it('has its errors collected, and does not reach the network', {}, async (context) => {
    const { page, problems } = context
    await page.setContent(
      '<img src="http://example.com/x.png"><script>console.error("oh"); throw new Error("no")</script>',
    )
    await page.waitForLoadState('load')
    assert.ok(problems.includes('oh'))
    assert.ok(problems.some((problem) => problem.includes('Error: no')))
    assert.ok(problems.includes('it asked for http://example.com/x.png'))
    checkProblems(context, /./)
  })
})
