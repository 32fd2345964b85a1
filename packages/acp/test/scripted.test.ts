import { scriptedCashier } from '../../../test/support/scriptedCashier.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { choose, openHouse } from './acpHarness.ts'

describe('a call of a script over ACP', (it) => {
  it('is shown as a call, and needs a permission', async (context) => {
    const { agent, paid } = scriptedCashier()
    const { connect } = await openHouse(context, [agent])
    const editor = await connect({ answer: () => choose('allow') })
    await editor.say(await editor.open(), 'pay back')
    assert.equal(paid, [5])
    const [question] = editor.asked
    assert.equal([question?.toolCall.toolCallId, question?.toolCall.rawInput], ['c0/2', { euros: 5 }])
    const ended = editor.updates.flatMap((update) =>
      update.sessionUpdate === 'tool_call_update' && update.status === 'completed' ? [update.toolCallId] : [],
    )
    assert.equal(ended, ['c0/1', 'c0/2', 'c0'])
    assert.match(editor.text(), /^1 paid/)
  })
})
