import type { Page } from 'playwright-core'
import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'

const lines = Array.from({ length: 12 }, (_, index) => `line ${index}`).join('\n\n')

/** Says what is far higher than a row is thought to be, six times for a prompt; then `wait` is its last call, and `done` and a number the end. */
const talkerWith = (wait: () => Promise<string>) =>
  defineAgent({
    name: 'talker',
    model: policyModel(({ messages }) => {
      const prompts = messages.filter(({ role }) => role === 'user').length
      const turns = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1).length / 2
      return turns < 6
        ? { text: lines, toolCalls: [{ name: turns < 5 ? 'look' : 'wait', input: { at: turns } }] }
        : `done ${prompts}\n\n${lines}`
    }),
    tools: [
      defineTool({ name: 'look', description: 'Looks.', input: z.object({ at: z.number() }), run: () => 'seen' }),
      defineTool({ name: 'wait', description: 'Waits.', input: z.object({ at: z.number() }), run: wait }),
    ],
  })

const list = `document.querySelector('.conversation-scroll')`
const gap = `(${list}.scrollHeight - ${list}.clientHeight - ${list}.scrollTop)`
/** The last message is drawn, and the list is at its end. */
const isAtEnd = (page: Page, last: string): Promise<void> =>
  until(page, `${list}?.textContent.includes(${JSON.stringify(last)}) && ${gap} <= 1`)

/** From here on what the server says is gathered, and drawn together by `releaseFrames`. */
const holdFrames = (page: Page): Promise<unknown> =>
  page.evaluate(`{
    const { requestAnimationFrame: frame, setTimeout: timer } = window
    const held = []
    window.requestAnimationFrame = (draw) => held.push(draw)
    window.setTimeout = (draw, ms, ...rest) => (ms === 1000 ? 0 : timer(draw, ms, ...rest))
    window.releaseFrames = () => {
      Object.assign(window, { requestAnimationFrame: frame, setTimeout: timer })
      for (const draw of held) draw(performance.now())
    }
  }`)
const releaseFrames = (page: Page): Promise<unknown> => page.evaluate('window.releaseFrames()')

describeInChromium('the end of a conversation on the inspector page', (it) => {
  it(
    'is where a reader stays when a run comes all at once, and with the end of the agent',
    { timeoutMs: 60_000 },
    async (context) => {
      const talker = talkerWith(() => Promise.resolve('waited'))
      const { runtime, server } = await serveInspector(context, [talker])
      const agent = await runtime.spawn(talker, { id: 't' })
      let state = ''
      let said = (): void => {}
      context.page.on('websocket', (socket) =>
        socket.on('framereceived', ({ payload }) => {
          const told = String(payload)
          if (told.includes('"state.changed"') && told.includes(`"state":"${state}"`)) said()
        }),
      )
      const inspector = await openInspector(context, server.port, { hash: '#agent=t' })
      const { page } = inspector
      await inspector.sees('No messages yet')
      for (const [at, last] of [
        [1, 'idle'],
        [2, 'stopped'],
      ] as const) {
        state = last
        await holdFrames(page)
        const hasCome = new Promise<void>((resolve) => (said = resolve))
        await agent.prompt('go').result
        if (at === 2) await agent.stop()
        await hasCome
        await releaseFrames(page)
        await isAtEnd(page, `done ${at}`)
        assert.is(await page.locator('.new-below button').count(), 0)
      }
      checkProblems(inspector)
    },
  )

  it('is left by who scrolls up, and by nothing that grows', { timeoutMs: 60_000 }, async (context) => {
    let goOn = (_: string): void => {}
    const talker = talkerWith(() => new Promise((resolve) => (goOn = resolve)))
    const { runtime, server } = await serveInspector(context, [talker])
    const agent = await runtime.spawn(talker, { id: 't' })
    const inspector = await openInspector(context, server.port, { hash: '#agent=t' })
    const { page } = inspector
    const waits = page.locator('.conversation-row.is-call', { hasText: 'wait' })
    await inspector.sees('No messages yet')
    const first = agent.prompt('go')
    await waits.first().waitFor()
    // A row above the last one, which was measured before.
    await page.evaluate(
      `[...document.querySelectorAll('.conversation-row.is-message')].at(-1).style.paddingBottom = '300px'`,
    )
    await until(page, `${gap} <= 1`)
    goOn('waited')
    await first.result
    await isAtEnd(page, 'done 1')

    const second = agent.prompt('on')
    await waits.last().waitFor()
    await isAtEnd(page, 'wait')
    await page.locator('.conversation-scroll').hover()
    await page.mouse.wheel(0, -200)
    await until(page, `${gap} > 100`)
    goOn('waited')
    await second.result
    await inspector.button(/new rows? below/).click()
    await isAtEnd(page, 'done 2')
    checkProblems(inspector)
  })
})
