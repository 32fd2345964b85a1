import type { Page } from 'playwright-core'
import { checkProblems, describeInChromium, type PageContext } from '../browser/chromium.ts'
import { axeViolations } from '../../packages/page/test/inspector/axe.ts'
import { wantsAll } from '../support/seeds.ts'
import { assert, isCi } from '../support/suite.ts'
import { buildMs, builtSite } from './builtSite.ts'
import { servedSite } from './servedSite.ts'
import { sitePackages } from './sitePackages.ts'

/** Pages of each kind. */
const kinds = {
  start: '/unreleased/',
  guide: '/unreleased/guide/',
  API: '/unreleased/api/escapement/interfaces/agent-options/',
  playground: '/unreleased/playground/',
  'who comes from elsewhere': '/unreleased/coming-from/lang-graph/',
  charts: '/unreleased/charts/',
} as const

const playground = '#live-playground'

/** Until the agent of the playground waits for a step. */
const waits = (page: Page): Promise<unknown> =>
  page.getByRole('status').filter({ hasText: 'The model waits' }).waitFor()

/** Opens the search by its keys, once it is there, and types. */
async function search(page: Page, words: string): Promise<void> {
  await page.locator('#starlight__search input').waitFor({ state: 'attached' })
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Search' }).fill(words)
}

/** Words that people search for, and the page that says how. Written before the search was tuned; it may miss two. */
const questions: Readonly<Record<string, RegExp>> = {
  approval: /^(?:guide\/tools|permissions)\//,
  retry: /^guide\/limits\//,
  'resume after crash': /^durability\//,
  'cost limit': /^guide\/limits\//,
  abort: /^guide\/agents\//,
  'stop an agent that loops': /^braking\//,
  'redact secrets': /^(?:debugging|security)\//,
  steer: /^guide\/agents\//,
  'sub-agent': /^sub-agents\//,
  'structured output': /^guide\/answers\//,
  'prompt caching': /^guide\/models\//,
  'deny a tool call': /^(?:guide\/(?:tools|hooks)|permissions)\//,
  guardrails: /^guide\/hooks\//,
  websocket: /^guide\/over-web-socket\//,
  'react hook': /^react\//,
  'mcp server': /^mcp\//,
  fold: /^braking\//,
  dependencies: /^guide\/application\//,
  memory: /^memory\//,
  cron: /^schedules\//,
}

/** Until the page has taken a new size in. */
const settles = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')

