import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { withoutReordering } from '../../../../../src/protocol/text/withoutReordering.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, serveInspector, textIn, until } from '../inspectorHarness.ts'

const hostile: Readonly<Record<string, string>> = {
  html: '<h1 id="planted">Hello</h1><img src="x" onerror="globalThis.isTaken = true"><a href="javascript:isTaken = true">here</a>',
  script: '</div></script><script>globalThis.isTaken = true</script><style>body { display: none }</style>',
  direction: 'abc \u202Egnirts lanigiro\u202C \u05E9\u05DC\u05D5\u05DD \u200Bzero\u200Dwidth\uFEFF end',
  line: 'x'.repeat(1_000_000),
}

const reads = defineTool({
  name: 'read',
  description: 'Reads what somebody left there.',
  input: z.looseObject({ what: z.string() }),
  maxOutputChars: 2_000_000,
  run: ({ what }) => hostile[what] ?? 'nothing',
})
/** Reads everything that is there, a call each, in one turn. */
const reader = defineAgent({
  name: 'reader',
  model: policyModel(({ messages }) =>
    messages.some(({ role }) => role === 'toolResult')
      ? { text: `${hostile['html']} ${hostile['script']}`, thinking: hostile['script']! }
      : { toolCalls: Object.keys(hostile).map((what) => ({ name: 'read', input: { what, 'w\u202Eord': what } })) },
  ),
  tools: [reads],
  captureTurnRequests: true,
})
const echo = defineAgent({
  name: 'echo',
  model: policyModel(({ messages }) => `You said: ${textOf(messages.at(-1)?.content ?? [])}`),
  captureTurnRequests: true,
})

describeInChromium('the inspector page and what is not to be trusted', (it) => {
  it('shows whatever a tool returns as text, whole when it is asked for', { timeoutMs: 60_000 }, async (context) => {
    const { server, runtime } = await serveInspector(context, [reader])
    const agent = await runtime.spawn(reader, { id: 'r1' })
    await agent.prompt('<script>globalThis.isTaken = true</script> Read it all.').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=r1' })
    const { page } = inspector
    const calls = page.locator('.conversation-row.is-call')
    await calls.nth(3).waitFor()
    for (const [index, [what, text]] of Object.entries(hostile).entries()) {
      const call = page.locator('.conversation-row.is-call').filter({ hasText: `what: "${what}"` })
      const name = await call.getAttribute('id')
      await call.locator('.conversation-chevron').click()
      const result = page.locator(`[id="${name}"] .conversation-call section`).nth(1)
      await result.waitFor()
      const shown = await textIn(result.locator('.conversation-text-body'))
      if (what === 'line') {
        assert.ok(shown.length < 10_000, 'a long line is cut')
        await result.getByRole('button', { name: 'Show all (1,000,000 characters)' }).click()
        await result.getByRole('button', { name: 'Show less' }).waitFor()
        assert.is((await textIn(result.locator('.conversation-text-body'))).length, 1_000_000)
        await until(page, 'document.documentElement.scrollWidth <= innerWidth')
        await result.getByRole('button', { name: 'Show less' }).click()
        // What would turn the line is left out.
      } else assert.is(shown, withoutReordering(text), `result ${index + 1}`)
      await page.locator(`[id="${name}"] .conversation-chevron`).click()
    }
    for (const view of ['Timeline', 'Requests', 'Chart', 'Conversation']) {
      await inspector.tab(view).click()
      await page.locator('.panel > *').first().waitFor()
      assert.equal(
        await page.evaluate(
          `[typeof isTaken, document.querySelectorAll('#planted, .page script, .page style').length]`,
        ),
        ['undefined', 0],
        view,
      )
    }
    await inspector.page.evaluate(`location.hash = '#agent=r1&view=timeline&as=log'`)
    await page.locator('.event-row').filter({ hasText: 'tool.start' }).first().click()
    const tree = page.locator('.details .tree').first()
    await tree.getByRole('button', { name: 'input' }).waitFor()
    await inspector.sees('word', tree)
    assert.not.match(await page.evaluate<string>('document.body.innerText'), /[\u202A-\u202E]/)
    checkProblems(context)
  })

  it(
    'runs no script that was put into it, and asks nobody else for anything',
    { timeoutMs: 30_000 },
    async (context) => {
      const { server } = await serveInspector(context, [echo])
      const inspector = await openInspector(context, server.port)
      const { page, problems } = inspector
      await inspector.sees('No agent yet')
      checkProblems(context)
      const blocked = await page.evaluate(`new Promise((resolve) => {
      const blocked = new Set()
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
        blocked.add(effectiveDirective)
        if (blocked.size === 5) resolve([...blocked].sort())
      })
      const script = document.createElement('script')
      script.textContent = 'globalThis.isTaken = true'
      document.body.append(script)
      const holder = document.createElement('div')
      holder.innerHTML = '<p style="color: red" onclick="globalThis.isTaken = true">red</p><img src="https://example.com/x.png">'
      document.body.append(holder)
      holder.firstChild.click()
      fetch('https://example.com/').catch(() => {})
    })`)
      assert.equal(blocked, ['connect-src', 'img-src', 'script-src-attr', 'script-src-elem', 'style-src-attr'])
      assert.is(await page.evaluate('typeof isTaken'), 'undefined')
      // Stopped by the policy: not one of them was asked for.
      assert.equal(
        problems.filter((problem) => problem.startsWith('it asked for')),
        [],
      )
    },
  )
})
