import { readFile } from 'node:fs/promises'
import { deflateSync } from 'node:zlib'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { memoryStore } from '../../../../stores/src/memory/memoryStore.ts'
import { scriptedModel } from '../../../../evaluation/src/testing/scriptedModel.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import { calls, gate, tool } from '../../../../../test/support/agentHarness.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'

const token = 'a-token-of-16-characters'
const log = Array.from({ length: 300 }, (_, index) => `line ${index + 1} of the log`).join('\n')
const html = `<title>taken</title><script>document.title = 'taken'</script>${'<p>x</p>'.repeat(300)}`
const base64 = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString('base64')

/** A red picture of so many points each way. */
function png(size: number): Buffer {
  const row = Buffer.concat([Buffer.from([0]), Buffer.from('ff0000'.repeat(size), 'hex')])
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const chunk = (type: string, data: Buffer): Buffer => {
    const out = Buffer.alloc(12 + data.length)
    out.writeUInt32BE(data.length, 0)
    out.write(type, 4, 'latin1')
    data.copy(out, 8)
    out.writeUInt32BE(crc(out.subarray(4, 8 + data.length)), 8 + data.length)
    return out
  }
  const data = deflateSync(Buffer.concat(Array.from({ length: size }, () => row)))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))])
}

function crc(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of bytes) {
    value ^= byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  }
  return (value ^ 0xffffffff) >>> 0
}

const media = [
  { type: 'image', data: base64(png(600)), mimeType: 'image/png' },
  { type: 'image', data: base64('no picture'), mimeType: 'image/jpeg' },
  {
    type: 'file',
    data: base64(html),
    mimeType: 'text/html',
    name: 'a page with a rather long name, as people give them.html',
  },
  { type: 'file', data: base64('%PDF'), mimeType: 'application/pdf', name: 'a.pdf' },
] as const

/** An agent whose first result keeps a text, and its second pictures and files. */
async function serveKeeper(context: PageContext) {
  const store = memoryStore()
  const keeper = defineAgent({
    name: 'keeper',
    model: scriptedModel([calls('a', 'read'), calls('b', 'shoot'), 'done']),
    tools: [tool('read', () => log), tool('shoot', () => [...media])],
    artifacts: { overChars: 1_000, overMediaBytes: 1 },
    captureTurnRequests: true,
  })
  const serving = await serveInspector(context, [keeper], { tokens: { [token]: 'admin' }, runtime: { store } })
  const agent = await serving.runtime.spawn(keeper, { id: 'k1' })
  await agent.prompt('Go.').result
  return { ...serving, store }
}

/** The page at a message, with its token. */
async function openAt(context: PageContext, port: number, node: string) {
  const inspector = await openInspector(context, port, { hash: `#agent=k1&node=${node}&token=${token}` })
  const row = inspector.page.locator('.conversation-row.is-call.is-selected')
  await row.waitFor()
  return { ...inspector, row }
}

