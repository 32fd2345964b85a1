import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, styleOf, until, type OpenInspector } from '../inspectorHarness.ts'

const dig = defineTool({
  name: 'dig',
  description: 'Digs.',
  input: z.object({ depth: z.number() }),
  run: ({ depth }) => `Nothing ${depth} metres down. `.repeat(40),
})
const blast = defineTool({
  name: 'blast',
  description: 'Blasts.',
  input: z.object({ charge: z.string() }),
  needsApproval: true,
  run: () => 'It went off.',
})
/** Digs twice, then says that there is nothing; "blast" makes it ask. */
const miner = defineAgent({
  name: 'miner',
  model: policyModel(({ messages }) => {
    const results = messages.filter(({ role }) => role === 'toolResult').length
    const said = JSON.stringify(messages)
    if (said.includes('break')) throw new Error('The rope broke')
    if (said.includes('blast it') && !said.includes('It went off.'))
      return { toolCalls: [{ name: 'blast', input: { charge: 'large' } }] }
    return results % 2 === 1 || results === 0
      ? { text: 'I dig.', toolCalls: [{ name: 'dig', input: { depth: results + 1 } }] }
      : 'There is nothing.'
  }),
  tools: [dig, blast],
  braking: { revert: true, prune: true },
  retry: { attempts: 1 },
})

async function serveMine(context: PageContext) {
  const serving = await serveInspector(context, [miner])
  const agent = await serving.runtime.spawn(miner, { id: 'old' })
  await agent.prompt('Find gold below the old mill.').result
  return { ...serving, agent }
}

const heightOf = ({ page }: OpenInspector, selector: string): Promise<number> =>
  page.evaluate(`document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().height`)
const focusIsIn = (selector: string): string => `document.activeElement?.closest(${JSON.stringify(selector)}) !== null`

describeInChromium('the frame of the inspector page', (it) => {
  const at1024 = { viewport: { width: 1024, height: 768 }, reducedMotion: 'reduce', timeoutMs: 60_000 } as const
  it('lays details over an agent at 1024 px, and gives the focus back', at1024, async (context) => {
    const { server } = await serveMine(context)
    const inspector = await openInspector(context, server.port, { hash: '#agent=old' })
    const { page } = inspector
    await page.locator('.conversation-row').first().waitFor()
    const details = page.locator('#details')
    assert.is(await details.isVisible(), false)
    assert.ok((await heightOf(inspector, '.panel')) >= 320)

    await page.locator('[role="tree"].conversation-scroll').focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /n1 User message/ }).waitFor()
    await until(page, focusIsIn('#details'))
    assert.equal(await axeViolations(page), [])
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'hidden' })
    await until(page, focusIsIn('.conversation-scroll'))

    await inspector.button('Details').focus()
    await page.keyboard.press('Enter')
    await until(page, focusIsIn('#details'))
    await inspector.button('Close details').click()
    await until(page, focusIsIn('.drawer-button'))
    await page.keyboard.press('d')
    await details.waitFor()
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'hidden' })
    checkProblems(context)
  })

  it('keeps room for the conversation while calls wait', { ...at1024 }, async (context) => {
    const { server, agent } = await serveMine(context)
    const asked = Promise.withResolvers<void>()
    agent.subscribe(({ type }) => {
      if (type === 'approval.requested') asked.resolve()
    })
    void agent.prompt('Well, blast it.')
    await asked.promise
    const inspector = await openInspector(context, server.port, { hash: '#agent=old' })
    await inspector.page.locator('.approvals').waitFor()
    await inspector.sees('waits for you', inspector.state)
    assert.ok((await heightOf(inspector, '.panel')) >= 320)
  })

  const phone = { viewport: { width: 375, height: 812 }, timeoutMs: 60_000 } as const
  it('has at most 150 px above what an agent says on a phone', phone, async (context) => {
    const { server } = await serveMine(context)
    const inspector = await openInspector(context, server.port, { hash: '#agent=old' })
    await inspector.page.locator('.conversation-row').first().waitFor()
    const top: number = await inspector.page.evaluate(`document.querySelector('.panel').getBoundingClientRect().top`)
    assert.ok(top <= 150, `${top} px`)
  })

  const wide = { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', timeoutMs: 60_000 } as const
  it('has the focus where a key says before any other key can come, on a phone too', phone, async (context) => {
    const { server } = await serveMine(context)
    const { page } = await openInspector(context, server.port, { hash: '#agent=old' })
    await page.locator('#prompt').waitFor()
    /** Focus after a key, without a task, timer or frame in between. */
    const focusAfter = (key: string): Promise<unknown> =>
      page.evaluate(`(async () => {
        document.activeElement.blur()
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }))
        for (let microtask = 0; microtask < 20; microtask += 1) await null
        return document.activeElement.id
      })()`)
    assert.is(await focusAfter('a'), 'agents')
    assert.is(await focusAfter('p'), 'prompt')
    // The first time its code may still be on its way.
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    await page.locator('#search').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('#search').waitFor({ state: 'detached' })
    assert.is(await focusAfter('a'), 'agents')
    assert.is(await focusAfter('/'), 'search')
    checkProblems(context)
  })

  it('is as wide and as dark as a person made it, also after a reload', wide, async (context) => {
    const { server } = await serveMine(context)
    const inspector = await openInspector(context, server.port, { hash: '#agent=old' })
    const { page } = inspector
    await page.locator('.conversation-row').first().waitFor()
    const width = (): Promise<number> =>
      page.evaluate(`document.querySelector('#details').getBoundingClientRect().width`)
    const edge = page.getByRole('separator', { name: 'Width of the details' })
    assert.is(await width(), 344)
    await edge.focus()
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('ArrowLeft')
    await until(page, `document.querySelector('#details').getBoundingClientRect().width === 392`)
    const box = await edge.boundingBox()
    await page.mouse.move(box!.x + 4, 300)
    await page.mouse.down()
    await page.mouse.move(box!.x - 46, 300)
    await page.mouse.up()
    assert.is(await width(), 442)
    const body = page.locator('body')
    assert.is(await styleOf(body, 'background-color'), 'rgb(246, 246, 244)')
    await page.getByRole('button', { name: 'Colours: as the system' }).click()
    await page.getByRole('button', { name: 'Colours: light' }).click()
    await page.getByRole('button', { name: 'Colours: dark' }).waitFor()
    assert.is(await styleOf(body, 'background-color'), 'rgb(19, 20, 22)')
    await page.reload()
    await page.locator('.conversation-row').first().waitFor()
    assert.equal([await width(), await styleOf(body, 'background-color')], [442, 'rgb(19, 20, 22)'])
    await edge.dblclick()
    assert.is(await width(), 344)
    checkProblems(context)
  })

  it('works where a browser refuses storage', wide, async (context) => {
    const { server } = await serveMine(context)
    const refuse = `for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, { get() { throw new DOMException('no', 'SecurityError') } })`
    await context.page.addInitScript(refuse)
    const inspector = await openInspector(context, server.port, { hash: '#agent=old' })
    const { page } = inspector
    await page.locator('.conversation-row').first().waitFor()
    await page.getByRole('button', { name: 'Colours: as the system' }).click()
    await page.getByRole('button', { name: 'Colours: light' }).waitFor()
    checkProblems(context)
  })

  it('names an agent by what it is about, and its failure in words', wide, async (context) => {
    const { server, agent } = await serveMine(context)
    const inspector = await openInspector(context, server.port, { hash: '#agent=old' })
    const { page } = inspector
    await page.getByRole('heading', { level: 1, name: 'Find gold below the old mill.' }).waitFor()
    await inspector.sees('miner · old', page.locator('.agent-line'))
    await agent.prompt('Pull until it breaks: break').result
    await inspector.sees(/^failed: /, inspector.state)
    assert.match((await inspector.state.getAttribute('title')) ?? '', 'The rope broke')
    assert.equal(await axeViolations(page), [])
    const again = new Promise<void>((resolve) => {
      agent.subscribe(({ type }) => {
        if (type === 'run.end') resolve()
      })
    })
    await page.getByRole('button', { name: /^Retry/ }).click()
    await again
    await inspector.sees(/^failed: /, inspector.state)
    // It went on with the same prompt.
    assert.is(await page.locator('.conversation-row').filter({ hasText: 'Pull until it breaks' }).count(), 1)
  })
})

