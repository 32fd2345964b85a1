import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, serveInspector } from '../inspectorHarness.ts'

const calls = [
  ['edit_file', { path: 'src/one.ts', edits: [{ oldText: 'let one = 1', newText: 'let one = 2' }] }],
  ['edit_file', { path: 'src/all.ts', oldText: 'let all = 1', newText: 'let all = 2', all: true }],
  [
    'edit_file',
    {
      path: 'src/two.ts',
      edits: [
        { oldText: 'let two = 1', newText: 'let two = 2' },
        { oldText: 'end', newText: 'end()\n' },
      ],
    },
  ],
  ['write_file', { path: 'src/new.ts', content: 'let made = 1\n' }],
  ['delete_file', { path: 'src/old.ts' }],
  // It looks like no change, and is one.
  ['edit_file', { path: 'src/crlf.ts', oldText: 'a\r\nb', newText: 'a\nb' }],
] as const

const editor = defineAgent({
  name: 'editor',
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult'
      ? 'It went so.'
      : { toolCalls: calls.map(([name, input]) => ({ name, input })) },
  ),
  tools: [...new Set(calls.map(([name]) => name))].map((name) =>
    defineTool({
      name,
      description: 'Changes files.',
      input: z.looseObject({}),
      needsApproval: true,
      run: () => 'done',
    }),
  ),
})

describeInChromium('an edit that waits for approval', (it) => {
  it('is shown as what it changes, and what that does not show beside it', { timeoutMs: 60_000 }, async (context) => {
    const serving = await serveInspector(context, [editor])
    const agent = await serving.runtime.spawn(editor, { id: 'ed' })
    const asked = Promise.withResolvers<void>()
    let count = 0
    agent.subscribe(({ type }) => type === 'approval.requested' && (count += 1) === calls.length && asked.resolve())
    void agent.prompt('Go').result.catch(() => {})
    await asked.promise
    const { page } = await openInspector(context, serving.server.port, { hash: '#agent=ed' })
    const shownOf = async (path: string) => {
      const item = page.locator('.pending-item', { hasText: path })
      await item.locator('.pending-fold[aria-expanded=false]').click()
      const card = item.locator('article.approval')
      await card.waitFor()
      const lines = await card.locator('.diff-line').allInnerTexts()
      const beside = await card.locator('pre').allInnerTexts()
      return {
        lines: lines.map((text) =>
          text
            .replace(/\s+/g, ' ')
            .replace(/(?:added|removed): /, '')
            .trim(),
        ),
        hunks: await card.locator('.diff-hunk').count(),
        beside,
        endings: await card.locator('.approval-what > p.muted').allInnerTexts(),
      }
    }
    const changed = (name: string): string[] => [`− let ${name} = 1`, `+ let ${name} = 2`]
    assert.equal(await shownOf('src/one.ts'), { lines: changed('one'), hunks: 1, beside: [], endings: [] })
    assert.equal(await shownOf('src/all.ts'), { lines: changed('all'), hunks: 1, beside: ['all: true'], endings: [] })
    assert.equal(await shownOf('src/two.ts'), {
      lines: [...changed('two'), '− end', '+ end()'],
      hunks: 2,
      beside: [],
      endings: ['change 2: what it puts there ends with a line break'],
    })
    assert.equal((await shownOf('src/new.ts')).lines, ['+ let made = 1'])
    assert.equal(await shownOf('src/old.ts'), { lines: [], hunks: 0, beside: ['path: "src/old.ts"'], endings: [] })
    const { lines, beside } = await shownOf('src/crlf.ts')
    assert.equal(lines, [])
    assert.match(beside.join('\n'), 'U+000D')
    checkProblems(context)
  })
})
