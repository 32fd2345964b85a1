import { EventType } from '@ag-ui/core'
import { scriptedCashier } from '../../../test/support/scriptedCashier.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { say, serveFrontEnds } from './agUiHarness.ts'

describe('a call of a script, for a front end', (it) => {
  it('is told as an event, and approved by a person', async (context) => {
    const { agent: cashier, paid } = scriptedCashier()
    const front = await serveFrontEnds(context, [cashier])
    const agent = front.agent()
    const events = await say(agent, 'pay back')
    const told = events.flatMap((event) =>
      event.type === EventType.CUSTOM && 'name' in event && event.name.startsWith('escapement.inner')
        ? [event.name]
        : [],
    )
    assert.equal(told, ['escapement.inner.start', 'escapement.inner.end'])
    const [interrupt] = agent.pendingInterrupts
    assert.match(JSON.stringify(interrupt), /refund/)
    await say(agent, undefined, {
      resume: [{ interruptId: interrupt!.id, status: 'resolved', payload: { approved: true } }],
    })
    assert.equal(paid, [5])
  })
})