describeInChromium('help on the inspector page', (it) => {
  for (const [width, colorScheme] of [
    [1440, 'dark'],
    [375, 'light'],
  ] as const)
    it(
      `tells who is here for the first time how to begin, once, at ${width} px`,
      { viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce', timeoutMs: 60_000 },
      async (context) => {
        const { server } = await serveInspector(context, [miner])
        const inspector = await openInspector(context, server.port)
        const { page } = inspector
        const hint = page.getByRole('region', { name: 'First steps' })
        await hint.waitFor()
        assert.equal(await axeViolations(page), [])
        await inspector.button('the legend').click()
        const dialog = page.getByRole('dialog', { name: 'Help' })
        await inspector.sees('lesson', dialog)
        assert.equal(await axeViolations(page), [])
        await dialog.getByRole('tab', { name: 'Marks' }).focus()
        await page.keyboard.press('ArrowRight')
        await inspector.sees('Time slider on and off', dialog)
        assert.equal(await axeViolations(page), [])
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
        await inspector.button('Got it').click()
        await hint.waitFor({ state: 'detached' })
        await page.reload()
        await inspector.sees('No agent yet')
        assert.is(await hint.count(), 0)
        checkProblems(context)
      },
    )
})

describeInChromium('what an agent had in view', (it) => {
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [1024, 'dark'],
    [375, 'light'],
  ] as const)
    it(
      `is drawn and counted at ${width} px in ${colorScheme}, and axe finds nothing`,
      { viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce', timeoutMs: 60_000 },
      async (context) => {
        const { server, agent } = await serveMine(context)
        agent.prune({ steps: ['n2'], memo: 'It was dug.' })
        agent.pin('n4')
        await agent.prompt('Again.').result
        const inspector = await openInspector(context, server.port, { hash: '#agent=old&view=context' })
        const { page } = inspector
        await page.getByRole('heading', { name: 'Size of requests' }).waitFor()
        await page.getByRole('img', { name: /^Size of \d requests: the last/ }).waitFor()
        const row = page.getByRole('row', { name: /prune, 1 step/ })
        await inspector.sees('a person', row)
        await inspector.sees('Memo of 1 step')
        await page.getByText('Show numbers').click()
        await page.getByRole('columnheader', { name: 'Without brakes' }).waitFor()
        assert.equal(await axeViolations(page), [])
        await until(page, 'document.documentElement.scrollWidth <= innerWidth')
        await row.getByRole('button', { name: 'n2' }).click()
        await until(page, `location.hash.includes('node=n2')`)
        checkProblems(context)
      },
    )
})
