import { connect } from '../../../../bridge/src/client/connect.ts'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { FollowedAgent } from '../../../src/inspector/model/agent/followedAgent.ts'
import { FrameBatch } from '../../../src/inspector/model/agent/frameBatch.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import { tool } from '../../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'
import { serveAgents } from '../../../../bridge/test/server/bridgeHarness.ts'

const talker = defineAgent({
  name: 'talker',
  instructions: 'CANARY',
  braking: { revert: true },
  compaction: { contextWindow: 100_000 },
  tools: [tool('look', () => 'CANARY', { effects: 'none' })],
  model: policyModel(({ messages }) =>
    messages.at(-1)!.role === 'user'
      ? { thinking: 'CANARY', toolCalls: [{ name: 'look', input: { at: 'CANARY' } }] }
      : 'seen',
  ),
})

describe('an agent followed by the page with a token that may only talk', (it) => {
  it('is all there but for what is withheld, through reverts, compactions and what the application adds', async (context) => {
    const tokens = { 'token-of-a-customer-01': 'talk', 'token-of-the-admin-001': 'admin' } as const
    const { runtime, server } = await serveAgents(context, [talker], { tokens })
    const agent = await runtime.spawn(talker, { id: 'a' })
    const remembered = [
      { content: 'CANARY', provenance: { type: 'memoryTier', tier: 'notes', recordId: 'r1' } },
    ] as const
    await agent.prompt('one', { context: remembered }).result
    await agent.prompt('two').result
    agent.revert('n4', { category: 'failure', summary: 'CANARY of the revert' })
    await agent.prompt('three', { context: remembered }).result
    agent.compact()
    await agent.prompt('four').result
    const client = connect(server.url, { token: 'token-of-a-customer-01' })
    context.cleanup(() => client.close())
    await client.ready
    const later = (draw: () => void): (() => void) => {
      const timer = setTimeout(draw)
      return () => clearTimeout(timer)
    }
    const followed = new FollowedAgent(client, 'a', { batch: new FrameBatch(later) })
    context.cleanup(() => followed.close())
    await new Promise<void>((resolve) => {
      context.cleanup(followed.state.subscribe(({ status }) => status !== 'loading' && resolve()))
    })
    const { status, error, records, conversation } = followed.state.value
    assert.equal([status, error, records.length], ['live', undefined, agent.lastSeq])
    const said = (one: Pick<typeof conversation, 'log'>): string[] =>
      one
        .log()
        .flatMap(({ message }) =>
          message.role === 'toolResult'
            ? []
            : textOf(message.content.filter(({ type }) => type === 'text') as never) || [],
        )
    assert.equal(
      said(conversation),
      said(agent.conversation).filter((text) => text !== 'CANARY'),
    )
    assert.equal(
      conversation.trunk().map(({ id }) => id),
      agent.conversation.trunk().map(({ id }) => id),
    )
    assert.not.match(JSON.stringify([records, conversation.log()]), 'CANARY')
  })
})
