import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../../src/actors/models/policyModel.ts'
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
    const causes = page.getByRole('list', { name: 'What several agents have in common' })
    await causes.getByRole('button', { name: 'Retry 3: failed: MODEL_FAILED' }).waitFor()
    assert.is(await causes.getByRole('listitem').count(), 2)
    assert.equal(await axeViolations(page), [])
    isBroken = false
    await causes.getByRole('button', { name: /^Retry 3/ }).click()
    await causes.getByRole('button', { name: /^Retry \d/ }).waitFor({ state: 'detached' })
    await causes.getByRole('button', { name: /^Resume 2: paused: limit of 2 turns/ }).click()
    await causes.waitFor({ state: 'detached' })
    assert.equal(
      ['f1', 'f2', 'f3', 'p1', 'p2'].map((id) => runtime.agent(id)?.state),
      ['idle', 'idle', 'idle', 'idle', 'idle'],
    )
    assert.is(await page.locator('.errors .error').count(), 0)
    checkProblems(context)
  })
})
