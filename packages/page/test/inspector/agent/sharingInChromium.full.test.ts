import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { forkSession } from '../../../../sessions/src/forkSession.ts'
import { simulatedClock } from '../../../../evaluation/src/testing/simulatedClock.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'I was asked.') })
const token = 'admin-token-0123456789'

describeInChromium('a read-only link to the inspector page', (it) => {
  it('is made by an admin, lets another look, and says when it is over', { timeoutMs: 60_000 }, async (context) => {
    const clock = simulatedClock()
    const { server, runtime } = await serveInspector(context, [echo], {
      tokens: { [token]: 'admin' },
      runtime: { clock },
    })
    const agent = await runtime.spawn(echo, { id: 'a1' })
    await agent.prompt('Say it.').result
    await runtime.spawn(echo, { id: 'other' })
    const admin = await openInspector(context, server.port, { hash: `#agent=a1&token=${token}` })
    await admin.page.getByRole('button', { name: 'More', exact: true }).click()
    await admin.page.getByRole('menuitem', { name: 'Create a read-only link' }).click()
    await admin.page.getByLabel('Expires after').selectOption({ label: 'an hour' })
    assert.equal(await axeViolations(admin.page), [])
    await admin.button('Create link').click()
    const field = admin.page.getByLabel(/^Expires (?!after)/)
    await field.waitFor()
    const link = await field.inputValue()
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/#agent=a1&token=share\./)
    assert.equal(await axeViolations(admin.page), [])
    await admin.button('Copy link').click()
    await admin.page.getByRole('button', { name: /^(?:Copied|Copy failed)$/ }).waitFor()
    checkProblems(admin)

    const { page, problems } = await context.open()
    await page.goto(link)
    await page.getByText('I was asked.').first().waitFor()
    assert.not.match(page.url(), /share/)
    await page.getByText('observe', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Stop the agent' }).waitFor()
    assert.is(await page.getByRole('menuitem', { name: 'Create a read-only link' }).count(), 0)
    await page.keyboard.press('Escape')
    assert.is(await page.getByText('other', { exact: true }).count(), 0)
    checkProblems({ page, problems })

    await clock.advance(3_600_000)
    await page.getByRole('heading', { name: 'This link has expired' }).waitFor()
    assert.equal(await axeViolations(page), [])
    await page.reload()
    await page.getByRole('heading', { name: 'This link has expired' }).waitFor()
    await page.getByRole('button', { name: 'Use a token instead' }).click()
    await page.getByRole('heading', { name: 'This server requires a token' }).waitFor()
  })

  it(
    'shows of a fork what it shares with its source, which is out of reach',
    { timeoutMs: 30_000 },
    async (context) => {
      const { server, runtime, store } = await serveInspector(context, [echo], { tokens: { [token]: 'admin' } })
      const source = await runtime.spawn(echo, { id: 'source' })
      await source.prompt('Shared.').result
      await source.prompt('Of the source alone.').result
      await source.durable()
      await forkSession(store, 'source', 'n2', { id: 'fork' })
      const fork = await runtime.resume('fork', echo)
      await fork.prompt('Of the fork.').result
      const { token: shared } = await server.shareLink('fork')
      const inspector = await openInspector(context, server.port, { hash: `#agent=fork&token=${shared}` })
      await inspector.sees('Of the fork.')
      await inspector.sees('Shared.')
      assert.is(await inspector.page.getByText('Of the source alone.').count(), 0)
      checkProblems(inspector)
    },
  )
})
