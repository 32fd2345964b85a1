import { assert, describe } from '../../../../test/support/suite.ts'
import { attempt, attempts } from './forbidden.ts'
import { openWorld } from './world.ts'

describe('every door, 20,000 times', (it) => {
  const worlds = 10
  for (let seed = 1; seed <= worlds; seed += 1)
    it(
      `carries out, shows and wakes nothing that is forbidden, seed ${seed}`,
      { timeoutMs: 600_000 },
      async (context) => {
        const world = await openWorld(context)
        let made = 0
        for (const one of attempts(100 + seed, 20_000 / worlds)) if (await attempt(world, one)) made += 1
        assert.ok(made > 1_000, `${made} attempts`)
      },
    )
})
