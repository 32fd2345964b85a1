import { assert, describe } from '../../../test/support/suite.ts'
import { quickJsEngine } from '../src/quickJsEngine.ts'
import { seedsFrom, tally } from './randomScripts.ts'

const engine = quickJsEngine()

describe('200 random scripts that crash after random records', (it) => {
  it('run again from the log to the same end', { timeoutMs: 120_000 }, async () => {
    const { differences, twice, early, agents, anew, sleeps, crashes, interrupted } = await tally(
      engine,
      seedsFrom(1_000, 200),
      'by record',
    )
    assert.equal({ differences, twice, early, anew }, { differences: 0, twice: 0, early: 0, anew: 0 })
    assert.ok(agents > 20 && sleeps > 10, `${agents} ${sleeps}`)
    assert.ok(crashes > 150 && interrupted > 20, `${crashes} ${interrupted}`)
  })

  it('differ when results are given by number in place of by record', { timeoutMs: 120_000 }, async () => {
    const { differences } = await tally(engine, seedsFrom(1_000, 100), 'by number')
    assert.ok(differences > 6, `only ${differences} differ`)
  })
})
