import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { workspaceTools } from '../../../../tools/src/workspace/workspaceTools.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import type { Store } from '../../../../../src/protocol/ports/store.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { lead } from '../birdAgents.ts'
import { deploy } from '../deployTool.ts'
import { inTime, openInspector, recordsOf, serveInspector, until } from '../inspectorHarness.ts'
import { keyboardOf } from '../keyboard.ts'

const idler = defineAgent({ name: 'idler', model: policyModel(() => 'Done.') })

/** Asks three times at once. */
const releaser = defineAgent({
  name: 'releaser',
  tools: [deploy],
  model: policyModel(({ messages }) =>
    messages.at(-1)!.role === 'toolResult'
      ? 'It went so.'
      : { toolCalls: ['north', 'south', 'east'].map((to) => ({ name: 'deploy', input: { to } })) },
  ),
})
const decisionsIn = async (store: Store): Promise<string[]> =>
  (await recordsOf(store, 'rel')).flatMap((one) =>
    one.type === 'approval.decided' ? [`${one.decision} ${one.reason ?? ''}`.trim()] : [],
  )

describeInChromium('a person without a mouse', (it) => {
  it('finds the agent of 300 that failed, reads why, and retries it', { timeoutMs: 60_000 }, async (context) => {
    const state = { isBroken: true }
    const prompts: string[] = []
    const model = policyModel(({ messages }) => {
      prompts.push(textOf(messages.at(-1)!.content))
      if (state.isBroken) throw Object.assign(new Error('The key was refused. Ask Ada.'), { statusCode: 401 })
      return 'Here is the summary.'
    })
    const summariser = defineAgent({ name: 'summariser', model, retry: { attempts: 1 } })
    const { runtime, server } = await serveInspector(context, [idler, summariser])
    const failed = await runtime.spawn(summariser, { id: 'q3' })
    await failed.prompt('Summarise the third quarter').result.catch(() => {})
    for (let index = 0; index < 299; index++) await runtime.spawn(idler, { id: `idler-${index}` })
    const { page } = await openInspector(context, server.port)
    const keys = keyboardOf(page)
    await page.getByRole('grid').waitFor()
    await keys.press('0')
    await keys.press('/')
    await keys.isAt(/^Filter by title/)
    await keys.type('quarter')
    await until(page, `document.querySelectorAll('.home-row').length === 1`)
    await keys.press('Enter')
    await keys.isAt(/Summarise the third quarter.*The key was refused/)
    await keys.press('Enter')
    await until(page, `location.hash === '#agent=q3'`)
    await keys.isAt(/The key was refused\. Ask Ada/)
    // From view to view, and in each to what moves by arrows.
    await keys.press('3')
    await keys.isAt(/^Spans, oldest first/)
    await keys.press('ArrowDown', '1')
    await keys.isAt(/Summarise the third quarter/)
    state.isBroken = false
    await keys.tabTo(/^Retry/, { back: true })
    await keys.press('Enter')
    await page.locator('.conversation-row').filter({ hasText: 'Here is the summary.' }).waitFor()
    await keys.press('ArrowDown')
    // Who comes back has the list, and has chosen nothing in it that a key could decide.
    await page.evaluate(`location.hash = '#'`)
    await keys.isAt(/^300 rows: agents/)
    await keys.press('ArrowDown')
    await keys.isAt(/idler|Summarise/)
    assert.match(prompts.at(-1)!, /Summarise the third quarter$/)
    checkProblems(context)
  })

  it('decides three approvals at the agent that asks', { timeoutMs: 60_000 }, async (context) => {
    const { runtime, server, store } = await serveInspector(context, [releaser])
    const agent = await runtime.spawn(releaser, { id: 'rel' })
    const run = agent.prompt('Deploy everywhere').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=rel' })
    const { page } = inspector
    const keys = keyboardOf(page)
    await inspector.sees('3 decisions waiting')
    // Until then nothing decides.
    await inspector.page.locator('.approvals[aria-keyshortcuts="y n"]').waitFor()
    await keys.press('p')
    await keys.tabTo(/^Approve/, { back: true })
    await keys.press('Enter')
    await inspector.sees('2 decisions waiting')
    // What was used is gone; one more Enter would decide nothing.
    await keys.isAt(/^Waiting for you$/)
    await keys.tabTo(/^Deny: deploy/, { back: true })
    await keys.press('Enter')
    await page.getByText('2 decisions waiting').waitFor({ state: 'detached' })
    await keys.tabTo(/^Reason, for deploy/)
    await keys.type('wolves')
    await keys.press('Escape')
    await keys.isAt(/^Waiting for you$/)
    await keys.tabTo(/^Deny$/)
    await keys.press('Enter')
    await run
    await keys.press('ArrowDown')
    assert.equal(await decisionsIn(store), ['approve', 'deny', 'deny wolves'])
    checkProblems(context)
  })

  it('finds a word that a grandchild said, and goes to it', { timeoutMs: 60_000 }, async (context) => {
    const { server, runtime } = await serveInspector(context, [lead])
    const agent = await runtime.spawn(lead, { id: 'lead' })
    await agent.prompt('go on').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=lead' })
    const { page } = inspector
    const keys = keyboardOf(page)
    await inspector.isIn('idle')
    await keys.press('/')
    await keys.isAt(/^Search this agent/)
    await keys.type('heron stood agent:*')
    await inspector.sees(/^[1-9]\d* match(es)?( in \d+ agents)?$/)
    await keys.press('Enter')
    while (!page.url().includes('fetcher') && !/agent=lead\.1\.1/.test(page.url())) {
      await keys.press('Enter')
    }
    await until(page, `document.querySelector('.is-hit.is-selected')?.innerText.includes('The heron stood') === true`)
    await keys.press('Escape')
    await keys.isAt(/The heron stood there/)
    checkProblems(context)
  })

  const at1024 = { viewport: { width: 1024, height: 768 }, timeoutMs: 60_000 } as const
  it('goes through a log while its details lie beside it', at1024, async (context) => {
    const { server, runtime } = await serveInspector(context, [idler])
    await (await runtime.spawn(idler, { id: 'i1' })).prompt('go on').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=i1&view=timeline&as=log' })
    const keys = keyboardOf(inspector.page)
    await inspector.isIn('idle')
    await keys.press('3', 'Home')
    await keys.isAt(/agent\.created/)
    await inspector.page.getByRole('heading', { name: 'agent.created' }).waitFor()
    await keys.press('ArrowDown', 'End')
    await keys.isAt(/run\.end/)
    await inspector.page.getByRole('heading', { name: 'run.end' }).waitFor()
    checkProblems(context)
  })

  it('is told what was said and not read yet', { timeoutMs: 60_000 }, async (context) => {
    const held = Promise.withResolvers<string>()
    const wait = defineTool({ name: 'wait', description: 'Waits.', input: z.object({}), run: () => held.promise })
    const waiter = defineAgent({
      name: 'waiter',
      tools: [wait],
      model: policyModel(({ messages }) =>
        messages.some(({ role }) => role === 'toolResult') ? 'I go on.' : { toolCalls: [{ name: 'wait', input: {} }] },
      ),
    })
    const { server, runtime } = await serveInspector(context, [waiter])
    const agent = await runtime.spawn(waiter, { id: 'w1' })
    const run = agent.prompt('wait').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=w1' })
    const { page } = inspector
    const keys = keyboardOf(page)
    await inspector.isIn('executing')
    await keys.press('p')
    await keys.isAt(/^Message to the running agent$/)
    await keys.type('Hurry up')
    await keys.press('Enter')
    await page.getByRole('list', { name: 'Not read yet' }).getByText('Hurry up').waitFor()
    await keys.isAt(/^Message to the running agent$/)
    // The call under way can be looked at, though its result is still to come.
    await keys.press('Escape')
    await keys.isAt(/wait.*running/)
    await keys.press('Enter')
    await inspector.sees('This call has not finished.')
    held.resolve('It is time.')
    await run
    await page.getByRole('list', { name: 'Not read yet' }).waitFor({ state: 'detached' })
    await page.locator('.conversation-row').filter({ hasText: 'Hurry up' }).waitFor()
    checkProblems(context)
  })

  it('undoes the files of a revert', { timeoutMs: 60_000 }, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'undone-'))
    context.cleanup(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'prices.txt')
    writeFileSync(file, 'apple 1\n')
    const writer = defineAgent({
      name: 'writer',
      tools: workspaceTools(folder, { snapshots: true }),
      braking: { revert: true },
      model: policyModel(({ messages }) =>
        messages.at(-1)?.role === 'toolResult'
          ? 'It is written.'
          : { toolCalls: [{ name: 'write_file', input: { path: 'prices.txt', content: 'pear 2\n' } }] },
      ),
    })
    const { server, runtime } = await serveInspector(context, [writer])
    const agent = await runtime.spawn(writer, { id: 'w1' })
    await agent.prompt('write').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=w1' })
    const { page } = inspector
    const keys = keyboardOf(page)
    await inspector.isIn('idle')
    await keys.press('1')
    await keys.isAt(/It is written/)
    await keys.moveTo(/^User/, 'ArrowUp')
    await keys.press('Enter')
    await keys.tabTo(/^Revert to n1$/)
    await keys.press('Enter')
    await keys.tabTo(/^Undo the effects of its calls/)
    await keys.press('Space')
    await keys.tabTo(/^(Revert|Abandon \d+ messages)$/)
    await keys.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await keys.isAt(/./)
    await until(page, `document.body.innerText.includes('undone')`)
    // The page says what is being undone before it is.
    const undoing = async (): Promise<void> => {
      while (readFileSync(file, 'utf8') !== 'apple 1\n') await page.waitForTimeout(20)
    }
    await inTime('the file is as it was', undoing())
    await keys.press('ArrowUp')
    checkProblems(context)
  })
})

