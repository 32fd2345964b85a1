import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { sessionPage } from '../../src/sessionPages/writeSessionPages.ts'
import { checkProblems, describeInChromium } from '../../../../test/browser/chromium.ts'
import { axeViolations } from '../inspector/axe.ts'
import { waitFactor } from '../../../../test/support/deadline.ts'
import { assert } from '../../../../test/support/suite.ts'
import { offlinePage, someFolder, writtenPages } from './offlinePage.ts'
import { recordedSessions } from './recordedSessions.ts'

/** Notes down all that a page asks for. */
function requestsOf(page: Page): string[] {
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  page.setDefaultTimeout(12_000 * waitFactor())
  return asked
}

const sees = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor()

/** Goes to another address of the page, loading it anew. */
async function load(page: Page, address: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(address)
}

const views = [
  { hash: '#agent=boss-1', landmark: '.conversation-row' },
  { hash: '#agent=boss-1.1', landmark: '.conversation-row' },
  { hash: '#agent=boss-1.1&node=n4', landmark: '.details h2, .details h3' },
  { hash: '#agent=boss-1.1&view=chart', landmark: '.chart-box' },
  { hash: '#agent=boss-1&view=chart&look=full', landmark: '.chart-box[data-state="replying.streaming"]' },
  {
    hash: '#agent=boss-1&view=chart&look=actors',
    landmark: 'section[aria-label="Agents of the tree"] .actors, section[aria-label="Agents of the tree"] svg',
  },
  { hash: '#agent=boss-1&view=timeline', landmark: '.bar-row' },
  { hash: '#agent=boss-1.1&view=timeline&as=log', landmark: '.event-row' },
  { hash: '#agent=clerk-1&view=requests', landmark: '.request-message' },
  { hash: '#agent=boss-1.1&view=context', landmark: '.panel h2, .panel h3' },
  { hash: '#agent=boss-1.1&at=10', landmark: '.conversation-row' },
  { hash: '#agent=clerk-1&with=boss-1', landmark: '.compare' },
] as const

