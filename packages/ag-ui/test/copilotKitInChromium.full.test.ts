import { agUi } from '../../../src/agUi.ts'
import type { Runtime } from '../../../src/index.ts'
import { checkProblems, type PageContext } from '../../../test/browser/chromium.ts'
import { assert } from '../../../test/support/suite.ts'
import { ChatPage, deskAgent, openDesk, talkAcrossReloads, type Desk } from '../../../test/frontEnds/frontEndDesk.ts'
import { copilotRuntime, describeFrontEnds } from '../../../test/frontEnds/frontEndLab.ts'
import { lastingStore } from '../../bridge/test/server/bridgeHarness.ts'
import { heldReply } from './agUiHarness.ts'

const timeoutMs = 120_000

/** Resolves with how the run under way ends. */
const stopReasonOf = (runtime: Runtime): Promise<string> =>
  new Promise((resolve) => {
    runtime.agent('t1')!.subscribe((event) => {
      if (event.type === 'run.end') resolve(event.stopReason)
    })
  })

const here = { url: '/ag-ui', thread: 't1' }

/** The page of CopilotKit on a server of its own, which is its runtime. */
async function openChat(
  context: PageContext,
  agent = deskAgent(),
): Promise<{ readonly chat: ChatPage; readonly desk: Desk }> {
  const desk = await openDesk(context, 'copilotKit', { agent, endpoints: [agUi()] })
  const chat = new ChatPage(context.page)
  await chat.open(desk.url, here)
  return { chat, desk }
}

/** Stops an answer that is held, and says something more. */
async function stopsAndGoesOn({ page }: PageContext, chat: ChatPage, { runtime }: Desk): Promise<void> {
  await chat.say('hold')
  await chat.sees('It is')
  const ended = stopReasonOf(runtime)
  await page.getByTestId('copilot-send-button').click()
  assert.is(await ended, 'aborted')
  await chat.say('and now')
  await chat.sees('You said: and now.')
}

describeFrontEnds('CopilotKit with the endpoint as its runtime', (it) => {
  it('talks, and is the same after a reload, also in the middle of an answer', { timeoutMs }, async (context) => {
    const held = heldReply([{ type: 'text.delta', text: 'It is ' }], 'It is done.')
    const { chat } = await openChat(context, deskAgent({ held }))
    await talkAcrossReloads(chat, held)
    checkProblems(context)
  })

  it('carries out its tools, one of them with a person, also after a reload', { timeoutMs }, async (context) => {
    const { chat } = await openChat(context)
    await chat.say('paint: red')
    await chat.sees('It was: {"painted":"red"}.')
    assert.is(await context.page.evaluate('document.body.style.background'), 'red')
    await chat.say('pickColour: blue,green')
    await context.page.getByRole('button', { name: 'green' }).waitFor()
    await context.page.reload()
    await chat.click('green')
    await chat.sees('It was: green.')
    assert.is(await context.page.getByText('picked: complete green').count(), 1)
    checkProblems(context)
  })

  it('goes on with what a person says instead of answering its tool', { timeoutMs }, async (context) => {
    const { chat } = await openChat(context)
    await chat.say('pickColour: blue,green')
    await context.page.getByRole('button', { name: 'green' }).waitFor()
    await chat.say('neither')
    await chat.sees('You said: neither.')
    checkProblems(context)
  })

  it('asks for approvals, with the answer of a person to each, also after a reload', { timeoutMs }, async (context) => {
    const { chat } = await openChat(context)
    await chat.say('book: a table')
    await chat.click('Approve')
    await chat.sees('It was: booked a table.')
    await chat.sees('book complete booked a table')
    await chat.say('book: two')
    await context.page.locator('#asked').getByText('two').waitFor()
    await context.page.reload()
    await chat.click('Deny')
    await chat.sees(/It was: .*not now/)
    await chat.say('book: three and book: four')
    await context.page.locator('#asked p').nth(1).waitFor()
    await context.page.locator('#asked p').nth(0).getByText('Approve').click()
    await context.page.locator('#asked p').nth(1).getByText('Cancel').click()
    await chat.sees(/It was: .*cancelled/)
    // The two come in any order.
    const booked = context.page.getByText('book complete booked three')
    await booked.first().waitFor()
    assert.is(await booked.count(), 1)
    checkProblems(context)
  })

  it('shares the state both ways', { timeoutMs }, async (context) => {
    const { chat, desk } = await openChat(context)
    await chat.say('note: wind it')
    await chat.sees(': wind it')
    const state = context.page.locator('#state')
    await chat.click('Rename')
    await chat.say('note: oil it')
    await chat.sees('mine: wind it, oil it')
    await chat.click('Replace')
    await chat.say('go on')
    await chat.sees('You said: go on.')
    assert.equal(desk.runtime.agent('t1')?.appState, { title: 'only mine', steps: ['wind it', 'oil it'] })
    assert.is(await state.innerText(), 'only mine: wind it, oil it')
    await context.page.reload()
    await chat.sees('only mine: wind it, oil it')
    checkProblems(context)
  })

  it('stops a run', { timeoutMs }, async (context) => {
    const held = heldReply([{ type: 'text.delta', text: 'It is ' }], 'It is done.')
    const { chat, desk } = await openChat(context, deskAgent({ held }))
    await stopsAndGoesOn(context, chat, desk)
    checkProblems(context)
  })

  it('tells of a run that failed, and goes on', { timeoutMs }, async (context) => {
    const { chat } = await openChat(context)
    await chat.say('fail')
    await context.page.locator('#errors').getByText('the model is out').waitFor()
    await chat.say('hello')
    // A model gets both of what was said.
    await chat.sees('You said: failhello.')
    checkProblems(context, /the model is out/)
  })

  it('has an approval still waiting once the server was started again', { timeoutMs }, async (context) => {
    const store = lastingStore()
    const before = await openDesk(context, 'copilotKit', { store, endpoints: [agUi()] })
    const chat = new ChatPage(context.page)
    await chat.open(before.url, here)
    await chat.say('book: a table')
    await context.page.locator('#asked').waitFor()
    await before.kill()
    await openDesk(context, 'copilotKit', { store, port: Number(new URL(before.url).port), endpoints: [agUi()] })
    await chat.click('Approve')
    await chat.sees('It was: booked a table.')
    checkProblems(context, /ERR_|Failed to load/)
  })
})

