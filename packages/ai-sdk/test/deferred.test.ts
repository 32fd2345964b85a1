import { isToolUIPart } from 'ai'
import { deferredCashier } from '../../../test/support/deferredCashier.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { checkReload, serveChats, settled, shape, until } from './chatHarness.ts'

describe('useChat, of a call of a deferred tool', (it) => {
  it('has a part of the tool itself, and approves that', async (context) => {
    const { agent, paid } = deferredCashier()
    const serving = await serveChats(context, [agent])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'pay back' })
    await settled(chat)
    const [asked] = chat.messages[1]!.parts.flatMap((part) =>
      isToolUIPart(part) && part.state === 'approval-requested' ? [part] : [],
    )
    assert.equal(asked!.input, { euros: 5 })
    await chat.addToolApprovalResponse({ id: asked!.approval.id, approved: true })
    await until(chat, () => paid.length > 0)
    await settled(chat)
    assert.equal(
      shape(chat.messages[1]).filter((part) => part.includes(':')),
      ['find_tools:output-available', 'refund:output-available'],
    )
    assert.not.match(JSON.stringify(chat.messages), /call_tool"/)
    await checkReload(serving, chat)
  })
})
