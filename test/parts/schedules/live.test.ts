import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { memoryStore } from '../../../packages/stores/src/memory/memoryStore.ts'
import { readAll } from '../../../packages/evaluation/src/testing/contractDemands.ts'
import { simulatedClock } from '../../../packages/evaluation/src/testing/simulatedClock.ts'
import { createRuntime, type Runtime } from '../../../packages/bridge/src/createRuntime.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { policyModel } from '../../../packages/models/src/policyModel.ts'
import { failsWith } from '../../../packages/stores/test/storeFolder.ts'
import { assert, describe, type CaseContext } from '../../support/suite.ts'

const day = 86_400_000
const start = Date.parse('2026-05-04T08:00:00Z')

const echo = policyModel((request) => `said ${request.messages.length}`)
const definition = defineAgent({ name: 'worker', model: echo })

/** A runtime on a clock of its own; the store is not closed with it. */
async function live({ cleanup }: Pick<CaseContext, 'cleanup'>, store: Store = memoryStore(), at = start) {
  const clock = simulatedClock(at)
  const runtime: Runtime = await createRuntime({ store: { ...store, close: async () => {} }, clock })
  cleanup(() => runtime.close())
  const recordsOf = async (id: string): Promise<LogRecord[]> => readAll(store, id)
  const startsOf = async (id: string): Promise<string[]> =>
    (await recordsOf(id)).flatMap((record) => (record.type === 'run.start' ? [record.requestId] : []))
  return { clock, runtime, store, recordsOf, startsOf }
}

const fired = (id: string, ...times: string[]): string[] => times.map((time) => `schedule/${id}/${Date.parse(time)}`)

