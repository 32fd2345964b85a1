import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineAgent } from '../../../../define/src/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { markdownMemory } from '../../../../../src/memory.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { projectFolder } from '../../../../cli/test/cliChild.ts'
import { tool } from '../../../../../test/support/agentHarness.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { scriptedSource } from '../../../../../test/support/scriptedSource.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'

const skill = `---
name: release-notes
description: Writes release notes in the house's style.
---
Group the changes by kind.
`

describeInChromium('what an agent has from elsewhere, on the inspector page', (it) => {
  for (const [width, colorScheme] of [
    [375, 'light'],
    [1440, 'dark'],
  ] as const)
    it(
      `its sources, skills and memory are shown at ${width} px in ${colorScheme}`,
      { timeoutMs: 60_000, viewport: { width, height: 900 }, colorScheme, reducedMotion: 'reduce' },
      async (context) => {
        const folder = projectFolder(context)
        mkdirSync(join(folder, 'skills', 'release-notes'), { recursive: true })
        writeFileSync(join(folder, 'skills', 'release-notes', 'SKILL.md'), skill)
        const tickets = scriptedSource('tickets', [
          tool('tickets_find', () => 'T-7'),
          tool('tickets_close', () => 'done'),
        ])
        tickets.says('Tickets are numbered T-1, T-2 and so on.')
        const weather = scriptedSource('weather', [tool('forecast', () => 'rain')])
        const clerk = defineAgent({
          name: 'clerk',
          tools: [tickets, weather],
          skills: [join(folder, 'skills')],
          memory: { store: markdownMemory(join(folder, 'memory')), user: () => 'ada' },
          model: policyModel(({ messages }) => {
            const done = messages.filter(({ role }) => role === 'toolResult').length
            const calls = [
              { name: 'remember', input: { text: 'Ada wants release notes on Mondays.' } },
              { name: 'read_skill', input: { name: 'release-notes' } },
            ]
            return calls[done] === undefined ? 'They are written.' : { toolCalls: [calls[done]] }
          }),
        })
        const { runtime, server } = await serveInspector(context, [clerk])
        // What an agent with servers or skills remembers is not shown to others: one without them does it.
        const keeper = defineAgent({
          name: 'clerk',
          memory: { store: markdownMemory(join(folder, 'memory')), user: () => 'ada' },
          model: policyModel(({ messages }) =>
            messages.at(-1)!.role === 'toolResult'
              ? 'Noted.'
              : { toolCalls: [{ name: 'remember', input: { text: 'Ada wants release notes on Mondays.' } }] },
          ),
        })
        await (await runtime.spawn(keeper, { id: 'first' })).prompt('Write the release notes.').result
        const agent = await runtime.spawn(clerk, { id: 'clerk' })
        await agent.prompt('Write the release notes again.').result
        weather.goDown('The connection was refused.')

        const inspector = await openInspector(context, server.port, { hash: '#agent=clerk' })
        const { page, tab, sees } = inspector
        await sees('from memory')
        await sees('Ada wants release notes on Mondays.')
        if (width < 700) await tab('Details').click()
        const panel = page.getByRole('region', { name: 'Tool sources' })
        await sees('tickets_find, tickets_close', panel)
        await sees('The connection was refused.', panel)
        await sees('read_skill', panel)
        const texts = panel.getByText('Instructions')
        for (let index = 0; index < (await texts.count()); index++) await texts.nth(index).click()
        await sees('release-notes', panel)
        await sees('Tickets are numbered', panel)
        const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
        assert.not.ok(isWide, 'something is wider than the page')
        await until(page, `document.getAnimations().every(({ playState }) => playState !== 'running')`)
        assert.equal(await axeViolations(page), [])
        checkProblems(inspector)
      },
    )
})
