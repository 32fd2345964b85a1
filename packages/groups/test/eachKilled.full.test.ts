import { killModes } from '../../../test/crash/killingStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { faultsOf, recordsOfBatch } from './eachLives.ts'

describe('a batch whose process is killed at any of its records', (it) => {
  it('has one answer for each input, and no call made twice', { timeoutMs: 900_000 }, async () => {
    const records = await recordsOfBatch()
    assert.ok(records > 30, `${records} records`)
    const faults: string[] = []
    for (let at = 1; at <= records; at += 1) {
      // Every record with what is stored of it; each third also torn, and before it is written.
      const modes = killModes.filter((mode, index) => mode === 'after' || at % 3 === index)
      for (const mode of modes) faults.push(...(await faultsOf({ mode, at })))
    }
    assert.equal(faults, [])
  })
})
