import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { noUsage } from '../../../../../src/protocol/messages.ts'
import type { Model } from '../../../../../src/protocol/ports/model.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'

const reply = `## Plan

**Sorting** is slow: see [the page](https://example.com/a), [this](javascript:alert(1)) and <b id="planted">that</b>.

1. measure
2. replace it

- [x] read
- [ ] write

| name | ms |
|---|--:|
| bubble | 1240 |

\`\`\`ts
const a = 1 // one
\`\`\`

> quoted

![a graph](https://example.com/x.png)`

const edit = defineTool({
  name: 'edit_file',
  description: 'Edits.',
  input: z.object({ path: z.string(), oldText: z.string(), newText: z.string() }),
  needsApproval: true,
  run: () => 'Edited.',
})
const change = { path: 'src/sort.ts', oldText: 'sort()\nbubble()\nend()', newText: 'sort()\n// quick\nmerge()\nend()' }
/** Writes Markdown, and then edits a file. */
const writer = defineAgent({
  name: 'writer',
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult'
      ? 'done'
      : { text: reply, toolCalls: [{ name: 'edit_file', input: change }] },
  ),
  tools: [edit],
})

async function openWriter(context: PageContext, options: Parameters<typeof openInspector>[2] = {}) {
  const { runtime, server } = await serveInspector(context, [writer])
  const agent = await runtime.spawn(writer, { id: 'w' })
  const asked = Promise.withResolvers<void>()
  agent.subscribe(({ type }) => {
    if (type === 'approval.requested') asked.resolve()
  })
  void agent.prompt('Make it *fast*.')
  await asked.promise
  const inspector = await openInspector(context, server.port, { hash: '#agent=w', ...options })
  await inspector.page.locator('.conversation-row .prose').first().waitFor()
  return inspector
}

describeInChromium('messages in Markdown on the inspector page', (it) => {
  it(
    'are headings, lists, tables and code, made of text alone, and links that may be followed',
    { timeoutMs: 30_000 },
    async (context) => {
      const inspector = await openWriter(context)
      const { page } = inspector
      const message = page.locator('.conversation-row.is-message').nth(1)
      await message.getByRole('button', { name: /Show all/ }).click()
      await message.locator('td').getByText('1240').waitFor()
      assert.equal(
        await page.evaluate(`[...document.querySelectorAll('.conversation-row.is-message .prose')].map((prose) =>
          ['strong', 'ol > li', '[role=img][aria-label=done]', '.prose-code code', 'blockquote', 'em', 'img', '#planted']
            .map((selector) => prose.querySelectorAll(selector).length).join(' '))`),
        ['0 0 0 0 0 1 0 0', '1 2 1 1 1 0 0 0'],
      )
      assert.equal(
        await page.evaluate(
          `[...document.querySelectorAll('.prose a')].map(({ href, rel, target }) => [href, rel, target])`,
        ),
        [
          ['https://example.com/a', 'noreferrer noopener', '_blank'],
          ['https://example.com/x.png', 'noreferrer noopener', '_blank'],
        ],
      )
      await inspector.sees('<b id="planted">that</b>', message)
      checkProblems(inspector)
    },
  )

  it(
    'can be seen and copied as they were written',
    { timeoutMs: 30_000, permissions: ['clipboard-read', 'clipboard-write'] },
    async (context) => {
      const inspector = await openWriter(context)
      const { page, button } = inspector
      await button('Copy n1').click()
      await button('Copied').waitFor()
      assert.is(await page.evaluate('navigator.clipboard.readText()'), 'Make it *fast*.')
      await button('Raw').click()
      const message = page.locator('.conversation-row.is-message').first()
      await inspector.sees('Make it *fast*.', message)
      assert.is(await page.locator('.prose').count(), 0)
      // In the details, too.
      await message.click()
      await inspector.sees('Make it *fast*.', page.locator('.details'))
      await button('Raw').click()
      await page.locator('.details .prose em').getByText('fast').waitFor()
      checkProblems(inspector)
    },
  )

  it(
    'show edits as differences: in the row, in its details, and where they are approved',
    { timeoutMs: 30_000 },
    async (context) => {
      const inspector = await openWriter(context)
      const { page, button } = inspector
      const lines = '.diff-line'
      const shown = ['sort()', '−removed: bubble()', '+added: // quick', '+added: merge()', 'end()']
      const approval = page.locator('.approval')
      // What draws a difference is loaded when the first is shown.
      await approval.locator(lines).nth(4).waitFor()
      assert.equal(
        (await approval.locator(lines).allTextContents()).map((line) => line.trim()),
        shown,
      )
      const row = page.locator('.conversation-row.is-call')
      await inspector.sees('+2', row)
      await inspector.sees('src/sort.ts', row)
      await row.locator('.conversation-chevron').click()
      await row.locator(lines).nth(4).waitFor()
      assert.equal(
        (await row.locator(lines).allTextContents()).map((line) => line.trim()),
        shown,
      )
      await page.locator('.conversation-row.is-message').nth(1).locator('.conversation-head').click()
      const details = page.locator('.details').locator(lines)
      await details.nth(4).waitFor()
      assert.is(await details.count(), 5)
      await button('Approve').click()
      await inspector.sees('Edited.', row)
      checkProblems(inspector)
    },
  )

  for (const [width, colorScheme] of [
    [375, 'dark'],
    [1024, 'light'],
    [1440, 'dark'],
  ] as const)
    it(
      `have no fault of axe at ${width} px in ${colorScheme}`,
      { timeoutMs: 60_000, viewport: { width, height: 900 }, colorScheme, reducedMotion: 'reduce' },
      async (context) => {
        const { page } = await openWriter(context)
        await page
          .getByRole('button', { name: /Show all/ })
          .first()
          .click()
        await page.locator('.conversation-row.is-call .conversation-chevron').click()
        await page.locator('.conversation-row .diff').waitFor()
        assert.equal(await axeViolations(page), [])
        await until(page, 'document.documentElement.scrollWidth <= innerWidth')
      },
    )
})

