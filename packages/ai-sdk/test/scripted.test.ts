import { isToolUIPart } from 'ai'
import { scriptedCashier } from '../../../test/support/scriptedCashier.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { checkReload, serveChats, settled, shape, until } from './chatHarness.ts'

describe('useChat, of the calls of a script', (it) => {
  for (const approved of [true, false])
    it(`has a part of each, one of which waits to be ${approved ? 'approved' : 'denied'}`, async (context) => {
      const { agent, paid } = scriptedCashier()
      const serving = await serveChats(context, [agent])
      const chat = serving.chat()
      await chat.sendMessage({ text: 'pay back' })
      await settled(chat)
      const [asked] = chat.messages[1]!.parts.flatMap((part) =>
        isToolUIPart(part) && part.state === 'approval-requested' ? [part] : [],
      )
      assert.equal([asked!.input, asked!.toolCallId], [{ euros: 5 }, 'c0/2'])
      await chat.addToolApprovalResponse({ id: asked!.approval.id, approved })
      await until(chat, () => shape(chat.messages[1]).includes('run_code:output-available'))
      await settled(chat)
      assert.equal(paid, approved ? [5] : [])
      assert.equal(
        shape(chat.messages[1]).filter((part) => part.includes(':')),
        ['run_code:output-available', 'order:output-available', `refund:output-${approved ? 'available' : 'denied'}`],
      )
      await checkReload(serving, chat)
    })
})