describeFrontEnds('CopilotKit with other ways to the endpoint', (it) => {
  it('works through the runtime of its own, where "Stop" closes a connection', { timeoutMs }, async (context) => {
    const held = heldReply([{ type: 'text.delta', text: 'It is ' }], 'It is done.')
    const desk = await openDesk(context, 'copilotKit', {
      agent: deskAgent({ held }),
      endpoints: [agUi({ abortOnLeave: true })],
    })
    const url = await copilotRuntime(context, `${desk.url}/ag-ui`)
    const chat = new ChatPage(context.page)
    await chat.open(desk.url, { url, thread: 't1' })
    await chat.say('paint: red and note: it')
    await chat.sees(': it')
    await chat.sees(/It was: /)
    await chat.say('book: a table')
    await chat.click('Approve')
    await chat.sees('It was: booked a table.')
    await context.page.reload()
    await chat.sees('It was: booked a table.')
    await stopsAndGoesOn(context, chat, desk)
    checkProblems(context)
  })

  it('works as a client of AG-UI in the page', { timeoutMs }, async (context) => {
    const desk = await openDesk(context, 'copilotKit', { endpoints: [agUi()] })
    const chat = new ChatPage(context.page)
    await chat.open(desk.url, { ...here, http: '' })
    await chat.say('note: it')
    await chat.sees(': it')
    await chat.say('paint: red')
    await chat.sees('It was: {"painted":"red"}.')
    await chat.say('book: a table')
    await chat.click('Approve')
    await chat.sees('It was: booked a table.')
    checkProblems(context)
  })

  it('works with pages of its older documentation', { timeoutMs }, async (context) => {
    const desk = await openDesk(context, 'copilotKitOld', { endpoints: [agUi()] })
    const chat = new ChatPage(context.page, context.page.locator('textarea'))
    await chat.open(desk.url, {})
    await chat.say('note: it')
    await chat.sees('of the page: it')
    await chat.say('paint: red')
    await chat.sees('It was: painted red.')
    await chat.say('pickColour: blue,green')
    await chat.click('green')
    await chat.sees('It was: green.')
    await chat.say('book: a table')
    await chat.click('Approve')
    await chat.sees('It was: booked a table.')
    await chat.click('Rename')
    await chat.say('note: more')
    await chat.sees('mine: it, more')
    await context.page.reload()
    await chat.sees('mine: it, more')
    await chat.sees('It was: booked a table.')
    checkProblems(context)
  })
})