describeInChromium('two people at one call', (it) => {
  it('are told, the later one, that it was decided', { timeoutMs: 60_000 }, async (context) => {
    const { runtime, server, store } = await serveInspector(context, [releaser])
    const agent = await runtime.spawn(releaser, { id: 'rel' })
    const run = agent.prompt('Deploy everywhere').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=rel' })
    await inspector.sees('3 decisions waiting')
    // Until then nothing decides.
    await inspector.page.locator('.approvals[aria-keyshortcuts="y n"]').waitFor()
    // Before the page hears of the first decision.
    await inspector.page.evaluate(
      `for (const kind of ['danger', 'primary']) [...document.querySelectorAll('.pending-line .' + kind)].at(-1).click()`,
    )
    await inspector.sees('Someone else has already decided this.')
    await inspector.button(/^Approve all 2 deploy/).click()
    await run
    assert.equal(await decisionsIn(store), ['deny', 'approve', 'approve'])
    checkProblems(context)
  })
})

describeInChromium('a person who clicks twice where once is enough', (it) => {
  it('decides the call that was clicked, not the one that took its place', { timeoutMs: 60_000 }, async (context) => {
    const { runtime, server, store } = await serveInspector(context, [releaser])
    const agent = await runtime.spawn(releaser, { id: 'rel' })
    const run = agent.prompt('Deploy everywhere').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=rel' })
    const { page } = inspector
    const last = page.getByRole('button', { name: /^Approve: deploy/ }).last()
    await inspector.sees('3 decisions waiting')
    // Until then nothing decides.
    await inspector.page.locator('.approvals[aria-keyshortcuts="y n"]').waitFor()
    const { x, y } = (await last.boundingBox())!
    await page.mouse.click(x + 4, y + 4)
    await inspector.sees('2 decisions waiting')
    // The line before is where that one was.
    assert.is((await last.boundingBox())!.y, y)
    await page.mouse.down({ clickCount: 2 })
    await page.mouse.up({ clickCount: 2 })
    await page.keyboard.press('2')
    await page.locator('.chart-box').first().waitFor()
    assert.equal(await decisionsIn(store), ['approve'])
    await inspector.button(/^Approve all 2 deploy/).click()
    await run
    checkProblems(context)
  })
})
