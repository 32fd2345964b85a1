import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, recordsOf, serveInspector, until } from '../inspectorHarness.ts'

const janitor = defineAgent({
  name: 'janitor',
  model: policyModel(({ messages }) =>
    messages.at(-1)!.role === 'toolResult'
      ? `It was: ${textOf(messages.at(-1)!.content)}`
      : { toolCalls: [{ name: 'clean', input: {} }] },
  ),
  tools: [
    defineTool({
      name: 'clean',
      description: 'Cleans up.',
      input: z.object({}),
      run: (_, { ask }) => ask(z.enum(['delete', 'archive', 'leave']), 'What about the 1,204 old files?'),
    }),
  ],
})

/** Makes the same call until it is paused, with an argument too long for one line. */
const looper = defineAgent({
  name: 'looper',
  model: policyModel(() => ({
    toolCalls: [{ name: 'look', input: { at: 'the very same place' } }],
  })),
  tools: [
    defineTool({ name: 'look', description: 'Looks.', input: z.object({ at: z.string() }), run: () => 'nothing' }),
  ],
  braking: { stall: true, revert: true },
})

describeInChromium('the rows of the overview', (it) => {
  it('have the answers to a question that allows a few', { timeoutMs: 60_000 }, async (context) => {
    const { runtime, server, store } = await serveInspector(context, [janitor])
    const run = (await runtime.spawn(janitor, { id: 'j' })).prompt('Clean up.')
    await runtime.spawn(janitor, { id: 'other' })
    const { page } = await openInspector(context, server.port)
    const asks = page.locator('.home-row.is-waiting')
    for (const answer of ['delete', 'leave']) await asks.getByRole('button', { name: `${answer}: ` }).waitFor()
    await asks.getByRole('button', { name: 'archive: ' }).click()
    await asks.waitFor({ state: 'detached' })
    await run.result
    const [answered] = (await recordsOf(store, 'j')).filter(({ type }) => type === 'question.answered')
    assert.is(answered?.type === 'question.answered' && answered.value, 'archive')
    checkProblems(context)
  })

  for (const [width, height] of [
    [720, 450],
    [960, 540],
  ] as const)
    it(`are in sight at ${width} × ${height}`, { timeoutMs: 60_000, viewport: { width, height } }, async (context) => {
      const { runtime, server } = await serveInspector(context, [janitor, looper])
      void (await runtime.spawn(janitor, { id: 'j' })).prompt('Clean up.').result.catch(() => {})
      await (await runtime.spawn(looper, { id: 'l' })).prompt('Look.').result
      const { page } = await openInspector(context, server.port)
      await page.getByText('Got it').click()
      await page.getByText(/^Spent by running/).waitFor()
      await page.getByRole('button', { name: 'archive: ' }).waitFor()
      const inSight = (selector: string): Promise<unknown> =>
        until(
          page,
          `(() => { const { bottom } = document.querySelector('${selector}').getBoundingClientRect(); return bottom < innerHeight })()`,
        )
      await inSight('.home-row.is-waiting')
      await inSight('.home-row.is-paused')
      // What the circle was is not hidden by the buttons beside it.
      const evidence = page.locator('.home-row.is-paused .home-what')
      await evidence.getByText('the very same place').waitFor()
      await until(
        page,
        `(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight + 1)(document.querySelector('.home-row.is-paused .home-what'))`,
      )
      assert.ok((await page.locator('.home-filter').boundingBox())!.width >= 140)
      assert.equal(await axeViolations(page), [])
      checkProblems(context)
    })
})