describeInChromium('a reply under way on the inspector page', (it) => {
  it('is Markdown already, whose settled blocks are drawn once', { timeoutMs: 30_000 }, async (context) => {
    const pieces = ['# Plan\n\nfirst **bold**\n\n', '- a\n- b\n\n', '```ts\nconst a', ' = 1\n```\n\nand so o']
    const gates = pieces.map(() => Promise.withResolvers<void>())
    const model: Model = {
      id: 'test:gated',
      async *stream() {
        for (const [index, text] of pieces.entries()) {
          yield { type: 'text.delta', text }
          await gates[index]!.promise
        }
        const content = [{ type: 'text', text: pieces.join('') }] as const
        yield { type: 'done', reply: { content, stopReason: 'stop', usage: noUsage } }
      },
    }
    const slow = defineAgent({ name: 'slow', model })
    const { runtime, server } = await serveInspector(context, [slow])
    const agent = await runtime.spawn(slow, { id: 's' })
    const inspector = await openInspector(context, server.port, { hash: '#agent=s' })
    const { page } = inspector
    void agent.prompt('go')
    const growing = page.locator('.is-growing .prose')
    await growing.locator('strong').getByText('bold').waitFor()
    await page.evaluate(`globalThis.first = document.querySelector('.is-growing .prose > *')`)
    for (const [index, seen] of [
      [0, 'ul > li >> text=b'],
      [1, 'pre >> text=const a'],
      [2, 'p >> text=and so o'],
    ] as const) {
      gates[index]!.resolve()
      await growing.locator(seen).waitFor()
    }
    assert.equal(await page.evaluate(`[first.isConnected, first.textContent]`), [true, 'Plan'])
    gates[3]!.resolve()
    await inspector.isIn('idle')
    await page.locator('.conversation-row.is-message .prose-code .code-keyword').getByText('const').waitFor()
    assert.is(await growing.count(), 0)
    checkProblems(inspector)
  })
})
