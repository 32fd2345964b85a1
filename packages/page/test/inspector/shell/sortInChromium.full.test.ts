import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { AgentDefinition } from '../../../../../src/actors/define/agentDefinition.ts'
import { defineCoder } from '../../../../cli/src/sessions/openSession.ts'
import { embeddedSorter, sorterSetting } from '../../../../cli/src/demo/sorter.ts'
import { checkFile, checkProgram, sortTask } from '../../../../demo/src/sortTask.ts'
import { openWorkshop } from '../../../../cli/src/demo/workshop.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import {
  openInspector,
  payloadsOf,
  recordsOf,
  serveInspector,
  startAgent,
  styleOf,
  copiedRequest,
  until,
} from '../inspectorHarness.ts'

/** The agent of the sort demo, in a folder that goes with the case. */
function defineSorter({ cleanup }: Pick<PageContext, 'cleanup'>, name: string, isBraked: boolean): AgentDefinition {
  const workshop = openWorkshop({ [checkFile]: checkProgram })
  cleanup(() => rm(dirname(workshop.dir), { recursive: true }))
  const { braking, needsApproval } = sorterSetting(false)
  const choice = embeddedSorter(false)
  return defineCoder({ ...workshop, needsApproval, choice, name, ...(isBraked ? { braking } : {}) })
}

/** Notes down from now on which states of the chart were lit, and keeps them in `lit`. */
const watchLights = `
  globalThis.lit = new Set()
  const look = () => {
    for (const box of document.querySelectorAll('.chart-box.is-itself, .chart-box.is-recent')) lit.add(box.dataset.state)
  }
  look()
  new MutationObserver(look).observe(document.querySelector('.chart'), { subtree: true, attributes: true, childList: true })`

const permissions = ['clipboard-read', 'clipboard-write']

describeInChromium('the sort demo on the inspector page', (it) => {
  it('is seen from the first prompt to the end', { timeoutMs: 60_000, permissions }, async (context) => {
    const definitions = [defineSorter(context, 'sorter', true), defineSorter(context, 'unbraked', false)]
    const { server, store } = await serveInspector(context, definitions)
    const inspector = await openInspector(context, server.port)
    const { page, tab } = inspector

    await inspector.sees('No agent yet')
    await startAgent(inspector, 'sorter', { id: 's1' })
    await tab('Chart').click()
    await page.locator('.chart-box.is-itself[data-state="idle"]').waitFor()
    await inspector.button('Every state').click()
    await page.getByRole('button', { name: /draining/ }).click()
    await page.locator('.chart-box[data-state="draining.reverts"]').waitFor({ state: 'attached' })
    await inspector.sees('Revert brake open', page.locator('.chart-bar'))
    await page.evaluate(watchLights)
    await inspector.say(sortTask(3_000))

    // As the machine moves, its states light up; the last one is lit when all is over.
    await until(
      page,
      `['replying.requesting', 'replying.streaming', 'executing', 'draining.reverts'].every((name) => lit.has(name))`,
    )
    await tab('Conversation').click()
    await inspector.sees('Done: sort.mjs is a merge sort')
    await inspector.isIn('idle')
    await tab('Chart').click()
    await page.locator('.chart-box.is-itself[data-state="idle"]').waitFor()

    // The branch that was given up stands dimmed beside the trunk, with the lesson it left.
    await tab('Conversation').click()
    const lesson = page.locator('.conversation-row.is-tag')
    await inspector.sees('Lesson', lesson)
    await inspector.sees(/bubble sort is too slow for this/, lesson)
    await inspector.sees(/frees [\d,]+ tokens, pays/, lesson)
    const dimmed = page.getByText('Too slow, and no edit of a bubble sort will help')
    const bright = page.getByText('Done: sort.mjs is a merge sort')
    assert.is(await page.locator('.is-abandoned').filter({ has: dimmed }).count(), 1)
    assert.is(await page.locator('.is-abandoned').filter({ has: bright }).count(), 0)
    assert.is.not(await styleOf(dimmed, 'color'), await styleOf(bright, 'color'))

    // What the request viewer shows is what was sent, byte for byte, of every turn.
    const payloads = payloadsOf(await recordsOf(store, 's1'))
    assert.ok(payloads.length >= 6)
    await tab('Requests').click()
    await inspector.button('Raw JSON').click()
    for (const [index, payload] of [...payloads.entries()].toReversed()) {
      assert.is(await copiedRequest(inspector), payload, `request ${index + 1}`)
      if (index > 0) await inspector.button('Previous request').click()
      if (index > 0) await until(page, `document.querySelector('.request-turn input').value === '${index}'`)
    }

    // Without the flag the brake is shut.
    await startAgent(inspector, 'unbraked', { id: 'u1' })
    await tab('Chart').click()
    await inspector.sees('Revert brake shut', page.locator('.chart-bar'))
    await page.locator('.chart-arrow.is-shut .chart-shut').first().waitFor({ state: 'attached' })
    assert.is(await page.locator('.chart-arrow.is-open').count(), 0)
    checkProblems(context)
  })
})
