import { conversationStore } from '../../../../src/client.ts'
import { deferredCashier } from '../../../../test/support/deferredCashier.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

describe('a call of a deferred tool, for a client', (it) => {
  it('is one of the tool itself, which it approves', async (context) => {
    const { agent: cashier, paid } = deferredCashier()
    const serving = await serveAgents(context, [cashier])
    const client = serving.connect()
    const agent = await client.spawn('cashier')
    const store = conversationStore(agent)
    context.cleanup(store.subscribe(() => {}))
    const run = agent.prompt('pay back')
    const events = agent.events()
    for await (const event of events) {
      if (event.type !== 'approval.requested') continue
      assert.equal([event.name, event.input], ['refund', { euros: 5 }])
      await agent.decide(event.key, 'approve')
      break
    }
    await run.result
    assert.equal(paid, [5])
    const shown = store.getSnapshot().messages.flatMap((message) => ('calls' in message ? message.calls : []))
    assert.equal(
      shown.map(({ name, input }) => [name, input]),
      [
        ['find_tools', { query: 'pay back' }],
        ['refund', { euros: 5 }],
      ],
    )
  })
})
