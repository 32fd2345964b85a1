import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { systemClock, type Clock } from '../../../../../src/protocol/ports/clock.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, textIn, until } from '../inspectorHarness.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.number() }),
  run: ({ at }) => {
    if (at % 10 === 3) throw new Error(`It is dark at ${at}`)
    return 'Nothing.'
  },
})
/** Looks at twenty places one by one; at 3 and at 13 it is dark. */
const scout = defineAgent({
  name: 'scout',
  model: policyModel(({ messages }) => {
    const at = messages.filter(({ role }) => role === 'toolResult').length
    return at < 20 ? { toolCalls: [{ name: 'look', input: { at } }] } : 'I have looked.'
  }),
  tools: [look],
})

/** Has the scout look. */
const lead = defineAgent({
  name: 'lead',
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult'
      ? 'Good.'
      : { toolCalls: [{ name: 'scout', input: { task: 'Look around.' } }] },
  ),
  agents: [scout],
})

/** Some milliseconds go by with each look at it: less than five of a run are shown as they are, with nothing to enlarge. */
function slowClock(): Clock {
  const start = systemClock.now()
  let looks = 0
  return { ...systemClock, now: () => start + 3 * looks++ }
}

describeInChromium('the timeline of the inspector page', (it) => {
  it(
    'shows the kinds that are chosen, and leads from failure to failure in any view',
    { timeoutMs: 60_000, reducedMotion: 'reduce' },
    async (context) => {
      const { runtime, server } = await serveInspector(context, [scout])
      await (await runtime.spawn(scout, { id: 's' })).prompt('go').result
      const inspector = await openInspector(context, server.port, { hash: '#agent=s&view=timeline&as=log' })
      const { page, tab } = inspector
      await page.getByRole('tab', { name: /Timeline\s*,\s*2\s*errors/ }).waitFor()
      const rows = page.locator('.event-row')
      const chip = (name: RegExp) =>
        page.getByRole('group', { name: 'Kinds of events' }).getByRole('button', { name, exact: true })

      await chip(/^error/).click()
      await rows.nth(1).waitFor()
      assert.is(await rows.count(), 2)
      await inspector.sees('It is dark at 13', rows)
      assert.equal(await axeViolations(page), [])
      assert.is(await chip(/^approval/).count(), 0)
      await chip(/^tool/).click({ modifiers: ['Shift'] })
      await inspector.sees('40 rows')
      await chip(/^tool/).click()
      await inspector.sees('40 rows')
      await chip(/^error/).click()
      await chip(/^all/).click()
      await page.getByLabel('Filter events by text').fill('dark at 3')
      await page.locator('.event-row:only-child').waitFor()
      await rows.click()
      await page.locator('.event-row[aria-selected=true]').waitFor()

      // What is chosen here is shown there, and the keys go on from it.
      await tab('Conversation').click()
      const chosen = page.locator('.conversation-row.is-selected')
      await inspector.sees('It is dark at 3', page.locator('.details'))
      await page.keyboard.press('e')
      await inspector.sees('It is dark at 13', page.locator('.details'))
      await inspector.sees(/look/, chosen)
      await page.keyboard.press('E')
      await inspector.sees('It is dark at 3', page.locator('.details'))
      await page.keyboard.press('E')
      await inspector.sees('It is dark at 13', page.locator('.details'))
      checkProblems(inspector)
    },
  )

  it(
    'draws what took time as bars, with those of a sub-agent once it is opened, by the keyboard alone',
    { timeoutMs: 60_000, reducedMotion: 'reduce' },
    async (context) => {
      const { runtime, server } = await serveInspector(context, [lead, scout], { runtime: { clock: slowClock() } })
      await (await runtime.spawn(lead, { id: 'l' })).prompt('go').result
      const inspector = await openInspector(context, server.port, { hash: '#agent=l&view=timeline' })
      const { page } = inspector
      const rows = page.getByRole('treeitem').and(page.locator('.bar-row'))
      await rows.and(page.locator('.is-call')).filter({ hasText: 'scout' }).waitFor()
      // A turn is named by what it did.
      await inspector.sees('turn 1 scout', rows.and(page.locator('.is-turn')))
      const before = await rows.count()
      assert.match(await textIn(page.locator('.tick.is-start').first()), /^\d\d:\d\d:\d\d$/)
      await page.locator('.bars').focus()
      for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key)
      const call = page.getByRole('treeitem', { selected: true }).and(page.locator('.bar-row'))
      await inspector.sees('scout', call)
      assert.is(await call.getAttribute('aria-expanded'), 'false')
      await page.keyboard.press('ArrowRight')
      await inspector.sees('turn 1', rows.filter({ has: page.locator('[style*="42px"]') }))
      assert.ok((await rows.count()) > before)
      assert.equal(await axeViolations(page), [])
      // A part of the time, and all of it again.
      const whole = page.locator('.bars-zoom .button:not(.square)')
      const partly = whole.and(page.locator(':enabled'))
      await whole.and(page.locator(':disabled')).waitFor()
      await page.keyboard.press('+')
      await page.keyboard.press('Shift+ArrowRight')
      await partly.waitFor()
      await page.keyboard.press('Backspace')
      await partly.waitFor({ state: 'detached' })
      await page.keyboard.press('ArrowLeft')
      await until(page, `document.querySelectorAll('.bar-row').length === ${before}`)
      // To the agent that did it, and there to what went wrong.
      await page.keyboard.press('Enter')
      await page.getByRole('main', { name: 'Agent l.1', exact: true }).waitFor()
      assert.match(page.url(), 'view=timeline')
      // Its log has been read.
      await rows.filter({ hasText: 'It is dark at 3' }).waitFor()
      await page.keyboard.press('e')
      await inspector.sees('It is dark at 3', call)
      checkProblems(inspector)
    },
  )

  it(
    'has a slider with what stands out in the log, which goes by turns, and plays until somebody goes elsewhere',
    { timeoutMs: 60_000, reducedMotion: 'reduce' },
    async (context) => {
      const { runtime, server } = await serveInspector(context, [scout])
      await (await runtime.spawn(scout, { id: 's' })).prompt('go').result
      const inspector = await openInspector(context, server.port, { hash: '#agent=s&at=1' })
      const { page } = inspector
      const slider = page.getByRole('slider', { name: 'Position in the log' })
      await slider.focus()
      await page.locator('.time-marks .is-error').nth(1).waitFor({ state: 'attached' })
      assert.is(await page.locator('.time-marks .is-error').count(), 2)
      assert.is(await page.locator('.time-marks .is-prompt').count(), 1)
      // Faster than what they ask for is shown.
      await slider.evaluate((element) => {
        const { KeyboardEvent: Key } = globalThis as unknown as {
          KeyboardEvent: new (type: string, init: object) => Event
        }
        for (let press = 0; press < 2; press += 1)
          (element as unknown as EventTarget).dispatchEvent(
            new Key('keydown', { key: 'ArrowRight', shiftKey: true, bubbles: true }),
          )
      })
      await inspector.sees('turn 2 begins', page.locator('.time-what'))
      assert.match((await slider.getAttribute('aria-valuetext')) ?? '', /^record \d+ of \d+, turn 2 begins$/)
      await page.keyboard.press('Shift+ArrowLeft')
      await inspector.sees('turn 1 begins', page.locator('.time-what'))
      assert.equal(await axeViolations(page), [])
      const slow = page.getByRole('button', { name: '×1', exact: true })
      await slow.click()
      await slider.press('Home')
      await slow.and(page.locator('[aria-pressed=false]')).waitFor()
      // To the end, where the agent is as it is now.
      await page.getByRole('button', { name: '×10' }).click()
      await until(page, `!location.hash.includes('at=')`)
      await page.locator('.time-play[aria-pressed=true]').waitFor({ state: 'detached' })
      checkProblems(inspector)
    },
  )
})
