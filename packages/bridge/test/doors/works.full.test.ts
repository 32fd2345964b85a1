import { rightSchema } from '../../../wire/src/rightsSchema.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { operations } from './operations.ts'
import { openWorld, tokenOf } from './world.ts'

/** They leave the agents as they are, or there is nothing to do. */
const leaveNoMark: ReadonlySet<string> = new Set([
  'agent.share ',
  'agent.prune ',
  'agent.unpin ',
  'say yes',
  'host.send ',
])

describe('what is asked for at the doors', (it) => {
  for (const operation of operations.filter(({ changes, name }) => changes && !leaveNoMark.has(name)))
    it(`does something for who may: ${operation.door}, ${operation.name}`, { timeoutMs: 20_000 }, async (context) => {
      const told: string[] = []
      for (const agent of ['mine', 'asleep'] as const) {
        const world = await openWorld(context)
        const before = await world.state()
        const token = tokenOf({ may: rightSchema().options, reaching: 'all' })
        const asking = { place: world.server, token, agent, keys: world.keysOf(agent) }
        // A run that has begun does not end.
        told.push(await operation.ask(asking).catch(String))
        if ((await world.state()) !== before) return
      }
      assert.unreachable(told.join('\n'))
    })
})
