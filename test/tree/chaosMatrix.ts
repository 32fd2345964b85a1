/**
 * Trees of agents in chaos, by hand: depth 5, fan-out 4 and less, with crashes, aborts, failing models and stores, late decisions
 * and used up budgets. About 20 trees a second; exits with 1 when something did not hold.
 *
 *   node test/tree/chaosMatrix.ts [--seed 1] [--count 5000]
 *
 * A seed that fails is one line; `--count 1 --seed <it>` lives it again, with its plan.
 */
import { parseArgs } from 'node:util'
import { chaosTree } from './chaosTree.ts'

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '5000' } },
})
const [first, count] = [Number(values.seed), Number(values.count)]
for (const value of [first, count]) if (!Number.isSafeInteger(value)) throw new Error('--seed and --count take numbers')
const print = (line: string): void => void process.stdout.write(`${line}\n`)

const strays: string[] = []
process.on('unhandledRejection', (thrown) => strays.push(`unhandled rejection: ${String(thrown)}`))
process.on('uncaughtException', (thrown) => strays.push(`uncaught exception: ${String(thrown)}`))

const totals = { trees: 0, agents: 0, deepest: 0, crashes: 0, storeFailures: 0 }
const deeds = new Map<string, number>()
let failed = 0
for (let seed = first; seed < first + count; seed += 1) {
  const outcome = await chaosTree(seed)
  const faults = [...outcome.faults, ...strays.splice(0)]
  totals.trees += 1
  totals.agents += outcome.agents
  totals.crashes += outcome.crashes
  totals.storeFailures += outcome.storeFailures
  totals.deepest = Math.max(totals.deepest, outcome.depth)
  for (const [deed, times] of Object.entries(outcome.deeds)) deeds.set(deed, (deeds.get(deed) ?? 0) + times)
  if (faults.length > 0) failed += 1
  if (faults.length > 0) print(`seed ${seed}: ${faults.slice(0, 5).join('; ')}`)
  if (count === 1) print(JSON.stringify(outcome.plan, null, 2))
  if (totals.trees % 500 === 0) print(`${totals.trees} of ${count} trees, ${failed} with faults`)
}
print('')
for (const [what, number] of [...Object.entries(totals), ...deeds]) print(what.padEnd(16) + String(number).padStart(10))
print(`${totals.trees - failed} of ${totals.trees} trees came to a sound end.`)
process.exitCode = failed === 0 ? 0 : 1
