import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../packages/models/src/policyModel.ts'
import { sleepTool } from '../../../src/actors/parts/sleep/sleepTool.ts'
import { readAll } from '../../../packages/evaluation/src/testing/contractDemands.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { quiet } from '../../support/agentHarness.ts'
import { failsWith } from '../../../packages/stores/test/storeFolder.ts'
import { systemClock } from '../../../src/protocol/ports/clock.ts'
import { gatedStore } from '../../runtime/idleAgents.ts'
import { createRuntime } from '../../../packages/bridge/src/createRuntime.ts'
import { simulatedClock } from '../../../packages/evaluation/src/testing/simulatedClock.ts'
import { assert, describe, type CaseContext } from '../../support/suite.ts'

const start = Date.parse('2026-05-04T08:00:00Z')
const idleMs = 10_000
const hour = 3_600_000

/** Sleeps as long as it is told, and then says what the tool said. */
const sleeper = defineAgent({
  name: 'sleeper',
  model: policyModel(({ messages }) => {
    const last = messages.at(-1)!
    if (last.role === 'toolResult') return textOf(last.content)
    const seconds = Number(/\d+/.exec(textOf(last.content))?.[0] ?? 0)
    return seconds === 0 ? 'awake' : { toolCalls: [{ name: 'sleep', input: { seconds } }] }
  }),
  tools: [sleepTool()],
})

async function resting({ cleanup }: Pick<CaseContext, 'cleanup'>) {
  const store = { ...gatedStore(), close: async () => {} }
  const clock = simulatedClock(start)
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const runtime = await createRuntime({ store, clock, logger, idleUnloadMs: idleMs })
  cleanup(() => runtime.close())
  const asleep = async (id: string, seconds = 3_600) => {
    const agent = await runtime.spawn(sleeper, { id })
    const run = agent.prompt(`Sleep for ${seconds}.`)
    await clock.advance(idleMs)
    await quiet()
    return { agent, run }
  }
  const types = async (id: string): Promise<string[]> => (await readAll(store, id)).map(({ type }) => type)
  return { store, clock, runtime, asleep, types }
}

describe('an agent that sleeps', (it) => {
  it('is unloaded, says that it sleeps, and its run goes on at its time for whoever waits for it', async (context) => {
    const { clock, runtime, asleep, store, types } = await resting(context)
    const { agent, run } = await asleep('a')
    assert.is(agent.isLoaded, false)
    assert.is(agent.ref, undefined)
    assert.equal([...store.leased], [])
    assert.equal([agent.state, agent.pause], ['paused', { type: 'timer', until: start + hour }])
    assert.is(agent.spent.turns, 1)
    assert.equal(
      runtime.agents().map(({ id }) => id),
      ['a'],
    )
    await clock.advance(hour)
    const result = await run.result
    assert.equal([result.stopReason, result.text], ['stop', 'It is 2026-05-04 09:00:00Z now.'])
    assert.equal(
      (await types('a')).filter((type) => /^run|^timer/.test(type)),
      ['run.start', 'timer.set', 'timer.fired', 'run.end'],
    )
    await clock.advance(idleMs)
    assert.is(agent.isLoaded, false)
    assert.is(agent.state, 'idle')
  })

  it('is not loaded while it waits, however long', async (context) => {
    const { clock, asleep, store } = await resting(context)
    const { run } = await asleep('a', 20 * 86_400)
    const before = store.opened.length
    for (let day = 0; day < 19; day += 1) await clock.advance(86_400_000)
    assert.is(store.opened.length, before)
    await clock.advance(86_400_000)
    assert.is((await run.result).stopReason, 'stop')
    assert.is(store.opened.length, before + 1)
  })

  it('is woken early by a message', async (context) => {
    const { asleep } = await resting(context)
    const { agent, run } = await asleep('a')
    agent.steer('Get up.')
    assert.match((await run.result).text, /Woken early|awake/)
  })

  it('is aborted, and its run with it', async (context) => {
    const { asleep, types } = await resting(context)
    const { agent, run } = await asleep('a')
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.is((await types('a')).at(-1), 'run.end')
    assert.is(agent.state, 'idle')
  })

  it('takes a prompt that waits for the run', async (context) => {
    const { asleep, clock } = await resting(context)
    const { agent, run } = await asleep('a')
    const next = agent.prompt('Now?')
    await quiet()
    await clock.advance(hour)
    assert.is((await run.result).stopReason, 'stop')
    assert.is((await next.result).text, 'awake')
  })

  it('is stopped for good, and not woken again', async (context) => {
    const { asleep, clock, types } = await resting(context)
    const { agent, run } = await asleep('a')
    await agent.stop()
    assert.is((await run.result).stopReason, 'aborted')
    await clock.advance(2 * hour)
    assert.is((await types('a')).at(-1), 'agent.stopped')
  })

  it('whose runtime is closed goes on in the next one, once', async (context) => {
    const { asleep, runtime, store, clock, types } = await resting(context)
    const { run } = await asleep('a')
    await runtime.close()
    assert.is((await run.result).stopReason, 'aborted')
    assert.not.ok((await types('a')).includes('run.end'), 'the run is not over')
    const next = await createRuntime({ store, clock })
    context.cleanup(() => next.close())
    const again = await next.resume('a', sleeper)
    assert.equal(again.pause, { type: 'timer', until: start + hour })
    await clock.advance(hour)
    await again.settled()
    assert.is((await types('a')).filter((type) => type === 'timer.fired').length, 1)
    assert.is((await types('a')).at(-1), 'run.end')
  })

  it('stays while somebody listens', async (context) => {
    const { clock, runtime } = await resting(context)
    const agent = await runtime.spawn(sleeper, { id: 'a' })
    const leave = agent.subscribe(() => {})
    void agent.prompt('Sleep for 3600.')
    await clock.advance(3 * idleMs)
    assert.is(agent.isLoaded, true)
    leave()
    await clock.advance(idleMs)
    assert.is(agent.isLoaded, false)
  })

  it('is tried again when its log could not be opened at its time', async (context) => {
    const { asleep, store, clock } = await resting(context)
    const { agent } = await asleep('a')
    const broken = Promise.reject(new Error('disk'))
    broken.catch(() => {})
    store.gates.open = broken
    await clock.advance(hour)
    await quiet()
    assert.is(agent.isLoaded, false)
    store.gates.open = undefined
    await clock.advance(60_000)
    await quiet()
    assert.is(agent.isLoaded, true)
    await agent.settled()
    assert.is(agent.state, 'idle')
  })

  it('holds no statechart, a thousand of them either, and each is woken at its time', async (context) => {
    const { clock, runtime, types } = await resting(context)
    const agents = await Promise.all(
      Array.from({ length: 1_000 }, async (_, n) => {
        const agent = await runtime.spawn(sleeper, { id: `a${n}` })
        return { agent, run: agent.prompt(`Sleep for ${3_600 + (n % 10)}.`) }
      }),
    )
    await Promise.all(agents.map(({ agent }) => agent.settled()))
    await clock.advance(idleMs)
    await quiet()
    assert.is(agents.filter(({ agent }) => agent.isLoaded || agent.ref !== undefined).length, 0)
    await clock.advance(hour)
    const results = await Promise.all(agents.map(({ run }) => run.result))
    assert.is(results.filter(({ stopReason }) => stopReason === 'stop').length, 1_000)
    assert.is((await types('a7')).filter((type) => type === 'timer.fired').length, 1)
  })
})

