import { z } from 'zod'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../packages/models/src/policyModel.ts'
import type { PlannedFiring } from '../../../src/machines/schedulePlans.ts'
import { wakeAt } from '../../../src/machines/schedules.ts'
import { rebuildContext } from '../../../src/machines/rebuildContext.ts'
import { readAll } from '../../../packages/evaluation/src/testing/contractDemands.ts'
import { memoryStore } from '../../../packages/stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../../packages/evaluation/src/testing/simulatedClock.ts'
import { createRuntime } from '../../../packages/bridge/src/createRuntime.ts'
import { firingId, firingIn } from '../../../src/protocol/parts/schedules/scheduleState.ts'
import { AgentScript } from '../../machines/agentScript.ts'
import { assert, describe } from '../../support/suite.ts'

const set = {
  type: 'schedule.set',
  id: 's',
  prompt: 'Go.',
  catchUp: 'once',
  times: { every: 10_000 },
  due: 50,
  by: 'person',
} as const
const firing: PlannedFiring = { id: 's', expected: 50, due: 50, next: 10_050, missed: 0, isSkipped: false }

describe('the id of a firing', (it) => {
  it('is read as it was made, before 1970 too', () => {
    for (const due of [0, 1_700_000_000_000, -1]) assert.equal(firingIn(firingId('later', due)), { id: 'later', due })
    for (const id of [undefined, 'later', 'schedule/later', 'schedule/later/1.5', 'schedule//1'])
      assert.is(firingIn(id), undefined)
  })
})

describe('the machine of an agent with schedules', (it) => {
  it('makes the record of a firing and its prompt in one step, from any state, and begins a run at rest', () => {
    const script = new AgentScript()
    script.driver.send({ type: 'record', records: [set], at: 5 })
    const before = script.driver.records.length
    script.driver.send({ type: 'schedules', firings: [firing], ended: [], at: 50 })
    assert.equal(script.types(before).slice(0, 4), ['schedule.fired', 'queue.changed', 'queue.changed', 'run.start'])
    assert.is(script.driver.context.run?.requestId, 'schedule/s/50')
    assert.is(script.driver.context.parts.schedules?.schedules['s']?.due, 10_050)
    assert.equal(rebuildContext(script.driver.records).parts, script.driver.context.parts)
    // While it runs, somebody must go on with it after a crash.
    assert.is(wakeAt(script.driver.context), 50)
  })

  it('does not carry out what was planned of another time, twice, or of one that is gone', () => {
    const script = new AgentScript()
    script.prompt('busy')
    script.driver.send({ type: 'record', records: [set], at: 5 })
    const before = script.driver.records.length
    script.driver.send({
      type: 'schedules',
      firings: [firing, firing, { ...firing, expected: 49 }, { ...firing, id: 'other' }],
      ended: [{ id: 'other', why: 'failed', reason: 'r' }],
      at: 50,
    })
    assert.equal(script.types(before), ['schedule.fired', 'queue.changed'])
    assert.is(script.driver.context.prompts.length, 1)
  })

  it('makes the prompt of a firing whose second record was cut off, and not twice', () => {
    const script = new AgentScript()
    script.prompt('busy')
    const cut = { type: 'schedule.fired', id: 's', due: 50, next: null, missed: 0 } as const
    script.driver.send({ type: 'record', records: [set, cut], at: 5 })
    assert.is(script.driver.context.parts.schedules?.schedules['s']?.owed, 50)
    for (let count = 0; count < 2; count += 1) script.driver.send({ type: 'schedules', firings: [], ended: [], at: 60 })
    assert.equal(
      script.driver.context.prompts.map(({ id }) => id),
      ['schedule/s/50'],
    )
    // It was its last time.
    assert.equal(script.driver.context.parts.schedules?.schedules, {})
  })

  it('skips without a prompt, and takes none while it ends', () => {
    const script = new AgentScript()
    script.driver.send({ type: 'record', records: [set], at: 5 })
    script.driver.send({ type: 'schedules', firings: [{ ...firing, isSkipped: true }], ended: [], at: 50 })
    assert.equal([script.state, script.driver.context.prompts], ['idle', []])
    assert.is(script.driver.context.parts.schedules?.schedules['s']?.due, 10_050)
  })
})

describe('a live agent with schedules', (it) => {
  it('that needs deps, and has none, fires nothing until it is given some', async ({ cleanup }) => {
    const clock = simulatedClock()
    const store = memoryStore()
    const runtime = await createRuntime({ store, clock })
    cleanup(() => runtime.close())
    const needy = defineAgent({ name: 'needy', model: policyModel(() => 'fine'), deps: z.object({ user: z.string() }) })
    const agent = await runtime.spawn(needy, { id: 'a', deps: { user: 'x' } })
    agent.schedule({ id: 's', every: 1_000, prompt: 'Go.' })
    await agent.close()
    await runtime.resume('a', needy)
    await clock.advance(3_000)
    const starts = async (): Promise<number> =>
      (await readAll(store, 'a')).filter(({ type }) => type === 'run.start').length
    assert.is(await starts(), 0)
    await runtime.open('a', needy, { deps: { user: 'x' } })
    await clock.advance(500)
    assert.is(await starts(), 1)
  })
})
