import { fileURLToPath } from 'node:url'
import { escapementFrom } from '../../tools/bench/contenders/escapement.ts'
import { floor } from '../../tools/bench/contenders/floor.ts'
import { xstate } from '../../tools/bench/contenders/xstate.ts'
import type { Contender } from '../../tools/bench/peers/contender.ts'
import { newSeen, turnsOf } from '../../tools/bench/peers/script.ts'
import type { TimedWorkload } from '../../tools/bench/peers/workload.ts'
import { abortWorkload } from '../../tools/bench/peers/workloads/abort.ts'
import { crowdWorkload } from '../../tools/bench/peers/workloads/crowd.ts'
import { deltaWorkload } from '../../tools/bench/peers/workloads/delta.ts'
import { historyWorkload } from '../../tools/bench/peers/workloads/history.ts'
import { parallelToolsWorkload } from '../../tools/bench/peers/workloads/parallelTools.ts'
import { nestingWorkload, subAgentWorkload } from '../../tools/bench/peers/workloads/subAgents.ts'
import { turnWorkload } from '../../tools/bench/peers/workloads/turn.ts'
import { assert, describe } from '../support/suite.ts'

const escapement = escapementFrom(fileURLToPath(new URL('../../src/index.ts', import.meta.url)))
const contenders: Readonly<Record<string, Contender>> = { floor, xstate, escapement }

const timed: readonly TimedWorkload[] = [
  turnWorkload(3),
  deltaWorkload(150),
  crowdWorkload(3, 'own'),
  crowdWorkload(3, 'shared'),
  subAgentWorkload(3),
  nestingWorkload(2),
  parallelToolsWorkload(4),
  historyWorkload(6, 'loop', 3),
  historyWorkload(6, 'chat', 3),
]

for (const [name, contender] of Object.entries(contenders))
  describe(`${name} in tools/bench/peers`, (it) => {
    for (const workload of timed)
      it(`does exactly the work of ${workload.name}`, async () => {
        const host = await contender.open()
        // Throws when it was other work.
        await (
          await workload.prepare(host)
        )()
        await host.release()
        await host.close()
      })
  })

describe('a workload of tools/bench/peers', (it) => {
  it('fails when other work was done than asked', async () => {
    const lazy: Contender = {
      async open() {
        const host = await floor.open()
        // One turn less than its script has.
        return { ...host, define: (spec) => host.define({ ...spec, script: turnsOf(2, 20) }) }
      },
    }
    const run = await turnWorkload(3).prepare(await lazy.open())
    assert.match(await run().then(String, String), /other work was done than asked: turns 2, not 3/)
  })

  it('sees an abort through, and that no delta follows it', async () => {
    for (const at of ['streaming', 'model', 'tool'] as const) {
      const figures = await abortWorkload(3, at).measure(
        async () => escapement,
        async () => {},
      )
      assert.is(figures['late'], 0)
    }
  })

  it('is given a conversation that is resumed from a log of as many messages', async () => {
    const seen = newSeen()
    const host = await escapement.open()
    const definition = host.define({ name: 'old', seen, script: turnsOf(1, 1), tools: [] })
    const session = await definition.create({ history: 4 })
    assert.is(session.messages(), 4)
    assert.equal(await session.prompt('go'), { how: 'done', turns: 1 })
    assert.is(session.messages(), 6)
    await host.release()
    await host.close()
  })
})
