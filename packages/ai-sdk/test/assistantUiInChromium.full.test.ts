import { aiSdkChat } from '../../../src/aiSdk.ts'
import type { Runtime } from '../../../src/index.ts'
import { checkProblems, type PageContext } from '../../../test/browser/chromium.ts'
import { ChatPage, deskAgent, openDesk, talkAcrossReloads } from '../../../test/frontEnds/frontEndDesk.ts'
import { describeFrontEnds } from '../../../test/frontEnds/frontEndLab.ts'
import { assert } from '../../../test/support/suite.ts'
import { heldReply } from '../../ag-ui/test/agUiHarness.ts'

const timeoutMs = 120_000

/** The page of assistant-ui on a server of its own. */
async function openPage(
  context: PageContext,
  agent = deskAgent(),
): Promise<{ readonly chat: ChatPage; readonly runtime: Runtime }> {
  const { url, runtime } = await openDesk(context, 'assistantUi', { agent, endpoints: [aiSdkChat()] })
  const chat = new ChatPage(context.page, context.page.locator('textarea[name=input]'))
  await chat.open(url, {})
  return { chat, runtime }
}

describeFrontEnds('assistant-ui on useChat', (it) => {
  it('talks, and is the same after a reload, also in the middle of an answer', { timeoutMs }, async (context) => {
    const held = heldReply([{ type: 'text.delta', text: 'It is ' }], 'It is done.')
    const { chat } = await openPage(context, deskAgent({ held }))
    await talkAcrossReloads(chat, held)
    checkProblems(context)
  })

  it('shows calls, carries out a tool of the page, asks for approvals, shows state', { timeoutMs }, async (context) => {
    const { chat } = await openPage(context)
    await chat.say('note: wind it')
    await chat.sees('note complete "noted"')
    await chat.sees(': wind it')
    await chat.say('pickColour: blue,green')
    await chat.click('green')
    await chat.sees('It was: green.')
    await chat.say('book: a table')
    await context.page.getByRole('button', { name: 'Approve' }).waitFor()
    await context.page.reload()
    await chat.click('Approve')
    await chat.sees('It was: booked a table.')
    await chat.say('book: two')
    await chat.click('Deny')
    await chat.sees(/It was: .*not now/)
    await context.page.reload()
    await chat.sees(/It was: .*not now/)
    await chat.sees(': wind it')
    assert.is(await context.page.locator('.call').count(), 4)
    checkProblems(context)
  })

  it(
    'goes on with what a person says instead of deciding, or of answering its tool',
    { timeoutMs },
    async (context) => {
      const { chat, runtime } = await openPage(context)
      await chat.say('book: a table')
      await context.page.getByRole('button', { name: 'Approve' }).waitFor()
      await chat.say('never mind')
      await chat.sees('You said: never mind.')
      await chat.say('pickColour: blue,green')
      await context.page.getByRole('button', { name: 'green' }).waitFor()
      await chat.say('neither')
      await chat.sees('You said: neither.')
      assert.equal(runtime.agent('t1')!.pending(), [])
      await context.page.reload()
      await chat.sees('You said: neither.')
      checkProblems(context)
    },
  )

  it('stops a run, and tells of one that failed', { timeoutMs }, async (context) => {
    const held = heldReply([{ type: 'text.delta', text: 'It is ' }], 'It is done.')
    const { chat, runtime } = await openPage(context, deskAgent({ held }))
    await chat.say('hold')
    await chat.sees('It is')
    const ended = new Promise<string>((resolve) => {
      runtime.agent('t1')!.subscribe((event) => {
        if (event.type === 'run.end') resolve(event.stopReason)
      })
    })
    await chat.click('Stop')
    assert.is(await ended, 'aborted')
    await chat.say('and now')
    await chat.sees('You said: and now.')
    await chat.say('fail')
    await chat.sees(/the model is out/)
    await chat.say('go on')
    await chat.sees(/You said: .*go on\./)
    checkProblems(context)
  })
})