describe('the schedules of a live agent', (it) => {
  it('make it prompts at their times, in order, each with its provenance and limits', async (context) => {
    const { clock, runtime, recordsOf, startsOf } = await live(context)
    const agent = await runtime.spawn(definition, { id: 'a' })
    agent.schedule({ id: 'b', at: start + 2_000, prompt: 'Once.' })
    agent.schedule({ id: 'a', every: 2_000, prompt: 'Often.', limits: { turns: 3 } })
    assert.equal(
      agent.schedules().map(({ id, due, by }) => [id, due - start, by]),
      [['a', 2_000, 'person'], ['b', 2_000, 'person']], // prettier-ignore
    )
    await clock.advance(4_000)
    await agent.settled()
    const { schedules } = await Promise.resolve({ schedules: agent.schedules() })
    assert.equal(await startsOf('a'), [
      'schedule/a/' + (start + 2_000),
      'schedule/b/' + (start + 2_000),
      'schedule/a/' + (start + 4_000),
    ])
    assert.equal(
      schedules.map(({ id, due }) => [id, due - start]),
      [['a', 6_000]],
    )
    const records = await recordsOf('a')
    const said = records.flatMap((record) => (record.type === 'message.added' ? [record.message] : []))
    assert.equal(said[0], {
      role: 'user',
      content: [{ type: 'text', text: 'Often.' }],
      source: 'prompt',
      provenance: { type: 'schedule', id: 'a' },
    })
    assert.equal(records.flatMap((record) => (record.type === 'run.start' ? [record.limits.turns] : []))[0], 3)
    // The firing and its prompt stand side by side.
    const at = records.findIndex(({ type }) => type === 'schedule.fired')
    assert.is(records[at + 1]!.type, 'queue.changed')
  })

  it('keep their order through a night in which clocks change', async (context) => {
    const { clock, runtime, startsOf } = await live(context, memoryStore(), Date.parse('2026-03-28T00:00:00Z'))
    const agent = await runtime.spawn(definition, { id: 'a' })
    agent.schedule({ id: 'night', cron: '30 2 * * *', timezone: 'Europe/Berlin', prompt: 'Go.' })
    for (let hour = 0; hour < 72; hour += 1) await clock.advance(3_600_000)
    await agent.settled()
    assert.equal(await startsOf('a'), fired('night', '2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z'))
  })

  it('are what their records say after a restart, and fire once for all that passed', async (context) => {
    const first = await live(context)
    const agent = await first.runtime.spawn(definition, { id: 'a' })
    agent.schedule({ id: 'daily', cron: '0 9 * * *', prompt: 'Look.' })
    agent.schedule({ id: 'each', cron: '0 9 * * *', prompt: 'Count.', catchUp: 'all' })
    agent.schedule({ id: 'fresh', cron: '0 9 * * *', prompt: 'Now.', catchUp: 'skip' })
    const before = agent.schedules()
    await agent.close()
    const later = await live(context, first.store, start + 3 * day)
    const again = await later.runtime.resume('a', definition)
    await again.settled()
    const times = ['2026-05-04T09:00Z', '2026-05-05T09:00Z', '2026-05-06T09:00Z']
    assert.equal(await later.startsOf('a'), [
      ...fired('daily', times[2]!),
      ...fired('each', times[0]!),
      ...fired('each', times[1]!),
      ...fired('each', times[2]!),
    ])
    const next = Date.parse('2026-05-07T09:00Z')
    assert.equal(
      again.schedules(),
      before.map((schedule) => ({ ...schedule, due: next })),
    )
    const skipped = (await later.recordsOf('a')).filter((record) => record.type === 'schedule.fired' && record.skipped)
    assert.is(skipped.length, 1)
  })

  it('that are set again as they are stay as they are, and others take their place', async (context) => {
    const { clock, runtime, recordsOf } = await live(context)
    const agent = await runtime.spawn(definition, { id: 'a' })
    const set = (prompt: string): void => agent.schedule({ id: 'x', every: day, prompt, limits: { turns: 2 } })
    set('one')
    await clock.advance(1_000)
    set('one')
    assert.is(agent.schedules()[0]!.due, start + day)
    set('two')
    assert.is(agent.schedules()[0]!.due, start + 1_000 + day)
    assert.is((await recordsOf('a')).filter(({ type }) => type === 'schedule.set').length, 2)
    agent.unschedule('x')
    assert.equal(agent.schedules(), [])
    assert.throws(() => agent.unschedule('x'), failsWith('SCHEDULE_NOT_FOUND', '"x"', 'it has none'))
    assert.throws(
      () => agent.schedule({ id: 'y/z', every: day, prompt: 'x' }),
      failsWith('INVALID_OPTION', 'schedule: id: use 1 to 64', '"y/z"'),
    )
    for (const asked of [() => agent.unschedule('y/z'), () => agent.fire('y/z')])
      assert.throws(asked, failsWith('INVALID_OPTION', 'id: use 1 to 64'))
    assert.throws(() => agent.schedule({ id: 'y', every: 1, prompt: 'x' }), failsWith('SCHEDULE_INVALID', 'every is 1'))
    assert.throws(() => agent.schedule({ id: 'y', every: day, prompt: ' ' }), failsWith('INVALID_OPTION', 'prompt'))
    for (let count = 0; count < 100; count += 1) agent.schedule({ id: `n${count}`, every: day, prompt: 'x' })
    assert.throws(() => agent.schedule({ id: 'more', every: day, prompt: 'x' }), failsWith('SCHEDULE_INVALID', '100'))
  })

  it('fire when a person says so, beside their times', async (context) => {
    const { runtime, startsOf } = await live(context)
    const agent = await runtime.spawn(definition, { id: 'a' })
    agent.schedule({ id: 'x', every: day, prompt: 'Go.' })
    agent.fire('x')
    await agent.settled()
    assert.equal(await startsOf('a'), [`schedule/x/${start}`])
    assert.is(agent.schedules()[0]!.due, start + day)
  })

  it('end after three runs in a row that failed, with the reason', async (context) => {
    const { clock, runtime, recordsOf } = await live(context)
    let fails = true
    const model = policyModel(() => {
      if (fails) throw new Error('no such key')
      return 'fine'
    })
    const agent = await runtime.spawn(defineAgent({ name: 'worker', model, retry: { attempts: 1 } }), { id: 'a' })
    agent.schedule({ id: 'x', every: 10_000, prompt: 'Go.' })
    await clock.advance(20_000)
    fails = false
    await clock.advance(10_000)
    fails = true
    await clock.advance(20_000)
    assert.is(agent.schedules().length, 1)
    await clock.advance(10_000)
    await agent.settled()
    assert.equal(agent.schedules(), [])
    const removed = (await recordsOf('a')).find((record) => record.type === 'schedule.removed')
    assert.match(removed?.type === 'schedule.removed' ? removed.reason! : '', /3 runs in a row failed.*no such key/)
  })

  it('do not pile up while the agent is at work, and survive an abort', async (context) => {
    const { clock, runtime, startsOf } = await live(context)
    const gate = Promise.withResolvers<string>()
    let asked = 0
    const model = policyModel(() => ((asked += 1) === 1 ? gate.promise : 'fine'))
    const agent = await runtime.spawn(defineAgent({ name: 'worker', model }), { id: 'a' })
    agent.schedule({ id: 'x', every: 1_000, prompt: 'Go.' })
    agent.prompt('Long work.')
    await clock.advance(10_500)
    agent.abort()
    gate.resolve('late')
    await agent.settled()
    const starts = (await startsOf('a')).filter((id) => id.startsWith('schedule/'))
    assert.equal(starts, [`schedule/x/${start + 1_000}`, `schedule/x/${start + 10_000}`])
    assert.is(agent.schedules()[0]!.due, start + 11_000)
  })

  it('take the place of a run that its limit paused', async (context) => {
    const { clock, runtime, startsOf } = await live(context)
    const agent = await runtime.spawn(definition, { id: 'a' })
    agent.schedule({ id: 'x', every: 1_000, prompt: 'Go.', limits: { tokens: 1 } })
    await clock.advance(3_000)
    await agent.settled()
    assert.is((await startsOf('a')).length, 3)
  })

  it('are not those of its forks, and end with the agent', async (context) => {
    const { runtime, recordsOf, store } = await live(context)
    const agent = await runtime.spawn(definition, { id: 'a' })
    agent.schedule({ id: 'x', every: 1_000, prompt: 'Go.' })
    await agent.prompt('Hello.').result
    await agent.durable()
    await agent.stop()
    assert.equal(await store.timers!.due(start + 10 * day), [])
    assert.is((await recordsOf('a')).at(-1)!.type, 'agent.stopped')
  })

  it('of an agent without any leave no trace', async (context) => {
    const { runtime, recordsOf, store } = await live(context)
    let writes = 0
    const set = store.timers!.set.bind(store.timers)
    store.timers!.set = async (...given) => ((writes += 1), set(...given))
    const agent = await runtime.spawn(definition, { id: 'a' })
    await agent.prompt('Hello.').result
    await agent.close()
    assert.ok((await recordsOf('a')).every(({ type }) => !type.startsWith('schedule.')))
    assert.is(writes, 0)
  })
})
