import { z } from 'zod'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import type { ModelRequest } from '../../../../../src/protocol/ports/model.ts'
import type { RecordOf } from '../../../../../src/protocol/records.ts'
import type { Store } from '../../../../../src/protocol/ports/store.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import {
  inTime,
  openInspector,
  recordsOf,
  serveInspector,
  startAgent,
  until,
  type OpenInspector,
} from '../inspectorHarness.ts'
import { readAll, readingModel } from '../readerAgent.ts'

/** Text of the newest message to the model, without the id of the step. */
const lastText = ({ messages }: ModelRequest): string =>
  textOf(messages.at(-1)?.content ?? []).replace(/\n\[n\d+\]$/, '')

/** Echoes; told to wait, it calls a tool that runs until it is aborted or `go` says so. */
function talker(go: Promise<void>) {
  const wait = defineTool({
    name: 'wait',
    description: 'Waits for a sign.',
    input: z.object({}),
    run: (_, { signal }) =>
      new Promise<string>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        go.then(() => resolve('the sign came')).catch(reject)
      }),
  })
  const model = policyModel((request) => {
    const text = lastText(request)
    return text === 'wait' ? { toolCalls: [{ name: 'wait', input: {} }] } : `You said: ${text}`
  })
  return defineAgent({ name: 'talker', model, tools: [wait], braking: { revert: true } })
}

const keys = defineTool({
  name: 'open_gate',
  description: 'Opens a gate.',
  input: z.object({ gate: z.string() }),
  needsApproval: true,
  run: ({ gate }) => `The ${gate} gate is open.`,
})
const gatekeeper = defineAgent({
  name: 'gatekeeper',
  model: policyModel((request) =>
    request.messages.at(-1)?.role === 'toolResult'
      ? `It went so: ${lastText(request)}`
      : { toolCalls: [{ name: 'open_gate', input: { gate: lastText(request) } }] },
  ),
  tools: [keys],
})

const tokens = { 'a-token-of-the-keeper': 'admin', 'a-token-of-a-visitor': 'observe' } as const

const endsOf = async (store: Store, agentId: string): Promise<string[]> =>
  (await recordsOf(store, agentId))
    .filter((record): record is RecordOf<'run.end'> => record.type === 'run.end')
    .map(({ stopReason }) => stopReason)

/** The rows of the conversation that hold a text. */
const rows = ({ page }: OpenInspector, text: string) => page.locator('.conversation-row').filter({ hasText: text })

