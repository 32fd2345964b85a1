import { writeFile, readFile } from 'node:fs/promises'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import { lineOf } from '../../../../stores/src/checksum.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import { storeFolder } from '../../../../stores/test/storeFolder.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { copiedRequest, openInspector, payloadsOf, recordsOf, serveInspector, until } from '../inspectorHarness.ts'

const echo = defineAgent({
  name: 'echo',
  model: policyModel(({ messages }) => `You said: ${textOf(messages.at(-1)?.content ?? [])}`),
  braking: { revert: true },
  captureTurnRequests: true,
})

/** An agent that was asked three things, of which the last was taken back, and is at rest now. */
async function serveRested(context: PageContext) {
  const serving = await serveInspector(context, [echo])
  const agent = await serving.runtime.spawn(echo, { id: 'e1' })
  for (const text of ['one', 'two', 'three']) await agent.prompt(text).result
  const reverted = Promise.withResolvers<void>()
  agent.subscribe(({ type }) => {
    if (type === 'revert.applied') reverted.resolve()
  })
  agent.revert('n5', { category: 'tangent', summary: 'Three was too many.' })
  await reverted.promise
  await agent.close()
  return { ...serving, records: await recordsOf(serving.store, 'e1') }
}

const permissions = ['clipboard-read', 'clipboard-write']

describeInChromium('links into the inspector page', (it) => {
  it('open a session at rest at a node, a view and a turn', { timeoutMs: 60_000, permissions }, async (context) => {
    const { server, records } = await serveRested(context)
    const inspector = await openInspector(context, server.port)
    const { page, goto } = inspector
    // It is found in the list, too.
    await page.locator('.sidebar').getByRole('treeitem', { name: /e1/ }).click()
    await inspector.sees('You said: three')
    await inspector.sees('at rest')

    await goto('#agent=e1&node=n4')
    await page.getByRole('heading', { name: 'n4 Reply' }).waitFor()
    await page.locator('.conversation-row.is-selected').filter({ hasText: 'You said: two' }).waitFor()

    await goto('#agent=e1&view=timeline&as=log')
    await page.getByRole('option').filter({ hasText: 'agent.created' }).waitFor()
    await goto('#agent=e1&view=chart')
    await page.locator('.chart-box').first().waitFor()

    await goto('#agent=e1&view=requests&turn=2')
    await inspector.button('Raw JSON').click()
    assert.is(await copiedRequest(inspector), payloadsOf(records)[1])
    checkProblems(context)
  })

  it(
    'lead to a past moment: its state, its trunk and its request',
    { timeoutMs: 60_000, permissions },
    async (context) => {
      const { server, records } = await serveRested(context)
      // In the middle of the second turn: the request is made, and there is no answer yet.
      const { seq } = records.filter(({ type }) => type === 'turn.captured')[1]!
      const inspector = await openInspector(context, server.port, { hash: `#agent=e1&at=${seq}` })
      const { page, tab } = inspector
      await inspector.sees(`as of record ${seq}`)
      await inspector.isIn('replying.requesting')
      const rows = page.locator('.conversation-row')
      await rows.filter({ hasText: 'two' }).waitFor()
      assert.equal(await rows.filter({ hasText: 'You said: two' }).count(), 0)
      // Nothing can be done to the past.
      assert.is(await inspector.prompt.count(), 0)
      await inspector.button('More').click()
      const stop = page.getByRole('menuitem', { name: 'Stop the agent' })
      assert.is(await stop.getAttribute('title'), whyPast)
      await page.keyboard.press('Escape')
      assert.equal(await axeViolations(page), [])
      await tab('Requests').click()
      await inspector.button('Raw JSON').click()
      assert.is(await copiedRequest(inspector), payloadsOf(records)[1])

      // The slider, one record at a time and to both ends.
      await tab('Conversation').click()
      const slider = page.getByRole('slider', { name: 'Position in the log' })
      await slider.focus()
      await page.keyboard.press('ArrowRight')
      await until(page, `location.hash.includes('at=${seq + 1}')`)
      await page.keyboard.press('Home')
      await inspector.sees('No messages at this point')
      await inspector.isIn('idle')
      await page.keyboard.press('End')
      await inspector.sees('Three was too many.')
      await page.locator('.conversation-row.is-abandoned').filter({ hasText: 'You said: three' }).waitFor()
      await until(page, `!location.hash.includes('at=')`)
      checkProblems(context)
    },
  )

  it('that lead nowhere are told so', { timeoutMs: 60_000 }, async (context) => {
    const { server, runtime } = await serveRested(context)
    const inspector = await openInspector(context, server.port, { hash: '#agent=nobody' })
    await inspector.sees('Agent not found')
    await inspector.sees('AGENT_NOT_FOUND')
    // Until there is one.
    await (await runtime.spawn(echo, { id: 'nobody' })).prompt('somebody').result
    await inspector.sees('You said: somebody')
    await inspector.goto('#agent=e1&node=n99')
    await inspector.sees('There is no message n99 in this conversation.')
    await inspector.goto('#agent=e1&view=nothing&node=here&at=then')
    await inspector.sees('"node=here" in the address is not a node such as n12.')
    const other = inspector.page.getByText('"at=then" in the address is not the number of a record.')
    await other.waitFor()
    await inspector.page.locator('.banner').filter({ hasText: 'node=here' }).getByText('Dismiss').click()
    await inspector.page.getByText('"node=here"').waitFor({ state: 'detached' })
    assert.is(await other.count(), 1)
    await inspector.sees('You said: three')
    await inspector.goto('#agent=e1&view=requests&turn=78')
    await inspector.sees('No request of turn 78')
    checkProblems(context, /status of 404/)
  })

  it('name a log that a newer version wrote', { timeoutMs: 60_000 }, async (context) => {
    const folder = await storeFolder(context)
    const store = folder.store()
    const { server, runtime } = await serveInspector(context, [echo], { runtime: { store } })
    const agent = await runtime.spawn(echo, { id: 'n1' })
    await agent.prompt('one').result
    await agent.close()
    const log = folder.file('n1.jsonl')
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n')
    const last = JSON.stringify({ v: 99, seq: lines.length + 1, time: 0, type: 'dream.had' })
    await writeFile(log, [...lines, lineOf(last), ''].join('\n'))
    const inspector = await openInspector(context, server.port, { hash: '#agent=n1' })
    await inspector.sees('This log was written by a newer version')
    await inspector.sees('LOG_VERSION')
    checkProblems(context, /status of (4|5)\d\d/)
  })
})

const whyPast = 'You look at the past: go back to the newest moment first.'