describeInChromium('what results keep, on the inspector page', (it) => {
  it('is opened and saved by the keyboard, with the token in no address', { timeoutMs: 60_000 }, async (context) => {
    const { server } = await serveKeeper(context)
    const addresses: string[] = []
    context.page.on('request', (request) => addresses.push(request.url()))
    const { page, row } = await openAt(context, server.port, 'n3')
    const tree = page.locator('[role="tree"].conversation-scroll')
    await tree.focus()
    const details = page.locator('.details-part .artifact')
    assert.match((await details.textContent())!, /^artifact_[0-9a-f]{12}5\.9 KB, text\/plain/)

    await details.getByRole('button', { name: /^Open artifact_.*\.txt in a new tab$/ }).focus()
    const [opened] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Enter')])
    await opened.waitForLoadState()
    assert.is(await opened.evaluate('document.body.textContent'), log)
    assert.equal([opened.url().startsWith('blob:'), await opened.evaluate('opener === null')], [true, true])
    await opened.close()

    await page.bringToFront()
    await details.getByRole('button', { name: /^Save artifact_.*\.txt$/ }).focus()
    const [saved] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
    assert.match(saved.suggestedFilename(), /^artifact_[0-9a-f]{12}\.txt$/)
    assert.is(await readFile(await saved.path(), 'utf8'), log)
    await saved.delete()

    // In the row, too: it need not be opened to see that there is more.
    await row.getByText('full result saved').waitFor()
    const asked = addresses.filter((address) => address.includes('/artifacts/'))
    assert.is(asked.length, 1, asked.join(' '))
    assert.equal(
      addresses.filter((address) => address.includes(token)),
      [],
    )
    checkProblems(context)
  })

  it('shows pictures in their place, and opens nothing that could act', { timeoutMs: 60_000 }, async (context) => {
    const { server } = await serveKeeper(context)
    const { page, row, problems } = await openAt(context, server.port, 'n5')
    await row.dblclick({ position: { x: 60, y: 10 } })
    for (const place of [row, page.locator('.details-part')]) {
      const picture = place.getByRole('img', { name: 'Kept picture (image/png)' })
      await picture.scrollIntoViewIfNeeded()
      const size = await picture.evaluate((image) => {
        const { naturalWidth, clientHeight } = image as unknown as { naturalWidth: number; clientHeight: number }
        return [naturalWidth, clientHeight <= 200]
      })
      assert.equal(size, [600, true])
      await place.getByText('The picture is not shown. It is damaged.').waitFor()
    }
    const details = page.locator('.details-part')
    const pdf = details.getByRole('button', { name: 'Open a.pdf in a new tab' })
    assert.equal(
      [await pdf.getAttribute('aria-disabled'), await pdf.getAttribute('title')],
      ['true', 'Only text and pictures can be opened. Save it.'],
    )
    const openHtml = details.getByRole('button', { name: /^Open a page .*\.html in a new tab$/ })
    const [opened] = await Promise.all([page.context().waitForEvent('page'), openHtml.click()])
    await opened.waitForLoadState()
    assert.equal(
      [await opened.evaluate('document.contentType'), await opened.evaluate('document.body.textContent')],
      ['text/plain', html],
    )
    assert.is.not(await opened.title(), 'taken')
    checkProblems({ page, problems })
  })

  it('says when it is gone, and lets a person give up', { timeoutMs: 60_000 }, async (context) => {
    const { server, store } = await serveKeeper(context)
    const asked = gate<undefined>()
    const { page, problems } = await openAt(context, server.port, 'n3')
    const details = page.locator('.details-part .artifact')
    const slow = gate<undefined>()
    await page.route('**/artifacts/*', async (route) => {
      asked.resolve(undefined)
      await slow.promise
      await route.abort().catch(() => {})
    })
    await details.getByRole('button', { name: /^Save/ }).click()
    await details.getByText('Reading it …').waitFor()
    await asked.promise
    await details.getByRole('button', { name: /^Cancel/ }).click()
    await details.getByText('Reading it …').waitFor({ state: 'detached' })
    slow.resolve(undefined)
    await page.unroute('**/artifacts/*')
    // As after a long time: no browser opens a tab then.
    await page.evaluate(
      `Object.defineProperty(navigator, 'userActivation', { configurable: true, value: { isActive: false } })`,
    )
    await details.getByRole('button', { name: /^Open/ }).click()
    await details.getByText(/press Open/).waitFor()
    await page.evaluate('delete navigator.userActivation')
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      details.getByRole('button', { name: /^Open/ }).click(),
    ])
    await opened.close()
    await page.evaluate('location.reload()')
    await details.waitFor()
    Object.assign(store.snapshots!, { get: async () => undefined })
    await details.getByRole('button', { name: /^Save/ }).click()
    await details.getByText(/It is no longer kept/).waitFor()
    checkProblems({ page, problems }, /404/)
  })

  it('stands with the request that named it', { timeoutMs: 60_000 }, async (context) => {
    const { server } = await serveKeeper(context)
    const inspector = await openInspector(context, server.port, {
      hash: `#agent=k1&view=requests&turn=3&token=${token}`,
    })
    const { page } = inspector
    await page
      .getByRole('button', { name: /unchanged/ })
      .first()
      .click()
    await page.locator('.request-message .artifact').nth(1).waitFor()
    const kept = await page
      .locator('.request-message')
      .filter({ has: page.locator('.artifact') })
      .count()
    assert.is(kept, 2)
    const open = page.locator('.request-message').getByRole('button', { name: /^Open artifact_.*\.txt/ })
    const [opened] = await Promise.all([page.context().waitForEvent('page'), open.click()])
    await opened.waitForLoadState()
    assert.is(await opened.evaluate('document.body.textContent'), log)
    checkProblems(context)
  })

  for (const width of [375, 1024, 1440]) {
    const look = { viewport: { width, height: 800 }, reducedMotion: 'reduce', timeoutMs: 60_000 } as const
    it(`fits ${width} px, and axe finds nothing in light or dark`, look, async (context) => {
      const { server } = await serveKeeper(context)
      const { page, row, tab, problems } = await openAt(context, server.port, 'n5')
      const check = async (what: string): Promise<void> => {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          await until(page, `document.getAnimations().every(({ playState }) => playState !== 'running')`)
          assert.equal(await axeViolations(page), [], `${what} in ${colorScheme}`)
        }
        const wide = await page.evaluate(`[...document.querySelectorAll('.artifact, .artifact *')]
          .filter((element) => element.getClientRects().length > 0 && element.className !== 'hidden' &&
            element.getBoundingClientRect().right > innerWidth + 1)
          .map((element) => element.className || element.tagName)`)
        assert.equal(wide, [], `${what} is wider than the page`)
      }
      await row.locator('.conversation-chevron').click()
      await row.locator('.artifact').first().waitFor()
      await row.getByRole('img', { name: 'Kept picture (image/png)' }).waitFor()
      await check('a row')
      if (width < 700) await tab('Details').click()
      await page.locator('.details-part .artifact').first().waitFor()
      await page.locator('.details-part').getByText('It is damaged.').waitFor()
      await check('the details')
      if (width < 700) await page.locator('#part-agent').click()
      await tab('Requests').click()
      await page.locator('.request-message .artifact').first().waitFor()
      await check('a request')
      checkProblems({ page, problems })
    })
  }
})
