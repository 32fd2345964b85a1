import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { importSession } from '../../../../sessions/src/importSession.ts'
import { memoryStore } from '../../../../stores/src/memory/memoryStore.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({}),
  run: () => 'Soup; the key is soup-secret-1.',
})
const cook = defineAgent({
  name: 'cook',
  tools: [look],
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult' ? 'Soup.' : { toolCalls: [{ name: 'look', input: {} }] },
  ),
})

describeInChromium('a person who takes an agent out of the inspector page', (it) => {
  it(
    'saves a failing test, a task, the conversation and the log',
    { timeoutMs: 40_000, acceptDownloads: true },
    async (context) => {
      const { server, runtime } = await serveInspector(context, [cook], {
        runtime: { redact: { secrets: { KEY: 'soup-secret-1' } } },
      })
      await (await runtime.spawn(cook, { id: 'c1' })).prompt('What is there?').result
      const inspector = await openInspector(context, server.port, { hash: '#agent=c1' })
      const { page } = inspector
      await inspector.isIn('idle')
      /** Saves in a form, and gives the file. */
      const save = async (form: string, name: string): Promise<string> => {
        await inspector.choose('Export…')
        const dialog = page.getByRole('dialog', { name: 'Export' })
        await dialog.getByRole('radio', { name: form }).check()
        if (form === 'A failing test' || form === 'A task')
          await dialog.getByLabel('Expected in the answer').fill('bread')
        assert.equal(await axeViolations(page), [])
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          dialog.getByRole('button', { name: 'Save', exact: true }).click(),
        ])
        assert.is(download.suggestedFilename(), name)
        await dialog.waitFor({ state: 'detached' })
        return await readFile(await download.path(), 'utf8')
      }
      const test = await save('A failing test', 'c1.test.ts')
      assert.match(test, 'result.text.includes("bread")')
      const task = await save('A task', 'suite.mjs')
      assert.match(task, 'recordedSuite([{ task, recording }])')
      assert.match(task, 'answer: "bread"')
      const markdown = await save('The conversation', 'c1.md')
      assert.match(markdown, /^# What is there\?\n\n## User\n\nWhat is there\?\n\n## Assistant\n\nCalls \*\*look\*\*/)
      const log = await save('The log', 'c1.jsonl')
      assert.equal((await importSession(memoryStore(), log.match(/[^\n]*\n/g) ?? [])).agentIds, ['c1'])
      for (const text of [test, task, markdown, log]) assert.not.match(text, 'soup-secret-1')
      checkProblems(context)
    },
  )

  it('is told why there can be no test', { timeoutMs: 30_000 }, async (context) => {
    const { server, runtime } = await serveInspector(context, [cook])
    await runtime.spawn(cook, { id: 'c1' })
    const inspector = await openInspector(context, server.port, { hash: '#agent=c1' })
    await inspector.isIn('idle')
    await inspector.choose('Export…')
    await inspector.sees('Nobody has said anything to "c1" that a test could say again.')
    const button = inspector.page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true })
    assert.is(await button.getAttribute('aria-disabled'), 'true')
    checkProblems(context)
  })
})
