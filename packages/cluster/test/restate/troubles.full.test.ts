import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPostgres, howToInstall } from '../../../postgres/test/installPostgres.ts'
import { sharedServer } from '../../../postgres/test/postgres.ts'
import { assert, describe, isCi, type CaseContext } from '../../../../test/support/suite.ts'
import { blowOf, losses, troubles, type BlowName } from './crash/blows.ts'
import { runCell } from './crash/cell.ts'
import { runGatewayCell } from './crash/gatewayCell.ts'
import { describeWithEngine } from './withEngine.ts'

async function folder({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-troubles-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  return dir
}

const patient = { timeoutMs: 60_000 }
const right = { faults: [], repeats: 0, again: 0, twice: 0, zombie: 0 }

const hasPostgres = findPostgres() !== undefined
const needsPostgres = (blow: BlowName): boolean => blowOf(blow).needs !== undefined
const blows: readonly BlowName[] = [...losses, ...troubles]

/** One agent each, for as short as may be; `test/crash/scaleMatrix.ts` does it with many, and for longer. */
describeWithEngine('agents when something is wrong for a while', (it) => {
  for (const blow of blows.filter((one) => hasPostgres || !needsPostgres(one)))
    it(`come to the same end: ${blow}`, patient, async (context) => {
      const database = needsPostgres(blow) ? await sharedServer() : undefined
      const where = { engine: context.engine, dir: await folder(context), database }
      // It is not tried for long to write, so that agents pause and another attempt goes on; except where others are to take them before.
      const times = blow === 'lose network' ? { leaseMs: 1_000 } : { retryMs: 300 }
      const cell = { blow, place: 'tool', agents: 1, ...times } as const
      const { slowestMs: _, note: __, ...result } = await runCell(cell, where)
      assert.equal(result, { wanted: 2, answers: 2, ...right })
    })

  for (const [what, isFrozen] of [
    ['dies', false],
    ['freezes', true],
  ] as const)
    it(
      `answer their clients, who hear each record once, when one of two gateways ${what}`,
      patient,
      async (context) => {
        const where = { engine: context.engine, dir: await folder(context) }
        const { slowestMs: _, ...result } = await runGatewayCell({ agents: 1, isFrozen }, where)
        assert.equal(result, { wanted: 2, answers: 2, ...right })
      },
    )
})

if (!hasPostgres)
  describe('agents whose database fails', (it) => {
    const missing = `there is no PostgreSQL; ${howToInstall}`
    for (const blow of blows.filter(needsPostgres))
      if (isCi()) it(`come to the same end: ${blow}`, () => assert.unreachable(missing))
      else it.skip(`come to the same end: ${blow} (skipped: ${missing})`)
  })
