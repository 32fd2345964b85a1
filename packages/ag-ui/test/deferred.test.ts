import { EventType } from '@ag-ui/core'
import { deferredCashier } from '../../../test/support/deferredCashier.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { say, serveFrontEnds } from './agUiHarness.ts'

describe('a call of a deferred tool, for a front end', (it) => {
  it('is one of the tool itself, which a person approves', async (context) => {
    const { agent: cashier, paid } = deferredCashier()
    const front = await serveFrontEnds(context, [cashier])
    const agent = front.agent()
    const events = await say(agent, 'pay back')
    const started = events.flatMap((event) => ('toolCallName' in event ? [[event.toolCallId, event.toolCallName]] : []))
    assert.equal(started, [
      ['c0', 'find_tools'],
      ['c1', 'refund'],
    ])
    const written = events.flatMap((event) =>
      event.type === EventType.TOOL_CALL_ARGS && 'toolCallId' in event && event.toolCallId === 'c1'
        ? [event.delta]
        : [],
    )
    assert.equal(JSON.parse(written.join('')), { euros: 5 })
    const [interrupt] = agent.pendingInterrupts
    assert.equal(interrupt!.toolCallId, 'c1')
    assert.match(JSON.stringify(interrupt), /refund/)
    assert.not.match(JSON.stringify([events, agent.messages]), /call_tool"/)
    await say(agent, undefined, {
      resume: [{ interruptId: interrupt!.id, status: 'resolved', payload: { approved: true } }],
    })
    assert.equal(paid, [5])
  })

  it('is carried out by the front end, if the tool is one of its own', async (context) => {
    const front = await serveFrontEnds(context, [deferredCashier().agent])
    const agent = front.agent()
    const locate = { name: 'locate', description: 'Where.', parameters: { type: 'object' } }
    await say(agent, 'where is the user', { tools: [locate] })
    agent.addMessage({ id: 'mine', role: 'tool', toolCallId: 'c1', content: 'in Ulm' })
    const events = await say(agent, undefined, { tools: [locate] })
    assert.match(JSON.stringify(events), /in Ulm/)
  })
})
