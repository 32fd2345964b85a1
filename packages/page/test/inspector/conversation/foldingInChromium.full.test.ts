import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

const run = defineTool({
  name: 'run_command',
  description: 'Runs.',
  input: z.object({ command: z.string() }),
  run: () => {
    throw new Error('exit code 1')
  },
})
/** Fails five times with the same command, and says a lot after each prompt. */
const stubborn = defineAgent({
  name: 'stubborn',
  model: policyModel(({ messages }) => {
    const tried = messages.filter(({ role }) => role === 'toolResult').length
    return tried < 5
      ? { toolCalls: [{ name: 'run_command', input: { command: 'npm test' } }] }
      : Array.from({ length: 12 }, (_, index) => `line ${index}`).join('\n\n')
  }),
  tools: [run],
})

/** Says at once what is far higher than a row is thought to be. */
const talker = defineAgent({
  name: 'talker',
  model: policyModel(({ messages }) =>
    messages.length < 60
      ? {
          text: Array.from({ length: 12 }, (_, index) => `line ${index}`).join('\n\n'),
          toolCalls: [{ name: 'run_command', input: { command: `npm run ${messages.length}` } }],
        }
      : 'done at last',
  ),
  tools: [run],
})

describeInChromium('a long conversation on the inspector page', (it) => {
  it('stays at its end while high rows are added fast', { timeoutMs: 60_000 }, async (context) => {
    const { runtime, server } = await serveInspector(context, [talker])
    const agent = await runtime.spawn(talker, { id: 't' })
    const inspector = await openInspector(context, server.port, { hash: '#agent=t' })
    const { page } = inspector
    await inspector.sees('No messages yet')
    await agent.prompt('go').result
    await inspector.sees('done at last')
    assert.is(await page.locator('.new-below button').count(), 0)
    checkProblems(inspector)
  })

  it(
    'folds repeated failures, and says what came below',
    { timeoutMs: 60_000, reducedMotion: 'reduce' },
    async (context) => {
      const { runtime, server } = await serveInspector(context, [stubborn])
      const agent = await runtime.spawn(stubborn, { id: 's' })
      for (const text of ['go', 'on', 'and on']) await agent.prompt(text).result
      const inspector = await openInspector(context, server.port, { hash: '#agent=s' })
      const { page, button } = inspector
      const repeated = page.locator('.conversation-row.is-repeat')
      await inspector.sees('failed 5 times', repeated)
      await inspector.sees('run_command npm test', repeated)
      assert.is(await page.locator('.conversation-row.is-call').count(), 0)
      await repeated.click()
      await page.locator('.conversation-scroll').focus()
      await page.keyboard.press('Enter')
      await page.locator('.conversation-row.is-call').nth(1).waitFor()
      await page.keyboard.press('ArrowLeft')
      await page.locator('.conversation-row.is-call').first().waitFor({ state: 'detached' })

      assert.is(await page.locator('.new-below button').count(), 0)
      await agent.prompt('more').result
      await button('2 new rows below').waitFor()
      assert.equal(await axeViolations(page), [])
      await button('2 new rows below').click()
      await page.locator('.new-below button').waitFor({ state: 'detached' })
      checkProblems(inspector)
    },
  )
})
