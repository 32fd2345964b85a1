import { conversationStore } from '../../../../src/client.ts'
import { scriptedCashier } from '../../../../test/support/scriptedCashier.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

describe('a call of a script, for a client', (it) => {
  it('waits among what waits for people, until it is approved or the run is aborted', async (context) => {
    for (const ends of ['approve', 'abort'] as const) {
      const { agent: cashier, paid } = scriptedCashier()
      const serving = await serveAgents(context, [cashier])
      const client = serving.connect()
      const agent = await client.spawn('cashier')
      const store = conversationStore(agent)
      context.cleanup(store.subscribe(() => {}))
      const run = agent.prompt('pay back')
      const waiting = () => store.getSnapshot().pending.map(({ kind, name, callId }) => [kind, name, callId])
      for await (const event of agent.events()) {
        if (event.type !== 'approval.requested') continue
        assert.equal([event.name, event.input, event.parentCall], ['refund', { euros: 5 }, 'c0'])
        assert.equal(waiting(), [['approval', 'refund', 'c0/2']])
        const { agents } = await client.agents()
        assert.equal(agents[0]?.pendingApprovals, [event.key])
        if (ends === 'approve') await agent.decide(event.key, 'approve')
        else await agent.abort()
        break
      }
      await run.result
      assert.equal([paid, waiting()], [ends === 'approve' ? [5] : [], []])
    }
  })
})
