import { scriptedCashier } from '../../../../test/support/scriptedCashier.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { call, openHost } from './mcpHarness.ts'

describe('a call of a script, for people at an MCP client', (it) => {
  it('is one that they approve', async (context) => {
    const { agent, paid } = scriptedCashier()
    const { connect } = await openHost(context, [agent])
    const asked: string[] = []
    const client = await connect('stdio, modern', {
      fill: ({ message }) => {
        asked.push(message)
        return { action: 'accept', content: { approve: true } }
      },
    })
    const { session } = await call(client, 'cashier', { task: 'pay back' })
    assert.equal(asked, [`May ${session} call refund {"euros":5}?`])
    assert.equal(paid, [5])
  })
})
