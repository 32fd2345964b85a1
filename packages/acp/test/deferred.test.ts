import { deferredCashier } from '../../../test/support/deferredCashier.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { choose, openHouse } from './acpHarness.ts'

describe('a call of a deferred tool over ACP', (it) => {
  it('is one of the tool itself, which needs a permission', async (context) => {
    const { agent, paid } = deferredCashier()
    const { connect } = await openHouse(context, [agent])
    const editor = await connect({ answer: () => choose('allow') })
    await editor.say(await editor.open(), 'pay back')
    assert.equal(paid, [5])
    const [question] = editor.asked
    assert.equal([question?.toolCall.toolCallId, question?.toolCall.rawInput], ['c1', { euros: 5 }])
    assert.match(question?.toolCall.title ?? '', /refund/)
    assert.not.match(JSON.stringify(editor.updates), /call_tool"/)
    assert.match(editor.text(), /^1 paid/)
  })
})
