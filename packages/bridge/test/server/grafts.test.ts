import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { calls, tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, lastingStore, logOf, serveAgents } from './bridgeHarness.ts'

const look = tool('look', () => 'the port is 8123', { effects: 'none' })
const definitionWith = (replies: Parameters<typeof scriptedModel>[0]) =>
  defineAgent({ name: 'tester', model: scriptedModel(replies), tools: [look], braking: { revert: true } })

describe('a graft asked for from afar', (it) => {
  it('is decided once after a crash, though its client sends it again', async (context) => {
    const store = lastingStore()
    const before = await serveAgents(context, [definitionWith([calls('c', 'look'), 'done'])], { runtime: { store } })
    const agent = await before.connect().spawn('tester', { id: 'a1' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    await agent.prompt('go').result
    await agent.revert('n1', { category: 'failure', summary: 'no' })
    await heard.until(({ type }) => type === 'revert.applied')
    const bare = await before.dial({ hello: { sessionId: 's1' } })
    const graft = { type: 'agent.graft', agentId: 'a1', steps: ['n2'], id: 'g' }
    bare.send(graft)
    await heard.until(({ type }) => type === 'graft.applied')
    await before.runtime.close()
    // The process died between the request and the copies.
    const records = (await logOf(store, 'a1')) as LogRecord[]
    const cut = lastingStore()
    const lease = await cut.open('a1')
    await cut.append('a1', records.slice(0, records.findIndex(({ type }) => type === 'graft.requested') + 1))
    await lease.release()
    const after = await serveAgents(context, [definitionWith([])], { runtime: { store: cut } })
    const again = new Heard()
    const back = after.connect().agent('a1')
    back.subscribe(again.listen, { fromSeq: 1 })
    const sender = await after.dial({ hello: { sessionId: 's1' } })
    sender.send(graft)
    await sender.until((frame) => 'id' in frame && frame.id === 'g')
    await again.until(({ type }) => type === 'graft.applied')
    const { nodes } = await back.conversation()
    assert.equal(
      nodes.map(({ id, copiedFrom }) => [id, copiedFrom]),
      [
        [1, undefined],
        [5, 2],
        [6, 3],
      ],
    )
    const log = (await logOf(cut, 'a1')) as LogRecord[]
    assert.equal(
      log.flatMap(({ type }) => (type.startsWith('graft.') ? [type] : [])),
      ['graft.requested', 'graft.applied'],
    )
  })
})
