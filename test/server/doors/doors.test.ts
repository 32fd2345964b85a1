import { assert, describe } from '../../support/suite.ts'
import { attempt, attempts } from './forbidden.ts'
import { openWorld } from './world.ts'

describe('every door', (it) => {
  it(
    'carries out, shows and wakes nothing that the table of rights forbids',
    { timeoutMs: 60_000 },
    async (context) => {
      const world = await openWorld(context)
      let made = 0
      for (const one of attempts(1, 150)) if (await attempt(world, one)) made += 1
      assert.ok(made > 100, `${made} attempts`)
    },
  )
})
