/**
 * Simulates a million agents on a model of workers, engine, database and gateways whose costs were measured (`scale/costs.ts`): which limit
 * is met first, how to raise it, and what happens when a part is lost. The simulation shows where to look, not what a cluster does.
 *
 *   node tools/bench/scale.ts [--agents 1000000] [--per-day 20] [--peak 3] [--seconds 20] [--seed 1]
 */
import { parseArgs } from 'node:util'
import { everydayLoad, measuredCosts, smallTopology, type Load } from './scale/costs.ts'
import { climb } from './scale/limits.ts'
import { recoveries } from './scale/recoveries.ts'
import { format } from './measure.ts'

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '1000000' },
    'per-day': { type: 'string', default: '20' },
    peak: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
  },
})

/** @throws Error unless it is a number above 0. */
function positive(name: keyof typeof values): number {
  const value = Number(values[name])
  if (!(value > 0 && Number.isFinite(value)))
    throw new Error(`--${name} takes a number above 0, not "${values[name]}".`)
  return value
}

const agents = Math.ceil(positive('agents'))
const seconds = positive('seconds')
const average = (agents * positive('per-day')) / 86_400
const most = average * positive('peak')
const load: Load = { ...everydayLoad, agents, promptsPerSecond: Math.min(10, most) }

console.log(
  `${format(agents, 0)} agents, ${format(average)} prompts a second on average, ${format(most)} in the busiest hour; each prompt ${load.turns} turns.\n`,
)
const { rungs, topology, outcome } = climb(smallTopology, load, measuredCosts, { most, seconds })
console.log('| prompts/s | what is used up | what one does | added to an answer, p50 / p99 ms |\n|---:|---|---|---:|')
for (const { promptsPerSecond, limit, outcome: then } of rungs)
  console.log(
    `| ${format(promptsPerSecond, 0)} | ${limit.name} (${format(limit.used * 100, 0)} %) | ${limit.remedy} | ${format(then.p50, 0)} / ${format(then.p99, 0)} |`,
  )
console.log(`\nBorne with: ${JSON.stringify(topology)}`)
const { walBytes, storedBytes } = measuredCosts.database
const perDay = outcome.recordsPerSecond * (average / most) * 86_400
console.log(
  `There: ${format(outcome.recordsPerSecond, 0)} records/s, ${format((outcome.recordsPerSecond * walBytes) / 1e6)} MB/s of WAL, ` +
    `${format((perDay * storedBytes) / 1e9)} GB more a day; ${format(outcome.warm * 100, 0)} % of the prompts found their agent in memory; ` +
    `added to an answer: p50 ${format(outcome.p50, 0)} ms, p99 ${format(outcome.p99, 0)} ms.`,
)
for (const { name, used } of outcome.uses) console.log(`  ${name}: ${format(used * 100, 0)} %`)

console.log('\n| lost for | prompts answered late | slowest, s | usual again after, s |\n|---|---:|---:|---:|')
for (const { what, late, slowestMs, usualAfterMs } of recoveries(
  topology,
  { ...load, promptsPerSecond: most },
  measuredCosts,
  Number(values.seed),
))
  console.log(`| ${what} | ${format(late, 0)} | ${format(slowestMs / 1_000)} | ${format(usualAfterMs / 1_000)} |`)