describeInChromium('the documentation site in a browser', (it) => {
  const onSite = (title: string, body: (context: PageContext & { readonly origin: string }) => Promise<void>): void => {
    it(title, { timeoutMs: buildMs }, async (context) => {
      if (!sitePackages.isThere() && !isCi()) return
      const origin = await servedSite(context, await builtSite(context.signal))
      await body({ ...context, origin })
      checkProblems(context)
    })
  }

  for (const [at, [kind, path]] of Object.entries(kinds).entries())
    onSite(`is free of what axe-core finds, at any width: ${kind}`, async ({ page, origin }) => {
      // The schemes differ in colours alone, which all pages share: each page is looked at in one, or in both with all seeds.
      const schemes = ['light', 'dark'] as const
      for (const colorScheme of wantsAll ? schemes : [schemes[at % 2]!]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width: 1440, height: 900 })
        await page.goto(origin + path)
        if (kind === 'playground') await waits(page)
        await settles(page)
        assert.equal(await axeViolations(page), [], `${kind}, ${colorScheme}`)
        for (const width of [1024, 375]) {
          await page.setViewportSize({ width, height: 800 })
          await settles(page)
          const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
          assert.ok(beyond <= 0, `at ${width} px nothing is wider than the page, but ${kind} is by ${beyond} px`)
        }
        assert.equal(await axeViolations(page), [], `${kind}, ${colorScheme}, narrow`)
      }
    })

  onSite('finds what is searched for, in words of its pages', async ({ page, origin }) => {
    await page.goto(`${origin}/unreleased/`)
    await search(page, 'recall folded steps')
    const found = page.locator('.pagefind-ui__result-link', { hasText: 'The braking layer' }).first()
    await found.waitFor()
    await found.click()
    await page.waitForURL(/\/unreleased\/braking\//)
  })

  onSite('finds the page that explains a word before the types that are named by it', async ({ page, origin }) => {
    await page.goto(`${origin}/unreleased/`)
    await search(page, 'stall')
    const first = page.locator('.pagefind-ui__result').first()
    const address = await first.locator('.pagefind-ui__result-link').first().getAttribute('href')
    assert.ok(!address!.includes('/api/'), address!)
  })

  onSite('answers questions by the page that says how, first', async ({ page, origin }) => {
    await page.goto(`${origin}/unreleased/`)
    const missed: string[] = []
    for (const [words, address] of Object.entries(questions)) {
      await search(page, words)
      await page.locator('.pagefind-ui__message', { hasText: `for ${words}` }).waitFor()
      // Each result is loaded on its own: a link of the second may be there before that of the first.
      const result = page.locator('.pagefind-ui__result').first()
      const first = await result.locator('.pagefind-ui__result-link').first().getAttribute('href')
      if (!address.test(first!.replace('/unreleased/', ''))) missed.push(`${words}: ${first!}`)
      await page.keyboard.press('Escape')
    }
    assert.ok(missed.length <= 2, missed.join('\n'))
  })

  onSite('leads to the same page of another version, by the keyboard too', async ({ page, origin }) => {
    await page.goto(`${origin}/unreleased/guide/`)
    const menu = page.locator('header .version-menu')
    await menu.locator('summary').focus()
    await page.keyboard.press('Enter')
    await menu.getByRole('link', { name: '0.0.9' }).waitFor()
    await page.keyboard.press('Escape')
    assert.is(await menu.getAttribute('open'), null)
    await page.keyboard.press('Enter')
    await menu.getByRole('link', { name: '0.0.9' }).click()
    await page.waitForURL(`${origin}/guide/`)
    await page.getByText('As it was, without a playground.').waitFor()
    // A page that the other version does not have leads to its start.
    await page.goto(`${origin}/unreleased/playground/`)
    await menu.locator('summary').click()
    assert.is(await menu.getByRole('link', { name: '0.0.9' }).getAttribute('href'), '/')
  })

  onSite('says of pages of what is not released that they are', async ({ page, origin }) => {
    await page.goto(`${origin}/unreleased/guide/`)
    const banner = page.getByText('This is the documentation of what is not released yet.')
    await banner.waitFor()
    assert.is(await page.getByRole('link', { name: 'The newest release is 0.0.9.' }).getAttribute('href'), '/guide/')
    await page.goto(`${origin}/guide/`)
    assert.is(await banner.count(), 0)
  })

  onSite('runs the sort demo in a page, an answer at a time', async ({ page, origin }) => {
    await page.goto(`${origin}/unreleased/playground/`)
    const step = page.getByRole('button', { name: 'Step' })
    const asked = page.getByRole('heading', { name: /What the model is asked/ })
    await waits(page)
    assert.match(await asked.innerText(), /1 message$/)
    await step.press('Enter')
    await page.locator('.playground-events').getByText('tool.start read_file').waitFor()
    await waits(page)
    assert.match(await asked.innerText(), /3 messages$/)
    await page.getByRole('button', { name: 'Play' }).click()
    // Bubble sort is stopped by the limit, on any machine.
    await page
      .locator(playground)
      .getByText(/bubble sort is too slow/)
      .first()
      .waitFor({ timeout: 60_000 })
    await page.getByRole('status').filter({ hasText: 'Done: sort.mjs is a merge sort' }).waitFor({ timeout: 60_000 })
    await page.locator('.playground-events').getByText('revert.applied').waitFor()
    assert.is(await step.isDisabled(), true)
    await page.getByRole('button', { name: 'Start over' }).click()
    await waits(page)
    assert.match(await asked.innerText(), /1 message$/)
  })

  onSite('draws the chart of an agent as the reader sets it', async ({ page, origin }) => {
    await page.goto(`${origin}/unreleased/charts/`)
    const chart = page.locator('#live-chart')
    const words = async (): Promise<string> => (await chart.locator('svg desc').textContent()) ?? ''
    await chart.locator('svg').waitFor()
    const before = await words()
    await chart.getByRole('checkbox', { name: 'fold' }).check()
    await page.waitForFunction(`document.querySelector('#live-chart svg .open')`)
    await chart.getByRole('combobox').selectOption('executing')
    await page.waitForFunction(
      `document.querySelector('#live-chart svg desc').textContent !== ${JSON.stringify(before)}`,
    )
    assert.match(await words(), /executing/)
  })

  onSite('shows a session that was recorded, and code in colours', async ({ page, origin }) => {
    await page.goto(`${origin}/unreleased/`)
    const colours = await page.evaluate<number>(
      `new Set([...document.querySelectorAll('.hero .ec-line span')].map((word) => getComputedStyle(word).color)).size`,
    )
    assert.ok(colours > 3, `${colours} colours`)
    await page.getByRole('link', { name: 'Open this session' }).click()
    await page.getByRole('link', { name: 'Open the session' }).click()
    await page.waitForURL(/\/unreleased\/recorded\.html/)
    await page.getByText('Done: sort.mjs is a merge sort').waitFor()
    await page.getByText('Lesson').first().waitFor()
  })

  onSite('keeps its menu within reach of a narrow page', async ({ page, origin }) => {
    await page.setViewportSize({ width: 375, height: 700 })
    await page.goto(`${origin}/unreleased/`)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Policies' }).click()
    await page.waitForURL(/\/unreleased\/policies\//)
  })
})
