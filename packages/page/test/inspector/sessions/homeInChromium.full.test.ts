import { z } from 'zod'
import type { AgentDefinition } from '../../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import { approving, type Serving } from '../../../../bridge/test/server/bridgeHarness.ts'
import { wantsAll } from '../../../../../test/support/seeds.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, recordsOf, serveInspector, textIn, until } from '../inspectorHarness.ts'

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys.',
  input: z.object({ to: z.string(), version: z.string() }),
  needsApproval: true,
  run: ({ to }) => `It is in ${to}.`,
})
/** Asks to deploy what it is told, word by word. */
const releaser = defineAgent({
  name: 'releaser',
  model: policyModel(({ messages }) => {
    const last = messages.at(-1)!
    if (last.role === 'toolResult') return 'It went so.'
    const places = textOf(last.content).split(' ').slice(1)
    return { toolCalls: places.map((to) => ({ name: 'deploy', input: { to, version: '2.4.1' } })) }
  }),
  tools: [deploy],
})
/** Asks for two refunds, of which one has a long reason. */
const refunder = defineAgent({
  name: 'refunder',
  model: policyModel(({ messages }) => {
    if (messages.at(-1)!.role === 'toolResult') return 'Done.'
    const reason = 'Arrived broken; the customer sent pictures of all of it, and wants the money back.'
    return {
      toolCalls: [
        { name: 'refund', input: { order: 'A-17', reason, eur: 129.9 } },
        { name: 'refund', input: { order: 'B-2', reason: `${reason.repeat(4)} the end of it`, eur: 5 } },
      ],
    }
  }),
  tools: [
    defineTool({
      name: 'refund',
      description: 'Refunds.',
      input: z.object({ order: z.string(), reason: z.string(), eur: z.number() }),
      needsApproval: true,
      run: () => 'Refunded.',
    }),
  ],
})
const atEachWidth = { timeoutMs: 60_000 }
const idler = defineAgent({ name: 'idler', model: policyModel(() => 'Done.') })
/** Fails until it is let. */
const failing = () => {
  const state = { isBroken: true, prompts: [] as string[] }
  const model = policyModel(({ messages }) => {
    state.prompts.push(textOf(messages.at(-1)!.content))
    if (state.isBroken) throw Object.assign(new Error('The key was refused.\nAsk Ada.'), { statusCode: 401 })
    return 'Here is the summary.'
  })
  return { state, definition: defineAgent({ name: 'summariser', model, retry: { attempts: 1 } }) }
}

async function idle({ runtime }: Serving, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await runtime.spawn(idler, { id: `idler-${index}` })
}

/** Spawns and prompts, and resolves once something waits or the run is over. */
async function begun({ runtime }: Serving, definition: AgentDefinition, id: string, prompt: string): Promise<void> {
  const agent = await runtime.spawn(definition, { id })
  const isOver = Promise.withResolvers<void>()
  agent.subscribe(({ type }) => {
    if (type === 'approval.requested' || type === 'run.end') isOver.resolve()
  })
  void agent.prompt(prompt).result.catch(() => {})
  await isOver.promise
}

const row = ({ page }: Pick<PageContext, 'page'>, name: string | RegExp) => page.getByRole('row', { name })

/** Presses the key of the overview; resolves to the row that is chosen before any other key can come, once its list has the focus. */
async function chosenOnArrival(page: PageContext['page']): Promise<unknown> {
  await page.evaluate(`globalThis.arrival = new Promise((resolve) => {
    document.addEventListener('focusin', async ({ target }) => {
      if (target.id !== 'overview') return
      // No task, timer or frame comes in between.
      for (let microtask = 0; microtask < 20; microtask += 1) await null
      resolve(target.getAttribute('aria-activedescendant'))
    })
  }), undefined`)
  await page.keyboard.press('0')
  return await page.evaluate('globalThis.arrival')
}

