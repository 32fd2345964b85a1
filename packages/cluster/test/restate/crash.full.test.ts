import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert } from '../../../../test/support/suite.ts'
import { deaths } from './crash/blows.ts'
import { runCell } from './crash/cell.ts'
import { places } from './crash/job.ts'
import { describeWithEngine } from './withEngine.ts'

/** Each place is where one agent of a worker is when something dies; `test/crash/scaleMatrix.ts` does it with many. */
describeWithEngine('agents whose worker or engine dies', (it) => {
  for (const blow of deaths)
    for (const place of places)
      it(`come to the same end: ${blow}, ${place}`, { timeoutMs: 60_000 }, async ({ engine, cleanup }) => {
        const dir = await mkdtemp(join(tmpdir(), 'escapement-crash-'))
        cleanup(() => rm(dir, { recursive: true, force: true }))
        const { slowestMs: _, ...result } = await runCell({ blow, place, agents: 1 }, { engine, dir })
        assert.equal(result, { wanted: 2, answers: 2, faults: [], repeats: 0, again: 0, twice: 0, zombie: 0 })
      })
})
