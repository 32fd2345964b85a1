import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../packages/models/src/policyModel.ts'
import { createRuntime } from '../../../packages/bridge/src/createRuntime.ts'
import { LogFold } from '../../../packages/page/src/inspector/model/agent/logFold.ts'
import { memoryStore } from '../../../packages/stores/src/memory/memoryStore.ts'
import { readAll } from '../../../packages/evaluation/src/testing/contractDemands.ts'
import { simulatedClock } from '../../../packages/evaluation/src/testing/simulatedClock.ts'
import { failsWith } from '../../../packages/stores/test/storeFolder.ts'
import { assert, describe } from '../../support/suite.ts'

describe('schedules of an agent on a server', (it) => {
  it('are set, listed, fired and removed by a client; the page folds the same from the log', async ({ cleanup }) => {
    const worker = defineAgent({ name: 'worker', model: policyModel(() => 'fine') })
    const clock = simulatedClock()
    const store = memoryStore()
    const runtime = await createRuntime({ store, clock })
    cleanup(() => runtime.close())
    const client = await runtime.connect({ definitions: [worker] })
    const local = await runtime.spawn(worker, { id: 'a' })
    const agent = client.agent('a')
    assert.is((await agent.snapshot()).due, undefined)
    assert.is((await agent.snapshot()).schedules, undefined)
    const due = clock.now() + 60_000
    await agent.schedule({ id: 'x', at: new Date(due), prompt: 'Go.' })
    await agent.schedule({ id: 'y', every: 3_600_000, prompt: 'Often.', catchUp: 'skip' })
    const { schedules, due: next } = await agent.snapshot()
    assert.equal([next, schedules], [due, local.schedules()])
    const { agents } = await client.agents()
    assert.equal(agents.map(({ agentId, due: at }) => [agentId, at]), [['a', due]]) // prettier-ignore
    await agent.fire('y')
    await local.settled()
    const records = await readAll(store, 'a')
    assert.ok(records.some((record) => record.type === 'run.start' && record.requestId.startsWith('schedule/y/')))
    const fold = new LogFold()
    for (const record of records) fold.apply(record)
    assert.equal(fold.schedules, local.schedules())
    await agent.unschedule('x')
    assert.is((await agent.snapshot()).due, clock.now() + 3_600_000)
    await assert.rejects(() => agent.unschedule('x'), failsWith('SCHEDULE_NOT_FOUND', '"x"', 'y'))
    await assert.rejects(
      () => agent.schedule({ id: 'z', cron: '61 * * * *', prompt: 'x' }),
      failsWith('SCHEDULE_INVALID', '61'),
    )
    assert.throws(
      () => void agent.schedule({ id: 'a b', every: 5_000, prompt: 'x' }),
      failsWith('INVALID_OPTION', 'id: use 1 to 64'),
    )
    assert.throws(() => void agent.schedule({ id: 'z', every: -1, prompt: 'x' }), failsWith('INVALID_OPTION', 'every'))
  })
})
