import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import { type Interpreter, plannedInterpreter, xstateInterpreter } from '../../src/runtime/interpreter/interpreter.ts'
import { moves, policies } from '../support/arbitraries.ts'
import type { MachineDriver } from '../support/machineDriver.ts'
import { assert, describe } from '../support/suite.ts'
import { agentIn, places, policyFor } from './everyState.ts'
import { LiveAgent } from './liveAgent.ts'
import { Wanderer } from './wanderer.ts'

const withoutTime = ({ records }: MachineDriver) => records.map(({ time: _, ...record }) => record)

/** Takes a live agent down the road the pure driver went. */
async function assertConforms(
  driver: MachineDriver,
  policy: ConstructorParameters<typeof LiveAgent>[0],
  interpreter: Interpreter,
): Promise<void> {
  const live = new LiveAgent(policy, interpreter)
  try {
    for (const step of driver.steps) await live.step(step)
    assert.equal(live.records, withoutTime(driver))
    assert.equal(
      live.started.map(({ id }) => id),
      driver.started.map(({ id }) => id),
    )
    assert.is(live.state, driver.state)
    const running = live.started.filter(
      ({ signal }, nth) => !signal.aborted && [...driver.children.values()].some((child) => child.nth === nth),
    )
    assert.is(running.length, driver.children.size, 'an effect under way was aborted')
    for (const { nth, id } of driver.stopped) assert.ok(live.started[nth]!.signal.aborted, `${id} was not told to stop`)
  } finally {
    live.close()
  }
}

const interpreters: Readonly<Record<string, Interpreter>> = {
  "on XState's interpreter": xstateInterpreter,
  'from plans': plannedInterpreter,
}

for (const [how, interpreter] of Object.entries(interpreters)) {
  describe(`live actors ${how} and the pure function`, (it) => {
    for (const place of places) {
      it(`write the same log on the way to ${place}, and when aborted there`, async () => {
        const policy = policyFor(place)
        const script = agentIn(place)
        script.abort()
        if (script.state === 'settling') script.settle()
        await assertConforms(script.driver, policy, interpreter)
      })
    }

    it('write the same log on any road', { timeoutMs: 20_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(policies, fc.boolean(), moves({ maxLength: 40 }), async (wanted, isBehind, road) => {
          const behind = isBehind ? { background: { always: ['tool'], choice: [], max: 2 } } : {}
          const policy = { ...wanted, ...behind }
          const wanderer = new Wanderer(policy)
          for (const move of road) wanderer.play(move)
          await assertConforms(wanderer.driver, policy, interpreter)
        }),
        { seed: 7, numRuns: someRuns(150) },
      )
    })
  })
}
