import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import type { Model } from '../../../../../src/protocol/ports/model.ts'
import { delta, done } from '../../../../../test/support/agentHarness.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'

/** A model that says what it is told to say, piece by piece. */
function dictated() {
  const pieces: string[] = []
  let wake = (): void => {}
  const model: Model = {
    id: 'test:dictated',
    async *stream() {
      let said = 0
      for (;;) {
        for (; said < pieces.length; said += 1) {
          if (pieces[said] === '') return yield done([{ type: 'text', text: pieces.join('') }])
          yield delta(pieces[said]!)
        }
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
  const say = (piece: string): void => {
    pieces.push(piece)
    wake()
  }
  return { model, say }
}

const paragraphs = (from: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `paragraph ${from + index} of what is said\n\n`).join('')

const list = `document.querySelector('.conversation-scroll')`

describeInChromium('a reply that grows on the inspector page', (it) => {
  it('stays where it is for who reads further up', { timeoutMs: 60_000 }, async (context) => {
    const { model, say } = dictated()
    const writer = defineAgent({ name: 'writer', model })
    const { runtime, server } = await serveInspector(context, [writer])
    const agent = await runtime.spawn(writer, { id: 'w' })
    const inspector = await openInspector(context, server.port, { hash: '#agent=w' })
    const { page } = inspector
    await inspector.sees('No messages yet')
    const run = agent.prompt('go')
    say(paragraphs(0, 40))
    await inspector.sees('paragraph 39 of')
    await page.locator('.conversation-scroll').hover()
    await page.mouse.wheel(0, -250)
    await until(page, `${list}.scrollHeight - ${list}.clientHeight - ${list}.scrollTop > 100`)
    const read = page.getByText('paragraph 25 of')
    const before = await read.boundingBox()
    // More than is shown to who follows the end.
    for (let from = 40; from < 240; from += 40) {
      say(paragraphs(from, 40))
      await until(page, `${list}.textContent.includes('paragraph ${from + 39} of')`)
      // What has grown is measured after it is drawn.
      await page.evaluate(
        'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))',
      )
    }
    assert.ok(Math.abs((await read.boundingBox())!.y - before!.y) < 2, 'what is read has moved')
    await page.getByRole('button', { name: 'Writing below', exact: true }).waitFor()
    await page
      .locator('.new-below')
      .getByText(/^ · \d,\d{3} new characters$/)
      .waitFor()
    await page.locator('.conversation-scroll').press('End')
    say(paragraphs(240, 40))
    await until(page, `${list}.textContent.includes('paragraph 279 of')`)
    await until(page, `${list}.scrollHeight - ${list}.clientHeight - ${list}.scrollTop <= 1`)
    assert.is(await page.locator('.new-below button').count(), 0)
    assert.not.ok((await page.locator('.conversation-row.is-partial').innerText()).includes('paragraph 0 of'))
    await page.locator('.conversation-scroll').hover()
    await page.mouse.wheel(0, -20_000)
    await inspector.button('Show from the beginning').click()
    await page.getByText('paragraph 0 of').waitFor()
    say('')
    await run.result
    checkProblems(inspector)
  })

  it(
    'is left by a turn of the wheel, also when it grows before the list has scrolled',
    { timeoutMs: 60_000 },
    async (context) => {
      const { model, say } = dictated()
      const writer = defineAgent({ name: 'writer', model })
      const { runtime, server } = await serveInspector(context, [writer])
      const agent = await runtime.spawn(writer, { id: 'w' })
      const inspector = await openInspector(context, server.port, { hash: '#agent=w' })
      const { page } = inspector
      await inspector.sees('No messages yet')
      const run = agent.prompt('go')
      say(paragraphs(0, 40))
      await inspector.sees('paragraph 39 of')
      await until(page, `${list}.scrollHeight - ${list}.clientHeight - ${list}.scrollTop <= 1 && ${list}.scrollTop > 0`)
      await page.evaluate(`${list}.dispatchEvent(new WheelEvent('wheel', { deltaY: -30, bubbles: true }))`)
      say(paragraphs(40, 20))
      await page.getByRole('button', { name: 'Writing below' }).click()
      say(paragraphs(60, 20))
      await until(page, `${list}.textContent.includes('paragraph 79 of')`)
      await until(page, `${list}.scrollHeight - ${list}.clientHeight - ${list}.scrollTop <= 1`)
      say('')
      await run.result
      checkProblems(inspector)
    },
  )

  for (const [name, options] of [
    ['', {}],
    [' with secrets to keep', { runtime: { redact: { knownKeys: true } } }],
  ] as const)
    it(`is whole for who looks at another agent and comes back${name}`, { timeoutMs: 60_000 }, async (context) => {
      const { model, say } = dictated()
      const writer = defineAgent({ name: 'writer', model })
      const { runtime, server } = await serveInspector(context, [writer], options)
      const agent = await runtime.spawn(writer, { id: 'w' })
      await runtime.spawn(defineAgent({ name: 'other', model }), { id: 'other' })
      const inspector = await openInspector(context, server.port, { hash: '#agent=w' })
      await inspector.sees('No messages yet')
      const run = agent.prompt('go')
      say('It begins with these words. ')
      await inspector.sees('It begins with')
      await inspector.goto('#agent=other')
      await inspector.sees('No messages yet')
      say('Meanwhile it went on. ')
      await inspector.goto('#agent=w')
      await inspector.sees('go')
      say('And it ends so.')
      await inspector.sees('It begins with these words. Meanwhile it went on.')
      say('')
      await run.result
      checkProblems(inspector)
    })
})
