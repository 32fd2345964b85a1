import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { deploy } from '../deployTool.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'

const places = ['north', 'south', 'east']
const releaser = defineAgent({
  name: 'releaser',
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult'
      ? 'It went so.'
      : { toolCalls: places.map((to) => ({ name: 'deploy', input: { to } })) },
  ),
  tools: [deploy],
})

/** Windows that are short, or zoomed: 1440 by 810 at 150 and 200 per cent, and a phone with its keyboard. */
const sizes = [
  [1280, 560],
  [960, 540],
  [720, 405],
  [375, 500],
] as const

describeInChromium('a short window, with calls that wait', (it) => {
  for (const [width, height] of sizes)
    it(
      `has the prompt, the first decision and what was said in sight, at ${width} by ${height}`,
      { timeoutMs: 60_000, viewport: { width, height } },
      async (context) => {
        const serving = await serveInspector(context, [releaser])
        const agent = await serving.runtime.spawn(releaser, { id: 'rel' })
        const asked = Promise.withResolvers<void>()
        let count = 0
        agent.subscribe(
          ({ type }) => type === 'approval.requested' && (count += 1) === places.length && asked.resolve(),
        )
        void agent.prompt('Go').result.catch(() => {})
        await asked.promise
        const { page } = await openInspector(context, serving.server.port, { hash: '#agent=rel' })
        await page.locator('.pending-item').first().waitFor()
        // It comes into sight as its part of the page is loaded, and stays there.
        const inSight = (place: string): Promise<unknown> =>
          page.waitForFunction(`(() => {
            const box = document.querySelector('${place}')?.getBoundingClientRect()
            return box !== undefined && box.height > 0 && box.top >= 0 && box.bottom <= innerHeight
          })()`)
        for (const place of ['#prompt', '.pending-item .button.primary', '.agent-title h1', '.panel'])
          await inSight(place)
        // What is out of sight does not make the document itself longer, whatever scrolls it.
        await page.evaluate('document.scrollingElement.scrollTop = 900')
        await page.keyboard.press('p')
        assert.equal(await page.evaluate('[document.scrollingElement.scrollTop, document.activeElement.id]'), [
          0,
          'prompt',
        ])
        await inSight('.page-header')
        assert.equal(await axeViolations(page), [])
        checkProblems(context)
      },
    )

  it(
    'is not made longer by what its parts hide',
    { timeoutMs: 60_000, viewport: { width: 1280, height: 800 } },
    async (context) => {
      const serving = await serveInspector(context, [releaser])
      await serving.runtime.spawn(releaser, { id: 'rel' })
      const { page } = await openInspector(context, serving.server.port, { hash: '#agent=rel' })
      await page.locator('.details-body').waitFor()
      assert.equal(
        await page.evaluate(`(() => {
        const part = document.querySelector('.details-body')
const [space, told] = [document.createElement('div'), document.createElement('span')]
        space.style.height = '3000px'
        told.className = 'hidden'
        part.append(space, told)
        const root = document.documentElement
        const height = root.scrollHeight - innerHeight
        root.scrollTop = 900
        document.body.scrollTop = 900
        return [height, root.scrollTop, document.body.scrollTop, part.scrollHeight > 3000]
      })()`),
        [0, 0, 0, true],
      )
      checkProblems(context)
    },
  )

  it(
    'is scrolled as one where nothing else is left to give',
    { timeoutMs: 60_000, viewport: { width: 320, height: 256 } },
    async (context) => {
      const serving = await serveInspector(context, [releaser])
      const agent = await serving.runtime.spawn(releaser, { id: 'rel' })
      void agent.prompt('Go').result.catch(() => {})
      const { page } = await openInspector(context, serving.server.port, { hash: '#agent=rel' })
      await page.locator('.pending-item').first().waitFor()
      await page.locator('#prompt').scrollIntoViewIfNeeded()
      await until(page, `document.querySelector('#prompt').getBoundingClientRect().bottom <= innerHeight`)
      // By a person's wheel too, and back.
      await page.evaluate(`document.querySelector('.agent').scrollTo(0, 0)`)
      assert.is(await page.evaluate(`document.querySelector('.agent').scrollTop`), 0)
      assert.is(await page.evaluate('document.scrollingElement.scrollTop'), 0)
      checkProblems(context)
    },
  )
})