describeInChromium('the overview of all agents', (it) => {
  it(
    'leads by the keyboard alone to the one of 300 that failed, says why, and retries it',
    { timeoutMs: 60_000 },
    async (context) => {
      const { state, definition } = failing()
      const serving = await serveInspector(context, [idler, definition])
      await begun(serving, definition, 'q3', 'Summarise the third quarter')
      await idle(serving, 300)
      const { page } = await openInspector(context, serving.server.port)
      await page.getByRole('grid').waitFor()
      await page.keyboard.press('0')
      await until(page, `document.activeElement.id === 'overview'`)
      const failed = row(context, /Summarise the third quarter/)
      await failed.getByText(/^failed: /).waitFor()
      assert.match(await textIn(failed), /The key was refused\./)
      assert.is(await failed.getAttribute('aria-selected'), 'true')
      await page.getByRole('button', { name: /^1 failed/ }).waitFor()
      await page.getByRole('button', { name: /^300 idle/ }).waitFor()
      await page.keyboard.press('Enter')
      await until(page, `location.hash === '#agent=q3'`)
      await page.locator('.conversation-row').filter({ hasText: 'The key was refused' }).first().waitFor()

      state.isBroken = false
      assert.is(await chosenOnArrival(page), 'overview-1', 'no key falls between the focus and the choice')
      await page.keyboard.press('r')
      await failed.getByText('idle').waitFor()
      assert.match(state.prompts.at(-1)!, /Summarise the third quarter$/)
      await page.getByRole('button', { name: /^1 failed/ }).waitFor({ state: 'detached' })
      checkProblems(context)
    },
  )

  it('decides three approvals by the keyboard, each that was chosen', { timeoutMs: 60_000 }, async (context) => {
    const serving = await serveInspector(context, [idler, releaser])
    await idle(serving, 3)
    await begun(serving, releaser, 'rel', 'deploy north south east')
    const { page } = await openInspector(context, serving.server.port)
    for (const place of ['north', 'south', 'east']) await page.getByText(`deploy ${place} 2.4.1`).waitFor()
    await page.keyboard.press('0')
    await until(page, `document.activeElement.getAttribute('aria-activedescendant') !== null`)
    const chosen = (): Promise<string> => textIn(page.locator('.home-row.active .home-what'))
    const keys = ['y', 'n', 'y']
    const decided: string[] = []
    for (const key of keys) {
      await page.locator('#overview[aria-keyshortcuts="y n"]').waitFor()
      decided.push(/deploy (\w+)/.exec(await chosen())![1]!)
      await page.keyboard.press(key)
      await page.getByText(`deploy ${decided.at(-1)} 2.4.1`).waitFor({ state: 'detached' })
    }
    await row(context, /deploy north south east/)
      .getByText('idle')
      .waitFor()
    const records = await recordsOf(serving.store, 'rel')
    const asked = new Map(
      records.flatMap((one) =>
        one.type === 'approval.requested' ? [[one.key, (one.input as { to: string }).to] as const] : [],
      ),
    )
    const told = records.flatMap((one) =>
      one.type === 'approval.decided' ? [`${asked.get(one.key)} ${one.decision}`] : [],
    )
    assert.equal(
      told,
      decided.map((place, index) => `${place} ${keys[index] === 'y' ? 'approve' : 'deny'}`),
    )
    checkProblems(context)
  })

  it(
    'has the amount of a refund beside Approve at any width, and approves no line that does not tell all',
    atEachWidth,
    async (context) => {
      const serving = await serveInspector(context, [refunder])
      await begun(serving, refunder, 'desk', 'go')
      // One agent alone would be shown at once, in place of the overview.
      await serving.runtime.spawn(refunder, { id: 'other' })
      const { page } = await openInspector(context, serving.server.port)
      for (const width of [375, 768, 1024, 1440, 1920]) {
        await page.setViewportSize({ width, height: 800 })
        const waiting = page.locator('.home-row.is-waiting').filter({ hasText: 'A-17' })
        await waiting.getByText('eur: 129.9').waitFor()
        await waiting.getByText('cannot be undone').waitFor()
        await waiting.getByRole('button', { name: 'Approve: ' }).waitFor()
        const hidden = await waiting.locator('.home-what').evaluate((words) => {
          const {
            scrollWidth = 0,
            clientWidth = 0,
            scrollHeight = 0,
            clientHeight = 0,
          } = words as unknown as { readonly [side: string]: number }
          return [scrollWidth - clientWidth > 0, scrollHeight - clientHeight > 2]
        })
        assert.equal(hidden, [false, false], `${width} px`)
      }
      const long = page.locator('.home-row.is-waiting').filter({ hasText: 'B-2' })
      await long.getByRole('button', { name: 'More: ' }).waitFor()
      assert.is(await long.getByRole('button', { name: 'Approve: ' }).count(), 0)
      await page.locator('.home-row.is-waiting').filter({ hasText: 'A-17' }).locator('.home-title').click()
      for (const width of [375, 768, 1440]) {
        await page.setViewportSize({ width, height: 800 })
        const line = page.locator('.pending-line').filter({ hasText: 'A-17' })
        await line.getByText('eur: 129.9').waitFor()
        await line.getByText('cannot be undone').waitFor()
      }
      const whole = page.locator('.pending-line').filter({ hasText: 'B-2' })
      await whole.getByRole('button', { name: 'Show all' }).click()
      const card = page.locator('.approval').filter({ hasText: 'B-2' })
      assert.match(await textIn(card.locator('pre')), /eur: 5[^]*the end of it/)
      checkProblems(context)
    },
  )

  it('opens what waits, in place, with all of it and a field for a reason', { timeoutMs: 30_000 }, async (context) => {
    const serving = await serveInspector(context, [idler, releaser])
    await idle(serving, 2)
    await begun(serving, releaser, 'rel', 'deploy north')
    const { page } = await openInspector(context, serving.server.port)
    await page.getByRole('button', { name: 'More: deploy north 2.4.1' }).click()
    const card = page.getByRole('article', { name: 'deploy waits for approval' })
    await card.getByText('version: "2.4.1"').waitFor()
    await card.getByLabel('Reason').fill('wolves')
    await card.getByRole('button', { name: 'Deny' }).click()
    await card.waitFor({ state: 'detached' })
    const [decided] = (await recordsOf(serving.store, 'rel')).filter(({ type }) => type === 'approval.decided')
    assert.is(decided?.type === 'approval.decided' && decided.reason, 'wolves')
    checkProblems(context)
  })

  it('keeps its filters in the address, and finds agents by words', { timeoutMs: 30_000 }, async (context) => {
    const serving = await serveInspector(context, [idler, releaser])
    await idle(serving, 30)
    await begun(serving, releaser, 'rel', 'deploy north')
    const { page } = await openInspector(context, serving.server.port)
    await page.getByRole('button', { name: /waiting for you/ }).click()
    await until(page, `location.hash === '#show=waiting'`)
    await page.reload()
    await page.getByRole('button', { name: /waiting for you/, pressed: true }).waitFor()
    await row(context, /deploy north/).waitFor()
    assert.is(await row(context, /idler/).count(), 0)
    await page.getByRole('button', { name: /waiting for you/ }).click()
    await page.getByRole('searchbox', { name: /Filter by title/ }).fill('IDLER-17')
    await row(context, /idler-17/).waitFor()
    assert.is(await page.locator('.home-row').count(), 1)
    await page.keyboard.press('Enter')
    await until(page, `document.activeElement.id === 'overview'`)
    await page.keyboard.press('Enter')
    await until(page, `location.hash === '#agent=idler-17'`)
    checkProblems(context)
  })

  it('stays as it is when a session goes that is shown', { timeoutMs: 30_000 }, async (context) => {
    const serving = await serveInspector(context, [idler, releaser])
    await idle(serving, 3)
    await openInspector(context, serving.server.port)
    await row(context, /idler-1/).waitFor()
    await (await serving.runtime.open('idler-1', idler)).stop()
    await row(context, /idler-1/)
      .getByText('stopped')
      .waitFor()
    await row(context, /idler-2/).waitFor()
    checkProblems(context)
  })

  for (const width of [375, 1024, 1440])
    for (const colorScheme of ['light', 'dark'] as const) {
      const look = { viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce' } as const
      it(
        `fits ${width} px in ${colorScheme}, whatever agents are called`,
        { timeoutMs: 60_000, ...look },
        async (context) => {
          const { definition } = failing()
          const serving = await serveInspector(context, [idler, releaser, definition])
          await idle(serving, 40)
          const long = 'W'.repeat(1_000)
          await begun(serving, releaser, 'long', `${long} ${long}`)
          await begun(serving, releaser, 'rtl', 'אבג \u202Eשלום e\u0301\u0301\u0301\u0301')
          await begun(serving, definition, 'failed', long)
          const { page } = await openInspector(context, serving.server.port)
          await row(context, /Deny/).first().waitFor()
          const wide =
            await page.evaluate(`[...document.querySelectorAll('body, .page > *, .home > *, .home-row, .home-row > *')]
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
          .map((element) => element.className)`)
          assert.equal(wide, [])
          if (wantsAll || width < 700 === (colorScheme === 'dark')) assert.equal(await axeViolations(page), [])
          checkProblems(context)
        },
      )
    }
})

describeInChromium('what waits for a person at the agent that is shown', (it) => {
  it(
    'has a line each, a key for the first, one for all of its tool, and a count in the title',
    { timeoutMs: 60_000, viewport: { width: 1280, height: 900 } },
    async (context) => {
      const serving = await serveInspector(context, [releaser])
      await begun(serving, releaser, 'rel', 'deploy north south east west')
      const { page } = await openInspector(context, serving.server.port, { hash: '#agent=rel' })
      await page.getByText('4 decisions waiting').waitFor()
      await until(page, `document.title === '(4) deploy north south east west · escapement'`)
      // The first one is whole, the others are lines. Their code comes beside that of the conversation.
      await page.getByRole('article').first().waitFor()
      assert.is(await page.getByRole('article').count(), 1)
      const keysAct = page.locator('.approvals[aria-keyshortcuts="y n"]')
      // What was typed for a call would be lost by a key.
      await keysAct.waitFor()
      const reason = page.getByRole('textbox', { name: 'Reason, for deploy' })
      await reason.fill('because')
      await keysAct.waitFor({ state: 'detached' })
      await reason.press('Escape')
      await page.keyboard.press('n')
      await reason.fill('')
      await reason.press('Escape')
      await keysAct.waitFor()
      await page.getByText('4 decisions waiting').waitFor()
      const first = /deploy (\w+)/.exec(await textIn(page.locator('.pending-item .pending-fold').first()))![1]!
      await page.keyboard.press('n')
      await page.getByText('3 decisions waiting').waitFor()
      assert.is(await page.locator('.pending-item .pending-fold', { hasText: first }).count(), 0)
      await page.locator('.pending-item .pending-fold').nth(2).click()
      assert.is(await page.locator('.pending-item .pending-fold').nth(2).getAttribute('aria-expanded'), 'true')
      assert.equal(await axeViolations(page), [])
      await keysAct.waitFor()
      await page.keyboard.press('Shift+Y')
      await page.getByText('It went so.').waitFor()
      await until(page, `document.title === 'deploy north south east west · escapement'`)
      const records = await recordsOf(serving.store, 'rel')
      const said = records.flatMap((one) => (one.type === 'approval.decided' ? [one.decision] : []))
      assert.equal(said, ['deny', 'approve', 'approve', 'approve'])
      // Nothing waits: the key starts an agent, and what is typed goes to the first prompt.
      await page.keyboard.press('n')
      const dialog = page.getByRole('dialog', { name: 'Start an agent' })
      await dialog.waitFor()
      await page.keyboard.type('deploy up')
      await page.keyboard.press('Control+Enter')
      await page.getByRole('article', { name: 'deploy waits for approval' }).waitFor()
      checkProblems(context)
    },
  )

  it('says that notifications were refused, and does not ask again', { timeoutMs: 30_000 }, async (context) => {
    const serving = await serveInspector(context, [idler])
    await idle(serving, 2)
    const { page } = await openInspector(context, serving.server.port)
    await page.evaluate(`Notification.requestPermission = () => Promise.resolve('denied')`)
    const button = page.getByRole('button', { name: 'Notify me' })
    // A browser without a person may have refused already.
    if ((await page.evaluate('Notification.permission')) !== 'default') return assert.is(await button.count(), 0)
    await button.click()
    await page.getByText('Your browser blocks notifications.').waitFor()
    assert.is(await button.count(), 0)
    checkProblems(context)
  })
})

describeInChromium('the list of agents', (it) => {
  it(
    'follows a link, keeps a sub-agent that has gone, and is found in by words',
    { timeoutMs: 60_000 },
    async (context) => {
      const { worker, boss } = approving()
      const serving = await serveInspector(context, [idler, worker, boss])
      await idle(serving, 60)
      const asked = Promise.withResolvers<void>()
      const caller = await serving.runtime.spawn(boss, { id: 'boss' })
      caller.subscribe(({ type }) => type === 'approval.requested' && asked.resolve(), { descendants: true })
      const run = caller.prompt('Go').result
      await asked.promise
      const { page } = await openInspector(context, serving.server.port)
      await page.getByRole('treeitem', { name: /idler-0/ }).waitFor()
      await page.evaluate(`location.hash = '#agent=boss'`)
      await page.getByRole('treeitem', { name: /boss/, selected: true }).waitFor()
      const child = page.locator('.sidebar').getByRole('treeitem', { name: /boss\.1/ })
      await child.getByText('waits for you').waitFor()
      await page.locator('.approvals[aria-keyshortcuts="y n"]').waitFor()
      await page.keyboard.press('y')
      await run
      await child.getByText('ended').waitFor()
      assert.is(await page.getByText('interrupted').count(), 0)
      await page.getByRole('searchbox', { name: 'Filter the list' }).fill('boss.1')
      await page.getByRole('treeitem', { name: /idler/ }).first().waitFor({ state: 'detached' })
      await child.waitFor()
      await page.keyboard.press('ArrowDown')
      await until(page, `document.activeElement.id === 'agents'`)
      await page.keyboard.press('Home')
      await page.keyboard.press('ArrowLeft')
      await page.getByRole('treeitem', { name: /Running/ }).waitFor()
      const edge = page.getByRole('separator', { name: 'Width of the list' })
      await edge.focus()
      await page.keyboard.press('ArrowRight')
      assert.is(await edge.getAttribute('aria-valuenow'), '280')
      await page.reload()
      await until(page, `document.querySelector('.sidebar').clientWidth >= 279`)
      checkProblems(context)
    },
  )
})
