import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { counted } from '../../../../charts/src/amounts.ts'
import { rangeWords, savedWords, usdWithout } from '../../../../charts/src/savingsWords.ts'
import { savingsOfTree } from '../../../../sessions/src/savingsOfTree.ts'
import { treeSavings } from '../../../../sessions/src/savings/savings.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import type { Store } from '../../../../../src/protocol/ports/store.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'

const read = defineTool({
  name: 'read',
  description: 'Reads.',
  input: z.object({ page: z.number() }),
  effects: 'none',
  run: ({ page }) => `Page ${page} says little. `.repeat(400),
})
const shared = {
  tools: [read],
  pricing: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  compaction: { contextWindow: 40_000 },
}
/** Reads so many pages; the second call is of a sub-agent, if it has any. */
const reading = (pages: number, helper?: string) =>
  policyModel((_, { turnIndex }) => {
    if (turnIndex === 1 && helper !== undefined) return { toolCalls: [{ name: helper, input: { task: 'Read.' } }] }
    return turnIndex >= pages ? 'Read.' : { toolCalls: [{ name: 'read', input: { page: turnIndex } }] }
  })
const helper = defineAgent({ ...shared, name: 'helper', description: 'Helps.', model: reading(25) })
const lead = defineAgent({ ...shared, name: 'lead', agents: [helper], model: reading(40, 'helper') })

const logOf = (store: Store) => async (id: string) => {
  const records: LogRecord[] = []
  for await (const record of store.read(id)) records.push(record)
  return records
}

describeInChromium('what the brakes saved', (it) => {
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [375, 'dark'],
  ] as const)
    it(
      `stands beside what was spent, for the agent and its tree, at ${width} px in ${colorScheme}`,
      { viewport: { width, height: 900 }, colorScheme, reducedMotion: 'reduce', timeoutMs: 60_000 },
      async (context) => {
        const { server, runtime, store } = await serveInspector(context, [lead, helper])
        const agent = await runtime.spawn(lead, { id: 'lead' })
        await agent.prompt('Read the book.').result
        const agents = await savingsOfTree('lead', logOf(store))
        assert.is(agents.length, 2)
        const [savings] = agents
        const inspector = await openInspector(context, server.port, { hash: '#agent=lead&view=context' })
        const { page } = inspector
        await inspector.sees('Saved, net')
        await inspector.sees(rangeWords(savings!.usd!))
        await inspector.sees(rangeWords(usdWithout(savings!)!))
        await inspector.sees(savedWords(savings!).split(', $')[0]!)
        await inspector.sees(/Would have filled the window\s*at turn \d+\s*40,000 tokens/, page.locator('.tiles'))
        await page.getByText(/^In the tree \$\d/).waitFor()
        await page.getByText('In the tree').click()
        const all = page.getByRole('row', { name: /^All/ })
        await inspector.sees(rangeWords(treeSavings(agents).usd!), all)
        assert.equal(await axeViolations(page), [])
        await until(page, 'document.documentElement.scrollWidth <= innerWidth')
        await page.getByRole('columnheader', { name: 'Stalls' }).waitFor()
        await page.locator('button[title="lead.1"]').click()
        await page.waitForFunction(`location.hash.includes('agent=lead.1')`)
        await page.keyboard.press('0')
        const tile = page.locator('.home-tiles > div', { hasText: 'Saved by brakes' })
        const { usd, tokens } = treeSavings(agents)
        await inspector.sees(rangeWords(usd!), tile)
        await inspector.sees(`${counted(tokens, 'token')}, net · 2 agents`, tile)
        assert.match((await tile.getAttribute('title'))!, /at most the context window.*less what the brakes cost/)
        assert.equal(await axeViolations(page), [])
        await until(page, 'document.documentElement.scrollWidth <= innerWidth')
        checkProblems(context)
      },
    )
})
