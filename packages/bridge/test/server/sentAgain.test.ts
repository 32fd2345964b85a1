import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { gate } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { approving, lastingStore, logOf, serveAgents, untilApproval } from './bridgeHarness.ts'

const typesOf = (records: readonly object[]): string[] => records.map((record) => (record as { type: string }).type)

describe('a command sent again to the next server', (it) => {
  it('does not abort another run than the one it aborted', async (context) => {
    const store = lastingStore()
    const open = gate()
    const worker = defineAgent({ name: 'worker', model: policyModel(async () => (await open.promise, 'done')) })
    const before = await serveAgents(context, [worker], { runtime: { store } })
    const agent = await before.runtime.spawn(worker, { id: 'a1' })
    const run = agent.prompt('one')
    const first = await before.dial({ hello: { sessionId: 's1' } })
    await first.until(({ type }) => type === 'welcome')
    const abort = { type: 'agent.abort', agentId: 'a1', id: 'c7' }
    first.send(abort)
    await first.until((frame) => frame.type === 'ok' && frame.id === 'c7')
    assert.is((await run.result).stopReason, 'aborted')
    await before.runtime.close()
    const after = await serveAgents(context, [worker], { runtime: { store } })
    const resumed = await after.runtime.resume('a1', worker)
    const second = resumed.prompt('two')
    const again = await after.dial({ hello: { sessionId: 's1' } })
    again.send(abort)
    await again.until((frame) => frame.type === 'ok' && frame.id === 'c7')
    open.resolve()
    assert.is((await second.result).stopReason, 'stop')
  })

  it('is not refused because it has decided already', async (context) => {
    const store = lastingStore()
    const { worker } = approving()
    const before = await serveAgents(context, [worker], { runtime: { store } })
    const { run, call } = await untilApproval(before, worker, 'a1')
    const first = await before.dial({ hello: { sessionId: 's1' } })
    const decide = { type: 'agent.decide', agentId: 'a1', callId: call.callId, decision: 'approve', id: 'c1' }
    await first.until(({ type }) => type === 'welcome')
    first.send(decide)
    assert.is((await run.result).text, 'done')
    await before.runtime.close()
    const after = await serveAgents(context, [worker], { runtime: { store } })
    const again = await after.dial({ hello: { sessionId: 's1' } })
    again.send(decide)
    assert.is((await again.until((frame) => 'id' in frame && frame.id === 'c1')).type, 'ok')
    assert.is(typesOf(await logOf(store, 'a1')).filter((type) => type === 'approval.decided').length, 1)
  })

  it('is not refused because it has decided a call of a sub-agent already', async (context) => {
    const store = lastingStore()
    const { boss } = approving()
    const before = await serveAgents(context, [boss], { runtime: { store } })
    const { run, call } = await untilApproval(before, boss, 'b1')
    const first = await before.dial({ hello: { sessionId: 's1' } })
    const decide = { type: 'agent.decide', agentId: 'b1', callId: call.key, decision: 'approve', id: 'c1' }
    await first.until(({ type }) => type === 'welcome')
    first.send(decide)
    assert.is((await run.result).text, 'fine')
    await before.runtime.close()
    const after = await serveAgents(context, [boss], { runtime: { store } })
    const again = await after.dial({ hello: { sessionId: 's1' } })
    again.send(decide)
    assert.is((await again.until((frame) => 'id' in frame && frame.id === 'c1')).type, 'ok')
    again.send({ ...decide, id: 'c2' })
    const refused = await again.until((frame) => 'id' in frame && frame.id === 'c2')
    assert.is(refused.type === 'error' && refused.code, 'CALL_NOT_PENDING')
    again.send({ ...decide, id: 'c3', callId: '../x/y' })
    const strange = await again.until((frame) => 'id' in frame && frame.id === 'c3')
    assert.is(strange.type === 'error' && strange.code, 'CALL_NOT_PENDING')
  })
})
