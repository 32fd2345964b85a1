/**
 * Lives of clients whose connection is cut and held, and whose server is killed and started again on the same store, while they
 * give commands. In memory and on simulated time, about one a second; exits with 1 when something did not hold.
 *
 *   node packages/bridge/test/server/resumeMatrix.ts [--seed 1] [--count 2000] [--turns 200]
 *
 * A seed that fails is one line; `--count 1 --seed <it>` lives it again, with its plan.
 */
import { parseArgs } from 'node:util'
import { resumeLife } from './resume/resumeLife.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '2000' },
    turns: { type: 'string', default: '200' },
  },
})
const [first, count, turns] = [Number(values.seed), Number(values.count), Number(values.turns)]
for (const value of [first, count, turns])
  if (!Number.isSafeInteger(value)) throw new Error('--seed, --count and --turns take numbers')
const print = (line: string): void => void process.stdout.write(`${line}\n`)

const strays: string[] = []
process.on('unhandledRejection', (thrown) => strays.push(`unhandled rejection: ${String(thrown)}`))
process.on('uncaughtException', (thrown) => strays.push(`uncaught exception: ${String(thrown)}`))

const totals = { lives: 0, turns: 0, records: 0, connections: 0, kills: 0, holds: 0, commands: 0, refused: 0 }
let failed = 0
for (let seed = first; seed < first + count; seed += 1) {
  const outcome = await resumeLife(seed, { turns })
  const faults = [...outcome.faults, ...strays.splice(0)]
  totals.lives += 1
  for (const key of ['turns', 'records', 'connections', 'kills', 'holds', 'commands', 'refused'] as const)
    totals[key] += outcome[key]
  if (faults.length > 0) failed += 1
  if (faults.length > 0) print(`seed ${seed}: ${faults.slice(0, 5).join('; ')}`)
  if (count === 1) print(JSON.stringify(outcome.plan, null, 2))
  if (totals.lives % 250 === 0) print(`${totals.lives} of ${count} lives, ${failed} with faults`)
}
print('')
for (const [what, number] of Object.entries(totals)) print(what.padEnd(16) + String(number).padStart(10))
print(`${totals.lives - failed} of ${totals.lives} clients heard their log to the end.`)
process.exitCode = failed === 0 ? 0 : 1
