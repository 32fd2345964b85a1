import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { lead } from '../birdAgents.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'

describeInChromium('a person who looks for a word on the inspector page', (it) => {
  it(
    'finds what a grandchild said with the keyboard alone, and again by the address',
    { timeoutMs: 60_000 },
    async (context) => {
      const { server, runtime } = await serveInspector(context, [lead])
      const agent = await runtime.spawn(lead, { id: 'lead' })
      for (let turn = 0; turn < 30; turn++) await agent.prompt(`go on ${turn}`).result
      const inspector = await openInspector(context, server.port, { hash: '#agent=lead' })
      const { page } = inspector
      await inspector.isIn('idle')
      await page.keyboard.press('/')
      const field = page.getByRole('searchbox', { name: 'Search this agent' })
      await field.waitFor()
      await until(page, `document.activeElement?.id === 'search'`)
      await page.keyboard.type('go on 3')
      await inspector.sees('1 match')
      await page.keyboard.press('Enter')
      await until(page, `document.querySelector('.conversation-row.is-hit.is-selected') !== null`)
      assert.is(await page.locator('#search:focus').count(), 1)
      assert.match(page.url(), /q=go\+on\+3/)
      assert.equal(await axeViolations(page), [])
      await page.keyboard.press('ControlOrMeta+A')
      await page.keyboard.type('heron there agent:*')
      await inspector.sees('No matches')
      await page.keyboard.press('ControlOrMeta+A')
      await page.keyboard.type('HERON STOOD agent:*')
      await until(
        page,
        `/^[1-9]\\d* matches in \\d+ agents$/.test(document.querySelector('.search-count').textContent)`,
      )
      const list = page.getByRole('listbox', { name: 'Matches' })
      await list.locator('mark').first().waitFor()
      assert.match((await list.locator('mark').first().innerText()).toLowerCase(), /^heron stood$/)
      assert.equal(await axeViolations(page), [])
      // Sub-agents that have ended are called what they were called for.
      await list
        .locator('.search-agent')
        .filter({ hasText: /^(?!lead).+lead\.\d/ })
        .first()
        .waitFor()
      await page.getByRole('button', { name: /^said / }).waitFor()
      await page.keyboard.press('Shift+Enter')
      await until(
        page,
        `location.hash.includes('fetcher') || document.querySelector('main').ariaLabel !== 'Agent lead'`,
      )
      await until(page, `document.querySelector('.is-hit.is-selected')?.innerText.includes('The heron stood') === true`)
      const address = page.url()
      await inspector.goto(new URL(address).hash)
      await until(page, `document.querySelector('.is-hit')?.innerText.includes('The heron stood') === true`)
      await page.locator('#search').press('Escape')
      await page.locator('#search').waitFor({ state: 'detached' })
      assert.not.match(page.url(), /q=/)
      await until(page, `document.querySelector('.is-hit') === null`)
      checkProblems(context)
    },
  )

  for (const [width, height, direction] of [
    [1280, 800, 'ltr'],
    [1280, 800, 'rtl'],
    [960, 540, 'ltr'],
    [375, 700, 'ltr'],
  ] as const)
    it(
      `has what was found beside what was said, and nothing over anything, at ${width} by ${height}, ${direction}`,
      { timeoutMs: 60_000, viewport: { width, height } },
      async (context) => {
        const talker = defineAgent({ name: 'talker', model: policyModel(() => 'hello there') })
        const { server, runtime } = await serveInspector(context, [talker])
        const agent = await runtime.spawn(talker, { id: 't1' })
        for (let turn = 0; turn < 20; turn++) await agent.prompt(`hello ${turn}`).result
        const { page } = await openInspector(context, server.port, { hash: '#agent=t1&q=hello' })
        await page.evaluate(`document.documentElement.dir = '${direction}'`)
        await page.getByRole('option').first().waitFor()
        // Each part of the pane holds what is in it: what is larger would be drawn over the next one.
        await until(
          page,
          `document.querySelector('.conversation-bar') !== null && [...document.querySelectorAll('.agent > *, .search-bar > *, .panel > * > *')]
            .every((part) => getComputedStyle(part).overflowY !== 'visible' || part.scrollHeight <= part.clientHeight + 1)`,
        )
        const [list, panel] = [page.locator('.search-list'), page.locator('.panel')]
        const bottom = (await list.boundingBox())!
        assert.ok(bottom.y + bottom.height <= (await panel.boundingBox())!.y)
        assert.equal(await axeViolations(page), [])
        checkProblems(context)
      },
    )

  it(
    'has the page search in place of a browser that sees only the rows in view, and the browser at a second press',
    { timeoutMs: 60_000 },
    async (context) => {
      const talker = defineAgent({ name: 'talker', model: policyModel(() => 'hello') })
      const { server, runtime } = await serveInspector(context, [talker])
      await (await runtime.spawn(talker, { id: 't1' })).prompt('hi').result
      const inspector = await openInspector(context, server.port, { hash: '#agent=t1' })
      const { page } = inspector
      await inspector.isIn('idle')
      await page.evaluate(`document.addEventListener('keydown', (event) => setTimeout(() => {
      document.documentElement.dataset.taken = String(event.defaultPrevented)
    }))`)
      await page.keyboard.press('Control+f')
      await until(page, `document.activeElement?.id === 'search'`)
      await until(page, `document.documentElement.dataset.taken === 'true'`)
      await page.keyboard.press('Control+f')
      await until(page, `document.documentElement.dataset.taken === 'false'`)
      await page.keyboard.press('Escape')
      // What is about no message is shown where all that happened is.
      await page.keyboard.press('3')
      await page.keyboard.press('/')
      await until(page, `document.activeElement?.id === 'search'`)
      await page.keyboard.type('after 1 turn')
      await inspector.sees('1 match')
      await page.keyboard.press('Enter')
      await until(page, `document.querySelector('.bar-row.is-hit')?.ariaSelected === 'true'`)
      assert.equal(await axeViolations(page), [])
      checkProblems(context)
    },
  )
})
