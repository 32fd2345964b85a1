import { assert, describe } from '../../../../test/support/suite.ts'
import { killedServer } from './resume/killedServer.ts'

describe('a server whose process is killed', (it) => {
  it(
    'has told its client the log and no more, over 200 turns and four deaths',
    { timeoutMs: 60_000 },
    async (context) => {
      const outcome = await killedServer(context, { seed: 1, kills: 4 })
      assert.equal(outcome.faults, [])
      assert.is(outcome.kills, 4)
      assert.ok(outcome.turns >= 200, `${outcome.turns} turns`)
    },
  )
})
