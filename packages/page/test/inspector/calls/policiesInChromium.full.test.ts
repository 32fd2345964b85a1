import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { keep } from '../../../../policies/src/keep.ts'
import { policy } from '../../../../../src/actors/define/policy.ts'
import { when } from '../../../../policies/src/when.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'
import { readAll, readingModel } from '../readerAgent.ts'

/** Reads. One of its policies waits for a sign before it decides; the other fails. */
function reader(sign: Promise<void>) {
  const tidy = policy({
    name: 'tidy',
    when: when.onRequest(),
    decide: {
      name: 'first()',
      decide: async () => {
        await sign
        return { hide: ['n2'], memo: 'All of it was read once.', why: 'it was read long ago' }
      },
    },
    keep: keep.line(),
  })
  const broken = policy({
    name: 'broken',
    when: when.tokensOver(60_000),
    decide: {
      name: 'broken()',
      decide: () => {
        throw new Error('there is no such step')
      },
    },
  })
  return defineAgent({ name: 'reader', model: readingModel(), tools: [readAll], braking: { policies: [tidy, broken] } })
}
const plain = defineAgent({ name: 'plain', model: readingModel(), tools: [readAll] })

describeInChromium('a person who asks for a policy on the inspector page', (it) => {
  it('chooses one by name, sees it decide, and what came of it', { timeoutMs: 30_000 }, async (context) => {
    const sign = Promise.withResolvers<void>()
    const definition = reader(sign.promise)
    const { server, runtime } = await serveInspector(context, [definition])
    const agent = await runtime.spawn(definition, { id: 'r1' })
    await agent.prompt('read').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=r1' })
    const { page } = inspector
    const dialog = page.getByRole('dialog')
    await inspector.isIn('idle')
    await inspector.choose('Ask a policy')
    const tidy = dialog.getByRole('radio', { name: /^tidy/ })
    assert.is(await tidy.isChecked(), true)
    await inspector.sees('first()', dialog)
    await dialog.getByRole('button', { name: 'Ask', exact: true }).click()
    await inspector.sees('tidy is deciding.', dialog)
    await inspector.sees('asking policy tidy', inspector.state)
    assert.is(await dialog.getByRole('button', { name: 'Ask', exact: true }).isDisabled(), true)
    sign.resolve()
    await inspector.sees('The policy planned a change: it was read long ago', dialog)
    await inspector.sees(/^Hid 1 step \(n2\), \d+ tokens$/, dialog)
    await dialog.getByRole('radio', { name: /^broken/ }).click()
    await dialog.getByRole('button', { name: 'Ask', exact: true }).click()
    await inspector.sees('The policy failed: there is no such step', dialog)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.setViewportSize({ width: colorScheme === 'light' ? 1280 : 375, height: 800 })
      await until(page, `document.getAnimations().every(({ playState }) => playState !== 'running')`)
      assert.equal(await axeViolations(page), [], colorScheme)
    }
    await until(page, 'document.documentElement.scrollWidth <= innerWidth')
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await dialog.waitFor({ state: 'detached' })
    await inspector.isIn('idle')
    checkProblems(context)
  })

  it('is told why not: no policies, or an agent that has stopped', { timeoutMs: 30_000 }, async (context) => {
    const definition = reader(Promise.resolve())
    const { server, runtime } = await serveInspector(context, [definition, plain])
    await runtime.spawn(plain, { id: 'p1' })
    const stopped = await runtime.spawn(definition, { id: 's1' })
    await stopped.prompt('read').result
    await stopped.stop()
    // Of a definition that the server does not have: nobody knows its policies.
    const inner = defineAgent({
      name: 'inner',
      model: readingModel(),
      tools: [readAll],
      braking: { policies: definition.braking!.policies!.list },
    })
    const gone = await runtime.spawn(inner, { id: 'i1' })
    await gone.prompt('read').result
    await gone.stop()
    const inspector = await openInspector(context, server.port, { hash: '#agent=p1' })
    const entry = inspector.page.getByRole('menuitem', { name: 'Ask a policy' })
    const more = inspector.button('More')
    await inspector.isIn('idle')
    await more.click()
    assert.match((await entry.getAttribute('title')) ?? '', /has no policies/)
    await inspector.goto('#agent=s1')
    await inspector.isIn('stopped')
    await more.click()
    assert.match((await entry.getAttribute('title')) ?? '', /stopped for good/)
    await inspector.goto('#agent=i1')
    await inspector.isIn('stopped')
    await more.click()
    await inspector.page.getByRole('menuitem', { name: 'Compact the conversation' }).waitFor()
    assert.is(await entry.count(), 0)
    checkProblems(context)
  })
})