describeInChromium('the page for sessions, opened from a disk', (it) => {
  it('draws every view, asks nobody for anything, and is sound for axe', { timeoutMs: 120_000 }, async (context) => {
    const { page } = context
    const asked = requestsOf(page)
    const { address } = await writtenPages(context, await recordedSessions(), ['boss-1', 'clerk-1'])
    const wrong: string[] = []
    for (const { hash, landmark } of views) {
      await load(page, address + hash)
      await page.locator(landmark).first().waitFor({ state: 'attached' })
      for (const violation of await axeViolations(page)) wrong.push(`${hash}: ${violation}`)
    }
    assert.equal(wrong, [])
    assert.equal(
      asked.filter((url) => !/^(file|about|data|blob):/.test(url)),
      [],
    )
    assert.not.ok(await page.evaluate('globalThis.isTaken === true'))
    checkProblems(context)
  })

  it('loads only the file of the session that it shows', { timeoutMs: 30_000 }, async (context) => {
    const { page } = context
    const asked = requestsOf(page)
    const { address } = await writtenPages(context, await recordedSessions(), ['boss-1', 'clerk-1'])
    await page.goto(`${address}#agent=boss-1.2`)
    await sees(page, 'There is nothing to be seen.')
    const scripts = (): string[] => asked.flatMap((url) => /sessions\/.*$/.exec(url) ?? [])
    assert.equal(scripts(), ['sessions/boss-1.js'])
    // Lists know the others by the index.
    await page.getByRole('tree').getByText('clerk-1').first().waitFor()
    await sees(page, 'A recording: nothing runs here.')
    assert.match(await page.title(), / · escapement$/)
    await page.getByRole('tree').getByText('clerk-1').first().click()
    await sees(page, 'Is it there?')
    assert.equal(scripts(), ['sessions/boss-1.js', 'sessions/clerk-1.js'])
    checkProblems(context)
  })

  it(
    'goes from a sub-agent’s call to the sub-agent, back, and to a moment of the past',
    { timeoutMs: 30_000 },
    async (context) => {
      const { page } = context
      requestsOf(page)
      const { address } = await writtenPages(context, await recordedSessions(), ['boss-1'])
      await page.goto(`${address}#agent=boss-1`)
      await page.locator('a[href^="#agent=boss-1.1"]').first().click()
      await page.getByRole('main', { name: 'Agent boss-1.1' }).waitFor()
      await page.goBack()
      await page.getByRole('main', { name: 'Agent boss-1', exact: true }).waitFor()
      await page.goto(`${address}#agent=boss-1.1&at=5`)
      await sees(page, 'as of record 5')
      checkProblems(context)
    },
  )

  it('opens what a result keeps whole', { timeoutMs: 30_000 }, async (context) => {
    const { page } = context
    requestsOf(page)
    const { address } = await writtenPages(context, await recordedSessions(), ['clerk-1'])
    await page.goto(`${address}#agent=clerk-1&node=n3`)
    await page.locator('img[src^="blob:"]').first().waitFor()
    const width = await page
      .locator('img[src^="blob:"]')
      .first()
      .evaluate((image) => (image as unknown as { readonly naturalWidth: number }).naturalWidth)
    assert.is(width, 1)
    const saving = page.waitForEvent('download')
    await page
      .getByRole('button', { name: /^Save / })
      .first()
      .click()
    const text = await readFile(await (await saving).path(), 'utf8')
    assert.ok(text.length > 0)
    checkProblems(context)
  })

  it(
    'tells what is wrong with a file that is damaged, missing or of a newer version, and shows the others',
    { timeoutMs: 60_000 },
    async (context) => {
      const { page } = context
      requestsOf(page)
      const { folder, address } = await writtenPages(context, await recordedSessions(), ['boss-1', 'clerk-1'])
      const file = join(folder, 'sessions', 'boss-1.js')
      const whole = await readFile(file, 'utf8')
      const damages: readonly (readonly [string, string])[] = [
        [whole.slice(0, whole.length / 2), 'sessions/boss-1.js is damaged, or not a file of this page.'],
        [
          whole.replace(/"data":"(.{40})./, '"data":"$1!'),
          'sessions/boss-1.js is damaged, or not a file of this page.',
        ],
        ['', 'sessions/boss-1.js is damaged, or not a file of this page.'],
        [
          whole.replace('"version":1', '"version":2'),
          'sessions/boss-1.js was written by a newer version of escapement than this page.',
        ],
      ]
      for (const [text, told] of damages) {
        await writeFile(file, text)
        await load(page, `${address}#agent=boss-1`)
        await sees(page, told)
      }
      await rm(file)
      await load(page, `${address}#agent=boss-1.1`)
      await sees(page, 'sessions/boss-1.js is not beside this page, or cannot be read.')
      assert.equal(await axeViolations(page), [])
      await load(page, `${address}#agent=clerk-1`)
      await sees(page, 'Is it there?')
      checkProblems(context, /SyntaxError|Unexpected|Invalid or|ERR_FILE_NOT_FOUND/)
    },
  )

  it('tells when its list of sessions is missing or of a newer version', { timeoutMs: 30_000 }, async (context) => {
    const { page } = context
    requestsOf(page)
    const { folder, address } = await writtenPages(context, await recordedSessions(), ['boss-1'])
    const index = join(folder, 'sessions.js')
    await writeFile(index, (await readFile(index, 'utf8')).replace('"version":1', '"version":7'))
    await page.goto(`${address}#agent=boss-1`)
    await sees(page, 'sessions.js was written by a newer version')
    await rm(index)
    await load(page, address)
    await sees(page, 'sessions.js is not beside this page')
    checkProblems(context, /ERR_FILE_NOT_FOUND/)
  })

  it('says of a session that was cut off what it has', { timeoutMs: 30_000 }, async (context) => {
    const { page } = context
    requestsOf(page)
    const { address } = await writtenPages(context, await recordedSessions(), ['boss-1'], { recordBytes: 2_000 })
    await page.goto(`${address}#agent=boss-1`)
    await sees(page, /This session is too large for a page\. It has the first \d+ of \d+ records of boss-1/)
    await sees(page, 'Deploy to both.')
    checkProblems(context)
  })

  it('is one file that has everything in itself, if that is wanted', { timeoutMs: 30_000 }, async (context) => {
    const { page } = context
    const asked = requestsOf(page)
    await offlinePage()
    const file = join(await someFolder(context), 'clerk.html')
    await writeFile(file, await sessionPage(await recordedSessions(), 'clerk-1'))
    const address = pathToFileURL(file).href
    await page.goto(address)
    await sees(page, 'Is it there?')
    await page.getByText('Done', { exact: true }).first().waitFor()
    await load(page, `${address}#agent=clerk-1&view=timeline`)
    await page.locator('.bar-row').first().waitFor()
    assert.equal(await axeViolations(page), [])
    assert.equal(
      [...new Set(asked.filter((url) => url.startsWith('file:')).map((url) => url.replace(/#.*/, '')))],
      [address],
    )
    assert.not.ok(await page.evaluate('globalThis.isTaken === true'))
    checkProblems(context)
  })

  it('runs no script that came with what was said, and none from elsewhere', { timeoutMs: 30_000 }, async (context) => {
    const { page, problems } = context
    requestsOf(page)
    const { address } = await writtenPages(context, await recordedSessions(), ['clerk-1'])
    await page.goto(`${address}#agent=clerk-1`)
    await sees(page, 'Is it there?')
    await page.evaluate(`
      const inline = document.createElement('script')
      inline.textContent = 'globalThis.isTaken = true'
      document.body.append(inline)
      const far = document.createElement('script')
      far.src = 'https://example.com/a.js'
      document.body.append(far)
      fetch('https://example.com/').catch(() => { globalThis.isRefused = true })`)
    await page.waitForFunction('globalThis.isRefused === true')
    assert.not.ok(await page.evaluate('globalThis.isTaken === true'))
    assert.ok(
      problems.length >= 2 && problems.every((problem) => /Content Security Policy/.test(problem)),
      problems.join('\n'),
    )
  })
})
