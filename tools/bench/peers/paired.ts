/**
 * Contenders beside one another in one process: each works for three seconds, then they alternate, batch by batch. Ratios are taken
 * within a round and their median is printed, as they hold where the figures themselves drift with the machine.
 *
 *   node --expose-gc tools/bench/peers/paired.ts [--only turn100] [--contenders escapement,pi,floor] [--rounds 25] [--warm 3000]
 *                                          [--against dist/index.js of another build]
 */
import { parseArgs } from 'node:util'
import type { Contender, Host } from './contender.ts'
import { contenders, missing } from './contenders.ts'
import { perUnit, timeBatch } from './measure.ts'
import { chooseContenders, chooseWorkloads, readCount } from './options.ts'
import { format, medianOf, summaryOf } from './table.ts'
import type { TimedWorkload } from './workload.ts'

/** A round times so many CPU microseconds of each contender at least. */
const leastMicros = 20_000

interface Subject {
  readonly name: string
  readonly host: Host
}

async function open(name: string, contender: Contender): Promise<Subject> {
  return { name, host: await contender.open() }
}

async function warm(workload: TimedWorkload, { host }: Subject, ms: number): Promise<void> {
  const until = performance.now() + ms
  do await timeBatch(workload, host)
  while (performance.now() < until)
}

/** Resolves with the cost of a unit, measured over enough batches. */
async function time(workload: TimedWorkload, { host }: Subject): Promise<number> {
  let [spent, batches] = [0, 0]
  while (spent < leastMicros) {
    spent += await timeBatch(workload, host)
    batches += 1
  }
  return perUnit(workload, spent / batches)
}

async function compare(workload: TimedWorkload, subjects: readonly Subject[], rounds: number, ms: number) {
  for (const subject of subjects) await warm(workload, subject, ms)
  const figures = new Map<string, number[]>(subjects.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round += 1)
    for (const [index] of subjects.entries()) {
      // Nobody always comes after the same one.
      const subject = subjects[(index + round) % subjects.length]!
      figures.get(subject.name)!.push(await time(workload, subject))
    }
  return figures
}

function print(workload: TimedWorkload, figures: ReadonlyMap<string, readonly number[]>): void {
  console.log(`${workload.title}, ${workload.unit}/${workload.per}`)
  const bases = ['pi', 'piBefore', 'floor', 'other'].filter((name) => figures.has(name))
  const columns = ['median', ...bases.map((base) => `÷ ${base}`), 'spread']
  console.log(`  ${''.padEnd(12)}${columns.map((column) => column.padStart(12)).join('')}`)
  for (const [name, values] of figures) {
    const { median, spread } = summaryOf(values)
    const ratios = bases.map((base) => medianOf(values.map((value, round) => value / figures.get(base)![round]!)))
    const cells = [format(median!), ...ratios.map(format), `${Math.round(spread * 100)} %`]
    console.log(`  ${name.padEnd(12)}${cells.map((cell) => cell.padStart(12)).join('')}`)
  }
  console.log()
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: 'turn100' },
      contenders: { type: 'string', default: 'floor,pi,piBefore,escapement' },
      rounds: { type: 'string', default: '25' },
      warm: { type: 'string', default: '3000' },
      against: { type: 'string' },
    },
  })
  const names = chooseContenders(values.contenders)
  const lacking = missing(names)
  if (lacking.length > 0)
    throw new Error(`Not installed: ${lacking.join(', ')}. Run: npm ci --prefix tools/bench/peers`)
  const subjects: Subject[] = []
  for (const name of names) subjects.push(await open(name, await contenders[name].load()))
  if (values.against !== undefined) {
    const { escapementFrom } = await import('../contenders/escapement.ts')
    subjects.push(await open('other', escapementFrom(values.against)))
  }
  const [rounds, ms] = [readCount('--rounds', values.rounds), readCount('--warm', values.warm, 0)]
  for (const workload of chooseWorkloads(values.only)) {
    if (workload.type !== 'timed') continue
    const able = subjects.filter(
      ({ name }) => workload.only === undefined || workload.only.some((each) => each === name),
    )
    print(workload, await compare(workload, able, rounds, ms))
  }
  for (const { host } of subjects) await host.close()
}

try {
  await main()
  process.exit()
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : thrown)
  process.exit(2)
}
