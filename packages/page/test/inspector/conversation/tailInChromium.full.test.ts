import type { Page } from 'playwright-core'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'

const talker = defineAgent({
  name: 'talker',
  model: policyModel((_, { turnIndex }) => `Answer ${turnIndex}, in a few words.`),
  limits: { turns: 1_000 },
})

/** Holds what a page asks of logs back until the returned function is called. */
async function holdLogs(page: Page): Promise<() => void> {
  const held: (() => void)[] = []
  let isOpen = false
  await page.routeWebSocket(/bridge/, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((message) => {
      if (isOpen || !String(message).includes('"agent.subscribe"')) server.send(message)
      else held.push(() => server.send(message))
    })
  })
  return () => {
    isOpen = true
    for (const send of held.splice(0)) send()
  }
}

/** A page on an agent with a long log, of which nothing but the end has come. */
async function opened(context: PageContext, hash = '') {
  const { server, runtime } = await serveInspector(context, [talker])
  const agent = await runtime.spawn(talker, { id: 'a' })
  for (let turn = 0; turn < 150; turn++) await agent.prompt(`Question ${turn}?`).result
  const release = await holdLogs(context.page)
  const inspector = await openInspector(context, server.port, { hash: `#agent=a${hash}` })
  return { ...inspector, release }
}

const isReading = `document.querySelector('.is-reading') !== null`
const isWhole = `document.querySelector('.conversation-sum')?.textContent.startsWith('300 nodes') === true`
/** The first message that begins in view, and how far down. */
const place = `(() => {
  const { top } = document.querySelector('.conversation-scroll').getBoundingClientRect()
  const row = [...document.querySelectorAll('.conversation-row')].find((one) => one.getBoundingClientRect().top >= top)
  return [row.innerText, Math.round(row.getBoundingClientRect().top - top)]
})()`

describeInChromium('a long conversation', (it) => {
  it('is read from its end, and stays in place as the rest comes', { timeoutMs: 60_000 }, async (context) => {
    const { page, sees, release } = await opened(context)
    await sees('Answer 149, in a few words.')
    await until(page, isReading)
    await sees(/The last 200 nodes · reading what came before/)
    assert.equal(await axeViolations(page), [])
    await page.keyboard.press('/')
    await page.locator('#search').fill('Question 3?')
    await sees(/^Reading the log: 0 records$/)
    await page.locator('#search').press('Escape')
    await page.locator('.conversation-scroll').hover()
    await page.mouse.wheel(0, -1_500)
    await until(page, `document.body.innerText.includes('Question 138?')`)
    const before = await page.evaluate(place)
    release()
    await until(page, isWhole)
    assert.equal(await page.evaluate(place), before)
    await page.keyboard.press('/')
    await page.locator('#search').fill('Question 3?')
    await sees(/^1 match$/)
    checkProblems(context)
  })

  it('stays at its end where nobody has scrolled', { timeoutMs: 60_000 }, async (context) => {
    const { page, sees, release } = await opened(context)
    await sees('Answer 149, in a few words.')
    release()
    await until(page, isWhole)
    await until(
      page,
      `(() => { const box = document.querySelector('.conversation-scroll'); return box.scrollHeight - box.clientHeight - box.scrollTop < 2 })()`,
    )
    await sees('Answer 149, in a few words.')
    checkProblems(context)
  })

  it('waits for a node that is not in its end, and shows one that is', { timeoutMs: 60_000 }, async (context) => {
    const { page, goto, sees, release } = await opened(context, '&node=n290')
    await until(page, isReading)
    await sees('Answer 144, in a few words.')
    await goto('#agent=a&node=n3')
    await page.getByRole('status', { name: 'Loading the conversation' }).waitFor()
    release()
    await until(
      page,
      `document.querySelector('.conversation-row.is-selected')?.innerText.includes('Question 1?') === true`,
    )
    checkProblems(context)
  })
})
