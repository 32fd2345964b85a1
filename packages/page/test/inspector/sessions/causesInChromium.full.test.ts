import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { tool } from '../../../../../test/support/agentHarness.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

describeInChromium('equal failures and pauses on the overview', (it) => {
  it('are counted by their cause, and continued together', { timeoutMs: 60_000 }, async (context) => {
    let isBroken = true
    const failing = defineAgent({
      name: 'summariser',
      model: policyModel(() => {
        if (isBroken) throw Object.assign(new Error('The key was refused.'), { statusCode: 401 })
        return 'Here is the summary.'
      }),
      retry: { attempts: 1 },
    })
    const looping = defineAgent({
      name: 'looper',
      model: policyModel(({ messages }) =>
        messages.length > 5 ? 'Enough.' : { toolCalls: [{ name: 'look', input: {} }] },
      ),
      tools: [tool('look', () => 'nothing')],
      limits: { turns: 2 },
    })
    const { runtime, server } = await serveInspector(context, [failing, looping])
    for (const id of ['f1', 'f2', 'f3']) await (await runtime.spawn(failing, { id })).prompt('Sum up').result
    for (const id of ['p1', 'p2']) await (await runtime.spawn(looping, { id })).prompt('Look').result
    const { page } = await openInspector(context, server.port)
    const list = page.getByRole('grid')
    const causes = page.locator('.home-cause')
    const rows = page.locator('.home-row.is-below')
    await list.getByRole('button', { name: 'Retry 3: failed: MODEL_FAILED' }).waitFor()
    assert.is(await causes.count(), 2)
    assert.is(await rows.count(), 0)
    assert.equal(await axeViolations(page), [])
    // By keyboard alone: the first line, open, closed.
    await list.focus()
    await list.press('Space')
    await rows.nth(2).waitFor()
    assert.equal(await axeViolations(page), [])
    await list.press('Enter')
    await rows.first().waitFor({ state: 'detached' })
    isBroken = false
    await list.press('r')
    await list.getByRole('button', { name: /^Retry/ }).waitFor({ state: 'detached' })
    await list.getByRole('button', { name: /^Resume 2: paused: limit of 2 turns/ }).click()
    await causes.first().waitFor({ state: 'detached' })
    await page.getByRole('list', { name: 'Actions on several agents' }).waitFor({ state: 'detached' })
    assert.equal(
      ['f1', 'f2', 'f3', 'p1', 'p2'].map((id) => runtime.agent(id)?.state),
      ['idle', 'idle', 'idle', 'idle', 'idle'],
    )
    assert.is(await page.locator('.errors .error').count(), 0)
    checkProblems(context)
  })

  it('that go in circles say so, and are taken back to before their loop', { timeoutMs: 60_000 }, async (context) => {
    const looping = defineAgent({
      name: 'looper',
      braking: { stall: { note: false, revert: false } },
      tools: [tool('look', () => 'nothing')],
      model: policyModel(({ messages }) =>
        JSON.stringify(messages).includes('Try another way')
          ? 'I did it otherwise.'
          : { toolCalls: [{ name: 'look', input: {} }] },
      ),
    })
    const { runtime, server } = await serveInspector(context, [looping])
    for (const id of ['l0', 'l1', 'l2', 'l3']) await (await runtime.spawn(looping, { id })).prompt('Look').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=l0' })
    const { page } = inspector
    // Where the agent is shown, and then for the others at once.
    await page.locator('.prompt').getByRole('button', { name: 'Go back to n1, before the loop, and go on' }).click()
    await inspector.sees('I did it otherwise.')
    await page.evaluate("location.hash = ''")
    const cause = page.locator('.home-cause')
    await cause.getByText(/the same call with the same result/).waitFor()
    page.once('dialog', (dialog) => void dialog.accept())
    await cause.getByRole('button', { name: /^Go back 3/ }).click()
    await cause.waitFor({ state: 'detached' })
    await page.locator('.home-row.is-idle').nth(3).waitFor()
    for (const id of ['l0', 'l1', 'l2', 'l3']) assert.is(runtime.agent(id)?.state, 'idle')
    checkProblems(context)
  })

  it('has its figures, and the most expensive agent first at one click', { timeoutMs: 60_000 }, async (context) => {
    const of = (name: string, output: number) =>
      defineAgent({ name, pricing: { input: 0.1, output }, model: policyModel(() => 'One two three four five.') })
    const [cheap, dear] = [of('cheap', 1_000), of('dear', 900_000)]
    const { runtime, server } = await serveInspector(context, [cheap, dear])
    for (const [definition, id] of [
      [dear, 'burns'],
      [cheap, 'a'],
      [cheap, 'b'],
    ] as const)
      await (await runtime.spawn(definition, { id, metadata: { team: id } })).prompt('Count').result
    const { page } = await openInspector(context, server.port)
    const tiles = page.locator('.home-tiles')
    await tiles.getByText('0 decisions').waitFor()
    await tiles.getByText(/^9\d(\.\d)?%? by|\d+% by/).waitFor()
    await page.getByLabel('Spending by').selectOption('team')
    await page.locator('.home-shares').getByText('burns').waitFor()
    assert.equal(await axeViolations(page), [])
    await page.getByRole('button', { name: 'Cost' }).click()
    assert.match(await page.locator('.home-row .home-title').first().innerText(), /Count/)
    assert.match(await page.locator('.home-row .home-about').first().innerText(), /burns/)
    checkProblems(context)
  })
})
