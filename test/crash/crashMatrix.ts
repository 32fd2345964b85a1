/**
 * The crash matrix, by hand: a job of 35 turns with everything in it is killed around every record of its logs and at random
 * moments, gone on with, and compared with an undisturbed one. Takes some minutes; exits with 1 when something was wrong.
 *
 *   node test/crash/crashMatrix.ts [--kills 300] [--seed 1]
 *
 * Without --kills it dies around every record once, and a quarter as often at a random moment.
 */
import { parseArgs } from 'node:util'
import { CrashDriver, type Death } from './crashDriver.ts'
import { planDeaths } from './planDeaths.ts'

const { values } = parseArgs({ options: { kills: { type: 'string' }, seed: { type: 'string', default: '1' } } })
const [wanted, seed] = [values.kills === undefined ? undefined : Number(values.kills), Number(values.seed)]
for (const value of [wanted ?? 1, seed])
  if (!Number.isSafeInteger(value)) throw new Error('--kills and --seed take numbers')
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const nameOf = (death: Death): string =>
  death.mode === 'timer' ? `after ${Math.round(death.ms)} ms` : `${death.mode} record ${death.at}`

const driver = await CrashDriver.open()
const kills = new Map<Death['mode'], number>()
let failed = 0
try {
  const { records, ms } = await driver.undisturbed()
  const scenarios = planDeaths({ records, ms, kills: wanted, seed })
  print(`An undisturbed job writes ${records} records in ${Math.round(ms)} ms; ${scenarios.length} jobs are killed.`)
  for (const [index, scenario] of scenarios.entries()) {
    const { deaths, faults } = await driver.run(scenario)
    for (const { mode } of deaths) kills.set(mode, (kills.get(mode) ?? 0) + 1)
    if (faults.length > 0) failed += 1
    const total = [...kills.values()].reduce((sum, count) => sum + count, 0)
    print(`job ${index + 1}/${scenarios.length}, ${total} kills: ${faults.length === 0 ? 'ok' : 'WRONG'}`)
    if (faults.length > 0) print([`  died ${deaths.map(nameOf).join(', ')}`, ...faults].join('\n    '))
  }
  print('')
  print('killed'.padEnd(12) + 'times'.padStart(8))
  for (const [mode, count] of [...kills].toSorted(([a], [b]) => a.localeCompare(b)))
    print(mode.padEnd(12) + String(count).padStart(8))
  print(`${scenarios.length - failed} of ${scenarios.length} jobs came to the same end.`)
} finally {
  if (failed === 0) await driver.close()
  process.exitCode = failed === 0 ? 0 : 1
}
