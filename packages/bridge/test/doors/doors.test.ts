import { rightsOfRole } from '../../../wire/src/rights.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { attempt, attempts } from './forbidden.ts'
import { operations } from './operations.ts'
import { openWorld } from './world.ts'

describe('every door', (it) => {
  for (const role of ['observe', 'talk'] as const)
    it(`gives the role "${role}" nothing more than it has a right to`, { timeoutMs: 60_000 }, async (context) => {
      const world = await openWorld(context)
      const client = { may: rightsOfRole[role], reaching: 'ids' } as const
      let made = 0
      for (const operation of operations)
        if (await attempt(world, { client, operation, agent: 'mine', isThroughGateway: false })) made += 1
      assert.ok(made > operations.length / 3, `${made} attempts`)
    })

  it(
    'carries out, shows and wakes nothing that the table of rights forbids',
    { timeoutMs: 60_000 },
    async (context) => {
      const world = await openWorld(context)
      let made = 0
      for (const one of attempts(1, 80)) if (await attempt(world, one)) made += 1
      assert.ok(made > 50, `${made} attempts`)
    },
  )
})
