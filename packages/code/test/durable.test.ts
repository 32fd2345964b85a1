import { assert, describe } from '../../../test/support/suite.ts'
import { quickJsEngine } from '../src/quickJsEngine.ts'
import { seedsFrom, tally } from './randomScripts.ts'

const engine = quickJsEngine()

describe('random scripts that crash after random records', (it) => {
  it('run again from the log to the same end, and nothing irreversible is done twice', async () => {
    const { differences, twice, early, agents, anew, sleeps, crashes, interrupted, records } = await tally(
      engine,
      seedsFrom(1_000, 60),
      'by record',
    )
    assert.equal({ differences, twice, early, anew }, { differences: 0, twice: 0, early: 0, anew: 0 })
    assert.ok(agents > 10 && sleeps > 10, `${agents} ${sleeps}`)
    // They did crash, and calls were lost in it.
    assert.ok(crashes > 40 && interrupted > 5 && records > 250, `${crashes} ${interrupted} ${records}`)
  })

  it('differ when results are given by number in place of by record', async () => {
    const { differences } = await tally(engine, seedsFrom(1_000, 50), 'by number')
    assert.ok(differences > 3, `only ${differences} differ`)
  })
})
