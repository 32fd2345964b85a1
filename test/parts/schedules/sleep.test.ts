import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { sleepTool } from '../../../src/actors/parts/sleep/sleepTool.ts'
import { memoryStore } from '../../../packages/stores/src/memory/memoryStore.ts'
import { readAll } from '../../../packages/evaluation/src/testing/contractDemands.ts'
import { simulatedClock } from '../../../packages/evaluation/src/testing/simulatedClock.ts'
import { scriptedModel, type ScriptedReply } from '../../../packages/evaluation/src/testing/scriptedModel.ts'
import { createRuntime } from '../../../packages/bridge/src/createRuntime.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { loadSession } from '../../../src/sessions.ts'
import { quiet } from '../../support/agentHarness.ts'
import { failsWith } from '../../../packages/stores/test/storeFolder.ts'
import type { Clock } from '../../../src/protocol/ports/clock.ts'
import { assert, describe, type CaseContext } from '../../support/suite.ts'

const start = Date.parse('2026-05-04T08:00:00Z')
const calls = (...inputs: readonly object[]): ScriptedReply => ({
  toolCalls: inputs.map((input) => ({ name: 'sleep', input: input as never })),
})

async function sleeping(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  replies: readonly ScriptedReply[],
  { limits = {}, tools = [] }: { readonly limits?: object; readonly tools?: readonly never[] } = {},
) {
  const store = memoryStore()
  const clock = simulatedClock(start)
  const model = scriptedModel(replies)
  const definition = defineAgent({ name: 'sleeper', model, tools: [sleepTool(), ...tools], limits })
  const open = async () => {
    const runtime = await createRuntime({ store: { ...store, close: async () => {} }, clock })
    cleanup(() => runtime.close())
    return runtime
  }
  const results = async (): Promise<string[]> =>
    (await readAll(store, 'a')).flatMap((record) =>
      record.type === 'tool.end' ? [textOf(record.message.content)] : [],
    )
  const ofTimers = async (): Promise<unknown[]> =>
    (await readAll(store, 'a')).flatMap((record) =>
      record.type === 'timer.set' || record.type === 'timer.fired'
        ? [[record.type, record.due - start, ...('early' in record ? [record.early] : [])]]
        : [],
    )
  return { store, clock, model, definition, open, results, ofTimers }
}

