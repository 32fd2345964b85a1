import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, textIn, until } from '../inspectorHarness.ts'

/** Digs at what it is told to, until somebody lets it end. */
function digger() {
  const gate = Promise.withResolvers<void>()
  const dig = defineTool({
    name: 'dig',
    description: 'Digs.',
    input: z.object({ place: z.string() }),
    run: async ({ place }) => {
      if (place === 'slow') await gate.promise
      if (place === 'rock') throw new Error('Too hard.')
      return `Nothing at ${place}.`
    },
  })
  const agent = defineAgent({
    name: 'digger',
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'toolResult') return 'Done.'
      const said = JSON.stringify(last)
      const place = said.includes('slow') ? 'slow' : said.includes('rock') ? 'rock' : 'the mill'
      return { toolCalls: [{ name: 'dig', input: { place } }] }
    }),
    tools: [dig],
    limits: { turns: 60, ms: 3_600_000 },
  })
  return { agent, release: () => gate.resolve() }
}

const sizes = [
  [1440, 'light'],
  [1024, 'dark'],
  [375, 'light'],
] as const

describeInChromium('the details of a call', (it) => {
  for (const [width, colorScheme] of sizes)
    it(
      `are its input and its output, how long it took, and the limits of its run, at ${width} px in ${colorScheme}`,
      { viewport: { width, height: 900 }, colorScheme, reducedMotion: 'reduce', timeoutMs: 60_000 },
      async (context) => {
        const { agent } = digger()
        const { server, runtime } = await serveInspector(context, [agent])
        const running = await runtime.spawn(agent, { id: 'a' })
        await running.prompt('Dig.').result
        await running.prompt('Now the rock.').result
        const inspector = await openInspector(context, server.port, { hash: '#agent=a&node=n2' })
        const { page } = inspector
        const toDetails = async (): Promise<void> => {
          if (width < 761) await inspector.tab('Details').click()
        }
        await toDetails()
        const call = page.getByRole('region', { name: 'Call of dig' })
        await call.getByRole('region', { name: 'Input' }).getByText('the mill').waitFor()
        await call.getByRole('region', { name: 'Output' }).getByText('Nothing at the mill.').waitFor()
        assert.match(await textIn(call.locator('.pairs')), /Result\s*n3\s*Started.*\d\d:\d\d:\d\d.*Took\s*\d/)
        const limits = page.getByRole('group', { name: 'Limits of the last run' })
        await limits.getByText('2 of 60 turns').waitFor()
        assert.is(await limits.getByRole('meter').count(), 2)
        assert.equal(await axeViolations(page), [])
        await until(page, 'document.documentElement.scrollWidth <= innerWidth')

        await call.getByRole('button', { name: 'n3' }).click()
        const details = page.locator('#details')
        await details.getByRole('heading', { name: /n3 Tool result/ }).waitFor()
        await details.getByRole('region', { name: 'Input' }).getByText('the mill').waitFor()
        await details.getByRole('region', { name: 'Output' }).getByText('Nothing at the mill.').waitFor()
        await details.getByText('Requested by').waitFor()
        assert.equal(await axeViolations(page), [])

        await inspector.goto('#agent=a&node=n7')
        await toDetails()
        const error = details.getByRole('region', { name: 'Error' })
        await error.getByText('Too hard.').waitFor()
        await details.getByRole('region', { name: 'Input' }).getByText('rock').waitFor()
        // Before it ended there was nothing of its end.
        await inspector.goto('#agent=a&node=n2&at=5')
        await toDetails()
        await page.getByRole('region', { name: 'Call of dig' }).waitFor()
        assert.is(await page.getByRole('region', { name: 'Output' }).count(), 0)
        checkProblems(context)
      },
    )
})

const wide = { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', timeoutMs: 60_000 } as const

describeInChromium('the line of what an agent does now', (it) => {
  it(
    'is there while it works, with its turn, its call and its limit, and goes when it has ended',
    wide,
    async (context) => {
      const { agent, release } = digger()
      const { server, runtime } = await serveInspector(context, [agent])
      const running = await runtime.spawn(agent, { id: 'a' })
      await running.prompt('Dig.').result
      const inspector = await openInspector(context, server.port, { hash: '#agent=a' })
      const { page } = inspector
      const line = page.getByRole('list', { name: 'Now' })
      await page.locator('.conversation-row').first().waitFor()
      assert.is(await line.count(), 0)
      await inspector.sees('last run completed · 2 turns')
      const tabsAt = async () => (await inspector.tab('Timeline').boundingBox())?.y
      const before = await tabsAt()
      const { result } = running.prompt('A slow one.')
      await inspector.sees('runs dig slow', line)
      const parts = await line.getByRole('listitem').allTextContents()
      assert.equal([parts[0], parts[1]], ['turn 3', 'runs dig slow'])
      // Who aims at a tab finds it where it was.
      assert.is(await tabsAt(), before)
      assert.match(parts[2] ?? '', /^[\d.]+ (ms|s)$/)
      assert.is(parts.at(-1), 'limit 60 turns, 1 h 00 min')
      assert.equal(await axeViolations(page), [])
      // At an earlier moment it does nothing now.
      await page.evaluate(`location.hash = '#agent=a&at=3'`)
      await line.waitFor({ state: 'detached' })
      await page.evaluate(`location.hash = '#agent=a'`)
      await line.waitFor()
      release()
      await result
      await line.waitFor({ state: 'detached' })
      checkProblems(context)
    },
  )
})

describeInChromium('the header of an agent', (it) => {
  for (const [width, colorScheme] of sizes)
    it(
      `cuts what has no room and turns nothing round, at ${width} px in ${colorScheme}`,
      { viewport: { width, height: 900 }, colorScheme, reducedMotion: 'reduce', timeoutMs: 60_000 },
      async (context) => {
        const { agent } = digger()
        const { server, runtime } = await serveInspector(context, [agent])
        const long = await runtime.spawn(agent, { id: 'x'.repeat(128) })
        await long.prompt(`${'word'.repeat(250)} and dig`).result
        const rightToLeft = await runtime.spawn(agent, { id: 'rtl' })
        await rightToLeft.prompt('\u202Eתקן את הבדיקות e\u0301\u0301\u0301').result
        const inspector = await openInspector(context, server.port, { hash: `#agent=${'x'.repeat(128)}` })
        const { page } = inspector
        const title = page.getByRole('heading', { level: 1 })
        const fits = `(() => {
          const box = (selector) => document.querySelector(selector).getBoundingClientRect()
          const [header, heading, state] = ['.agent-header', '.agent-title h1', '.agent-title .badge.state'].map(box)
          return document.documentElement.scrollWidth <= innerWidth && heading.right <= header.right &&
            state.right <= header.right && state.width > 20 && heading.width > 40 && heading.height < 60
        })()`
        await page.locator('.conversation-row').first().waitFor()
        assert.match(await textIn(title), /^(word){10}/)
        await until(page, fits)
        await inspector.button('More').waitFor()
        assert.equal(await axeViolations(page), [])

        await page.evaluate(`location.hash = '#agent=rtl'`)
        await page.getByRole('heading', { level: 1, name: /תקן את הבדיקות/ }).waitFor()
        assert.not.match(await textIn(title), '\u202E')
        await until(page, fits)
        assert.equal(await axeViolations(page), [])
        checkProblems(context)
      },
    )
})