describe('the process of a live agent', (it) => {
  /** The waits of an hour of a clock: how long, and true for those that do not keep the process alive. */
  async function waits(context: CaseContext) {
    const seen: [ms: number, isQuiet: boolean][] = []
    const clock = simulatedClock(start)
    const runtime = await createRuntime({
      clock: {
        now: clock.now,
        after(ms, callback, options) {
          seen.push([ms, options?.quiet === true])
          return clock.after(ms, callback)
        },
      },
    })
    context.cleanup(() => runtime.close())
    return { runtime, long: () => seen.filter(([ms]) => ms === hour) }
  }

  it('is not kept alive by a schedule', async (context) => {
    const { runtime, long } = await waits(context)
    const agent = await runtime.spawn(sleeper, { id: 'a' })
    agent.schedule({ id: 'x', at: start + hour, prompt: 'Hello.' })
    assert.equal(long(), [[hour, true]])
  })

  it('is kept alive by a run that sleeps, because somebody waits for it', async (context) => {
    const { runtime, long } = await waits(context)
    const agent = await runtime.spawn(sleeper, { id: 'a' })
    void agent.prompt('Sleep for 3600.')
    await agent.settled()
    assert.equal(long(), [[hour, false]])
  })

  it('has timers of the system that say so', () => {
    for (const quietly of [true, false]) {
      const before = process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length
      const cancel = systemClock.after(hour, () => {}, { quiet: quietly })
      const after = process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length
      cancel()
      assert.is(after - before, quietly ? 0 : 1)
    }
  })
})

describe('an agent with a schedule', (it) => {
  it('is unloaded, and loaded when it is due', async (context) => {
    const { clock, runtime, types } = await resting(context)
    const agent = await runtime.spawn(sleeper, { id: 'a' })
    agent.schedule({ id: 'x', at: start + hour, prompt: 'Hello.' })
    await clock.advance(idleMs)
    await quiet()
    assert.is(agent.isLoaded, false)
    assert.equal(
      agent.schedules().map(({ id }) => id),
      ['x'],
    )
    await clock.advance(hour)
    await quiet()
    await agent.settled()
    assert.is((await types('a')).filter((type) => type === 'run.end').length, 1)
    assert.throws(() => agent.fire('x'), failsWith('SCHEDULE_NOT_FOUND'))
  })
})