describe('a call that sleeps', (it) => {
  it('pauses the run until its time, once nothing else moves, and the run goes on by itself', async (context) => {
    const { definition, open, clock, store, results, ofTimers } = await sleeping(context, [
      calls({ seconds: 90 }, { until: '2026-05-04T08:01:00Z' }),
      'done',
    ])
    const agent = await (await open()).spawn(definition, { id: 'a' })
    const run = agent.prompt('Wait.')
    await quiet()
    await quiet()
    assert.equal([agent.state, agent.pause], ['paused', { type: 'timer', until: start + 60_000 }])
    assert.equal((await agent.settled()).status, 'paused')
    assert.equal(agent.pending(), [])
    assert.throws(() => agent.resume(), failsWith('NOT_PAUSED', 'sleeps'))
    assert.equal(await store.timers!.due(start + 60_000), [{ agentId: 'a', due: start + 60_000 }])
    const session = await loadSession(store, 'a')
    assert.equal([session.runs[0]!.status, session.runs[0]!.reason], ['paused', agent.pause])
    await clock.advance(60_000)
    assert.equal(agent.pause, { type: 'timer', until: start + 90_000 })
    await clock.advance(30_000)
    assert.is((await run.result).text, 'done')
    assert.equal(await results(), ['It is 2026-05-04 08:01:00Z now.', 'It is 2026-05-04 08:01:30Z now.'])
    assert.equal(await ofTimers(), [
      ['timer.set', 90_000],
      ['timer.set', 60_000],
      ['timer.fired', 60_000],
      ['timer.fired', 90_000],
    ])
    assert.equal(await store.timers!.due(start + 10 ** 9), [])
  })

  it('is woken by a timer that rings a moment early, though time goes on while it looks', async (context) => {
    const { definition, store, results } = await sleeping(context, [calls({ seconds: 60 }), 'done'])
    const still = simulatedClock(start)
    let readings: number | undefined
    const clock: Clock = {
      // Since it rang, each second reading is a millisecond later.
      now: () => still.now() + (readings === undefined ? 0 : Math.floor(readings++ / 2)),
      after: (ms, callback) =>
        still.after(ms > 1_000 ? ms - 1 : ms, () => {
          if (ms > 1_000) readings = 1
          callback()
        }),
    }
    const runtime = await createRuntime({ store: { ...store, close: async () => {} }, clock })
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(definition, { id: 'a' })
    const run = agent.prompt('Wait.')
    await still.advance(60_010)
    assert.equal([agent.state, (await results()).length], ['idle', 1])
    assert.is((await run.result).text, 'done')
  })

  it('is woken early by a message, and says so', async (context) => {
    const { definition, open, clock, results, ofTimers, model } = await sleeping(context, [
      calls({ seconds: 3_600 }),
      'fine',
    ])
    const agent = await (await open()).spawn(definition, { id: 'a' })
    const run = agent.prompt('Wait.')
    await clock.advance(12_000)
    agent.steer('Go on.')
    assert.is((await run.result).text, 'fine')
    assert.equal(await results(), [
      'Woken early, at 2026-05-04 08:00:12Z, by a message: the sleep was to last until 2026-05-04 09:00:00Z.',
    ])
    assert.equal((await ofTimers())[1], ['timer.fired', 3_600_000, 'steering'])
    assert.match(JSON.stringify(model.requests[1]!.messages), /Go on\./)
  })

  it('goes on after the agent was closed, woken by a runtime of another time', async (context) => {
    const { definition, open, clock, results, store } = await sleeping(context, [calls({ seconds: 3_600 }), 'done'])
    const first = await open()
    const agent = await first.spawn(definition, { id: 'a' })
    void agent.prompt('Wait.').result
    await clock.advance(1_000)
    await agent.close()
    await first.close()
    assert.equal(await store.timers!.due(start + 10 ** 9), [{ agentId: 'a', due: start + 3_600_000 }])
    const second = await open()
    second.wake({ definitions: [definition], everyMs: 10_000 })
    await clock.advance(1_000_000)
    assert.is(second.agent('a'), undefined)
    await clock.advance(2_700_000)
    assert.is((await results()).length, 1)
    const { runs } = await loadSession(store, 'a')
    assert.equal(
      runs.map(({ status }) => status),
      ['completed'],
    )
  })

  it('does not count towards the time of the run, live and after a restart', async (context) => {
    const { definition, open, clock, store } = await sleeping(context, [calls({ seconds: 3_600 }), 'done'], {
      limits: { ms: 60_000 },
    })
    const first = await open()
    const agent = await first.spawn(definition, { id: 'a' })
    void agent.prompt('Wait.').result
    await clock.advance(1_800_000)
    assert.is(agent.pause?.type, 'timer')
    await first.close({ detach: true })
    const again = await (await open()).resume('a', definition)
    assert.equal(again.pause, { type: 'timer', until: start + 3_600_000 })
    await clock.advance(1_800_000)
    await again.settled()
    const { runs } = await loadSession(store, 'a')
    assert.equal(
      runs.map(({ status }) => status),
      ['completed'],
    )
  })

  it('ends with an abort', async (context) => {
    const { definition, open, clock, store, results } = await sleeping(context, [calls({ seconds: 3_600 })])
    const agent = await (await open()).spawn(definition, { id: 'a' })
    const run = agent.prompt('Wait.')
    await clock.advance(1_000)
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    await clock.advance(3_600_000)
    assert.equal([agent.state, (await results()).length], ['idle', 1])
    assert.match((await results())[0]!, /^Aborted/)
    await agent.durable()
    assert.equal(await store.timers!.due(start + 10 ** 9), [])
  })

  it('refuses what is no time, or too long', async (context) => {
    const { definition, open, results } = await sleeping(context, [
      calls(
        {},
        { seconds: 5, until: '2026-05-04T08:01:00Z' },
        { until: 'tomorrow' },
        { until: '2029-01-01T00:00:00Z' },
        { seconds: 0 },
      ),
      'done',
    ])
    const agent = await (await open()).spawn(definition, { id: 'a' })
    await agent.prompt('Wait.').result
    const all = await results()
    for (const [index, words] of [
      /either "seconds"/,
      /either "seconds"/,
      /not a time/,
      /longer than/,
      /seconds/,
    ].entries())
      assert.match(all[index]!, words)
    assert.throws(() => sleepTool({ maxMs: 5 }), failsWith('INVALID_OPTION', 'maxMs'))
  })
})