describeInChromium('a person who drives an agent from the inspector page', (it) => {
  it('prompts, steers, follows up and aborts', { timeoutMs: 30_000 }, async (context) => {
    const sign = Promise.withResolvers<void>()
    const { server, store } = await serveInspector(context, [talker(sign.promise)])
    const inspector = await openInspector(context, server.port)
    await startAgent(inspector, 'talker', { id: 't1', prompt: 'hello' })
    await inspector.sees('You said: hello')
    await inspector.isIn('idle')

    // In a run, what is typed goes where the person says.
    await inspector.say('wait')
    await inspector.isIn('executing')
    await inspector.say('mind the step')
    await inspector.page.getByText('Follow up', { exact: true }).first().click()
    await inspector.say('and then this')
    // A run that ends before it arrives would leave it for a run of its own.
    const hasArrived = async (): Promise<boolean> =>
      (await recordsOf(store, 't1')).some((record) => record.type === 'queue.changed' && record.queue === 'followUps')
    const arrival = async (): Promise<void> => {
      while (!(await hasArrived())) await inspector.page.evaluate(() => null)
    }
    await inTime('the follow-up is in the log', arrival())
    sign.resolve()
    await inspector.sees('You said: and then this')
    await inspector.isIn('idle')
    assert.is(await rows(inspector, 'mind the step').locator('.badge', { hasText: 'steering' }).count(), 1)
    assert.is(await rows(inspector, 'and then this').locator('.badge', { hasText: 'follow-up' }).count(), 1)
    assert.equal(await endsOf(store, 't1'), ['stop', 'stop'])
    checkProblems(context)
  })

  it('says to each agent what was written for it, and as was chosen there', { timeoutMs: 30_000 }, async (context) => {
    const { server, runtime } = await serveInspector(context, [talker(new Promise(() => {}))])
    const inspector = await openInspector(context, server.port)
    await startAgent(inspector, 'talker', { id: 't2', prompt: 'wait' })
    await inspector.isIn('executing')
    await startAgent(inspector, 'talker', { id: 't1', prompt: 'wait' })
    await inspector.isIn('executing')
    const chosen = inspector.page.getByRole('radiogroup', { name: 'When to send it' }).locator('input:checked + span')
    await inspector.page.getByText('Interrupt', { exact: true }).click()
    await inspector.sees('Interrupt', chosen)
    await inspector.prompt.fill('for t1')
    await inspector.page.getByRole('treeitem', { name: /t2/ }).click()
    await inspector.page.getByRole('main', { name: 'Agent t2' }).waitFor()
    await inspector.isIn('executing')
    assert.is(await inspector.prompt.inputValue(), '')
    assert.is(await chosen.textContent(), 'Steer')
    // A dialog about an agent goes with it.
    await inspector.choose('Stop the agent')
    await inspector.sees('Stop t2 for good?')
    await inspector.page.goBack()
    await inspector.page.getByRole('main', { name: 'Agent t1' }).waitFor()
    assert.is(await inspector.page.getByRole('dialog').count(), 0)
    assert.is(runtime.agent('t1')?.state, 'executing')
    checkProblems(context)
  })

  it('aborts a run that is under way', { timeoutMs: 30_000 }, async (context) => {
    const { server, store } = await serveInspector(context, [talker(new Promise(() => {}))])
    const inspector = await openInspector(context, server.port)
    await startAgent(inspector, 'talker', { id: 't1', prompt: 'wait' })
    await inspector.isIn('executing')
    await inspector.button('Abort').click()
    await inspector.isIn('idle')
    await rows(inspector, 'wait').locator('.badge', { hasText: 'aborted' }).waitFor()
    assert.equal(await endsOf(store, 't1'), ['aborted'])
    checkProblems(context)
  })

  it(
    'goes back to a message, and leaves a note in place of what came after',
    { timeoutMs: 30_000 },
    async (context) => {
      const { server, store } = await serveInspector(context, [talker(Promise.resolve())])
      const inspector = await openInspector(context, server.port)
      const { page } = inspector
      await startAgent(inspector, 'talker', { id: 't1', prompt: 'the good way' })
      await inspector.sees('You said: the good way')
      await inspector.say('the wrong way')
      await inspector.sees('You said: the wrong way')
      await inspector.isIn('idle')
      await rows(inspector, 'the wrong way').first().click()
      await page.getByRole('button', { name: 'Revert to n3' }).click()
      const dialog = page.getByRole('dialog')
      // What goes is said before; so short a reply frees nothing.
      await inspector.sees('It frees nothing', dialog)
      await inspector.sees('You said: the wrong way', dialog.getByRole('list', { name: 'Removed steps' }))
      await dialog.getByLabel(/the model will read/).fill('Do not go there again.')
      await dialog.getByRole('button', { name: 'Abandon 1 message', exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      await inspector.sees('a person went back to n3 · failure')
      await inspector.sees('Do not go there again.')
      await page.locator('.conversation-row.is-abandoned').filter({ hasText: 'You said: the wrong way' }).waitFor()
      const reverts = (await recordsOf(store, 't1')).filter(({ type }) => type === 'revert.applied')
      assert.is(reverts.length, 1)

      // Over what a person said nobody goes back; the dialog says so and stays.
      await rows(inspector, 'the good way').first().click()
      await page.getByRole('button', { name: 'Revert to n1' }).click()
      await inspector.sees(/1 of them came from people/, dialog)
      await page.getByRole('dialog').getByRole('button', { name: 'Abandon 2 messages', exact: true }).click()
      await page.getByRole('dialog').getByRole('alert').getByText('Refused:').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      checkProblems(context)
    },
  )

  it(
    'pins a step, hides it no more than it may, and compacts, saying what came of it',
    { timeoutMs: 30_000 },
    async (context) => {
      const { server, store } = await serveInspector(context, [talker(Promise.resolve())])
      const inspector = await openInspector(context, server.port)
      const { page } = inspector
      const dialog = page.getByRole('dialog')
      await startAgent(inspector, 'talker', { id: 't1', prompt: 'one' })
      await inspector.sees('You said: one')
      await inspector.say('two')
      await inspector.sees('You said: two')
      await inspector.isIn('idle')
      await rows(inspector, 'You said: one').first().click()
      await page.getByRole('button', { name: 'Pin n2' }).click()
      await rows(inspector, 'You said: one').locator('.badge', { hasText: 'pinned' }).waitFor()
      assert.is(await page.getByRole('button', { name: 'Hide n2' }).getAttribute('aria-disabled'), 'true')
      await page.getByRole('button', { name: 'Unpin n2' }).click()
      await page.getByRole('button', { name: 'Pin n2', exact: true }).waitFor()
      await page.getByRole('button', { name: 'Hide n2' }).click()
      await dialog.getByLabel(/Memo for the model/).fill('It was said once.')
      await dialog.getByRole('button', { name: 'Hide 1 message', exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      await inspector.sees('It was said once.')
      await inspector.choose('Compact the conversation')
      await dialog.getByRole('button', { name: 'Compact', exact: true }).click()
      await dialog.getByRole('alert').getByText('Refused:').waitFor()
      await page.keyboard.press('Escape')
      const types = (await recordsOf(store, 't1')).map(({ type }) => type)
      assert.equal(
        ['pin.applied', 'prune.applied', 'compaction.end'].map((type) => types.filter((one) => one === type).length),
        [2, 1, 1],
      )
      checkProblems(context)
    },
  )

  it('asks once, though the keys that ask are pressed again', { timeoutMs: 30_000 }, async (context) => {
    const go = Promise.withResolvers<void>()
    const { server, store } = await serveInspector(context, [talker(go.promise)])
    const inspector = await openInspector(context, server.port)
    const { page } = inspector
    const dialog = page.getByRole('dialog')
    await startAgent(inspector, 'talker', { id: 't1', prompt: 'one' })
    await inspector.sees('You said: one')
    await inspector.isIn('idle')
    await inspector.say('wait')
    await inspector.isIn('executing')
    await rows(inspector, 'You said: one').first().click()
    await page.getByRole('button', { name: 'Hide n2' }).click()
    await dialog.getByLabel(/Memo for the model/).fill('It was said once.')
    await page.keyboard.press('Control+Enter')
    await dialog.getByText('Requested.').waitFor()
    await page.keyboard.press('Control+Enter')
    // What was pressed is done before this: a connection keeps its order.
    await page.keyboard.press('Escape')
    await inspector.choose('Compact the conversation')
    await dialog.getByRole('button', { name: 'Compact', exact: true }).click()
    await dialog.getByText('Requested.').waitFor()
    await page.keyboard.press('Escape')
    go.resolve()
    await inspector.sees('You said: the sign came')
    await inspector.isIn('idle')
    const types = (await recordsOf(store, 't1')).map(({ type }) => type)
    assert.is(types.filter((type) => type === 'prune.applied').length, 1)
    checkProblems(context)
  })

  it('masks the results of a step, and says why not', { timeoutMs: 30_000 }, async (context) => {
    const reader = defineAgent({
      name: 'reader',
      model: readingModel(),
      tools: [readAll],
      braking: { revert: true },
    })
    const { server, store } = await serveInspector(context, [reader])
    const inspector = await openInspector(context, server.port)
    const { page } = inspector
    await startAgent(inspector, 'reader', { id: 'r1', prompt: 'read' })
    await inspector.sees('It was read.')
    await inspector.isIn('idle')
    await rows(inspector, 'read_all').locator('.conversation-head.is-call').first().click()
    await page.getByRole('button', { name: 'Mask the results of n3' }).click()
    await rows(inspector, 'read_all').locator('.badge', { hasText: 'masked' }).first().waitFor()
    await page.locator('.button[aria-disabled="true"]', { hasText: 'Mask' }).waitFor()
    const [masked] = (await recordsOf(store, 'r1')).filter((record) => record.type === 'prune.applied')
    assert.equal(masked?.type === 'prune.applied' && [masked.masked, masked.steps], [true, [2]])
    // What a person said has no results.
    await rows(inspector, 'read').first().click()
    await page.getByRole('button', { name: 'Mask the results of n1' }).waitFor()
    assert.is(await page.getByRole('button', { name: 'Mask the results of n1' }).getAttribute('aria-disabled'), 'true')
    checkProblems(context)
  })

  it('approves a call, and denies one with a reason that the model hears', { timeoutMs: 30_000 }, async (context) => {
    const { server } = await serveInspector(context, [gatekeeper])
    const inspector = await openInspector(context, server.port)
    const { page } = inspector
    await startAgent(inspector, 'gatekeeper', { id: 'g1', prompt: 'north' })
    const asks = page.getByRole('article', { name: 'open_gate waits for approval' })
    await inspector.sees('gate: "north"', asks)
    await asks.getByRole('button', { name: 'Approve' }).click()
    await inspector.sees('It went so: The north gate is open.')
    await asks.waitFor({ state: 'detached' })

    await inspector.say('south')
    await inspector.sees('gate: "south"', asks)
    await asks.getByLabel('Reason').fill('wolves were seen')
    await asks.getByRole('button', { name: 'Deny' }).click()
    await inspector.sees(/It went so: .*wolves were seen/)
    await asks.waitFor({ state: 'detached' })
    checkProblems(context)
  })

  it('is told why nothing can be done with a token that may only look', { timeoutMs: 30_000 }, async (context) => {
    const serving = await serveInspector(context, [gatekeeper], { tokens })
    const agent = await serving.runtime.spawn(gatekeeper, { id: 'g1' })
    void agent.prompt('east')
    const hash = '#agent=g1&token=a-token-of-a-visitor'
    const inspector = await openInspector(context, serving.server.port, { hash })
    const { page } = inspector
    const asks = page.getByRole('article', { name: 'open_gate waits for approval' })
    await asks.waitFor()
    // The token does not stay where it can be read and copied.
    assert.not.match(page.url(), /token/)
    const why = 'Your token only lets you look: this needs the right "talk".'
    assert.is(await inspector.prompt.getAttribute('placeholder'), why)
    assert.is(await inspector.prompt.isEditable(), false)
    await inspector.button('More').click()
    for (const name of ['Prompt', 'Stop the agent', 'Approve', 'Deny']) {
      const button = page.getByRole(name.startsWith('Stop') ? 'menuitem' : 'button', { name, exact: true })
      assert.is(await button.getAttribute('aria-disabled'), 'true', name)
      const about = await button.getAttribute('aria-describedby')
      const told = (await page.locator(`[id="${about}"]`).textContent()) ?? ''
      assert.match(told, /^Your token only lets you look: this needs the right "/, name)
    }
    await asks.getByRole('button', { name: 'Approve' }).click({ force: true })
    const start = inspector.button('Start an agent').first()
    assert.is(await start.getAttribute('title'), 'To start agents you need a token with the right "spawn".')
    await start.click({ force: true })
    assert.is(await page.getByRole('dialog').count(), 0)
    assert.is((await recordsOf(serving.store, 'g1')).filter(({ type }) => type === 'approval.decided').length, 0)
    checkProblems(context)
  })

  it('is asked for a token when there is none, and again when it is wrong', { timeoutMs: 30_000 }, async (context) => {
    const { server } = await serveInspector(context, [gatekeeper], { tokens })
    const inspector = await openInspector(context, server.port)
    await inspector.sees('This server requires a token')
    const field = inspector.page.getByLabel('Token')
    await field.fill('a-token-that-is-wrong')
    await field.press('Enter')
    await inspector.sees('The server refused this token')
    await until(inspector.page, `document.activeElement.type === 'password'`)
    // Keys are of the page, which is not there.
    await inspector.page.evaluate('document.activeElement.blur()')
    for (const key of ['?', 'n', 'd']) await inspector.page.keyboard.press(key)
    await field.fill('a-token-of-the-keeper')
    await field.press('Enter')
    await inspector.sees('No agent yet')
    await inspector.sees('admin', inspector.page.getByRole('banner'))
    assert.is(await inspector.page.getByRole('dialog').count(), 0)
    // It is kept for this tab.
    await inspector.page.reload()
    await inspector.sees('No agent yet')
    checkProblems(context, /WebSocket connection to .* failed|status of 401/)
  })
})
