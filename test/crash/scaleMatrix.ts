/**
 * The crash matrix of agents that an engine places, by hand: real processes, a real engine, and PostgreSQL where there is one, else SQLite.
 * Takes some minutes; exits with 1 when something was wrong.
 *
 *   node test/crash/scaleMatrix.ts [--cells 120] [--troubles 10] [--agents 20] [--seed 1] [--only freeze] [--sqlite]
 *
 * Each of the cells is one of {kill a worker, freeze one and let it go on, kill the engine, kill all workers, freeze them, part one from the engine,
 * freeze the engine, freeze the database} at one of {in a reply, between a record and its effect, in a tool, in a sub-agent's tool, in a drain, while an
 * approval waits}; the seed decides their order. Troubles are what lasts, or has to be noticed first, each at one of the places: workers that freeze
 * for 15 s, a database that is restarted or crashes, a network between a worker and the database that stalls or breaks for 30 s, or until all is
 * answered, a full disk, other code, a gateway that dies or freezes; 66 are all of them. `--only` takes those whose name has it.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findPostgres } from '../../packages/postgres/test/installPostgres.ts'
import { PostgresServer } from '../../packages/postgres/test/server.ts'
import { blowOf, deaths, losses, troubles, type BlowName } from '../../packages/cluster/test/restate/crash/blows.ts'
import { runCell } from '../../packages/cluster/test/restate/crash/cell.ts'
import type { CellResult } from '../../packages/cluster/test/restate/crash/cellResult.ts'
import { runGatewayCell } from '../../packages/cluster/test/restate/crash/gatewayCell.ts'
import { places, type Place } from '../../packages/cluster/test/restate/crash/job.ts'
import { Engine } from '../../packages/cluster/test/restate/engine.ts'

const { values } = parseArgs({
  options: {
    cells: { type: 'string', default: '120' },
    troubles: { type: 'string', default: '10' },
    agents: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    sqlite: { type: 'boolean', default: false },
  },
})
const [cells, others, agents, seed] = [values.cells, values.troubles, values.agents, values.seed].map(Number)
for (const value of [cells, others, agents, seed])
  if (!Number.isSafeInteger(value)) throw new Error('--cells, --troubles, --agents and --seed take numbers')
const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** A gateway is struck in the middle of a reply alone: nothing else is its business. */
type Row =
  | { readonly blow: BlowName; readonly place: Place }
  | { readonly blow: 'kill gateway' | 'freeze gateway'; readonly place: 'reply' }

/** How long a trouble lasts, in milliseconds. Longer than a store tries to write, so that agents pause: the full disk. */
const lastMs: Partial<Record<BlowName, number>> = {
  'freeze workers': 5_000,
  'freeze engine': 5_000,
  'freeze database': 8_000,
  'freeze, pings': 15_000,
  'freeze, health': 15_000,
  'stop database': 3_000,
  'crash database': 3_000,
  'stall network': 30_000,
  'cut network': 30_000,
  'disk full': 35_000,
}

const hasPostgres = !values.sqlite && findPostgres() !== undefined
const isGateway = (blow: Row['blow']): blow is 'kill gateway' | 'freeze gateway' => blow.endsWith('gateway')
const isWanted = ({ blow }: Row): boolean =>
  blow.includes(values.only) && (hasPostgres || isGateway(blow) || blowOf(blow).needs === undefined)
const dead: readonly Row[] = [...deaths, ...losses]
  .flatMap((blow) => places.map((place) => ({ blow, place })))
  .filter(isWanted)
/** Each trouble once, at another place the next time. */
const troubled: readonly Row[] = places
  .flatMap((_, round) => [
    ...troubles.map((blow, index) => ({ blow, place: places[(index + round + seed!) % places.length]! })),
    { blow: 'kill gateway', place: 'reply' } as const,
    { blow: 'freeze gateway', place: 'reply' } as const,
  ])
  .filter(isWanted)
/** The cells in another order for each seed, again and again until there are enough. */
const planned: readonly Row[] = [
  ...Array.from({ length: dead.length === 0 ? 0 : cells! }, (_, index) => dead[(index * 7 + seed!) % dead.length]!),
  ...Array.from({ length: troubled.length === 0 ? 0 : others! }, (_, index) => troubled[index % troubled.length]!),
]

const columns = ['answers', 'gaps', 'repeats', 'again', 'twice', 'zombie', 'slowest'] as const
const dir = await mkdtemp(join(tmpdir(), 'escapement-scale-'))
const database = hasPostgres ? await PostgresServer.start() : undefined
const engine = await Engine.start()
let wrong = 0
try {
  print(
    `${planned.length} cells of ${agents} agents on ${database === undefined ? 'SQLite' : 'PostgreSQL'}, seed ${seed}`,
  )
  print('blow'.padEnd(16) + 'place'.padEnd(10) + columns.map((name) => name.padStart(10)).join(''))
  for (const row of planned) {
    const result = await run(row)
    const isWrong = report(row, result)
    if (isWrong) wrong += 1
  }
  print(`${planned.length - wrong} of ${planned.length} cells came to the right end.`)
} finally {
  await engine.remove()
  await database?.remove()
  await rm(dir, { recursive: true, force: true })
  process.exitCode = wrong === 0 ? 0 : 1
}

function run({ blow, place }: Row): Promise<CellResult> {
  const where = { engine, dir, database }
  if (isGateway(blow)) return runGatewayCell({ agents: agents!, isFrozen: blow === 'freeze gateway' }, where)
  const last = lastMs[blow]
  const prompts = (troubles as readonly string[]).includes(blow) ? 4 : 2
  return runCell({ blow, place, agents: agents!, prompts, ...(last === undefined ? {} : { lastMs: last }) }, where)
}

/** Reports a row. Returns true if something was wrong. */
function report({ blow, place }: Row, result: CellResult): boolean {
  const { answers, wanted, faults, repeats, again, twice, zombie, slowestMs, note } = result
  const counts = [`${answers}/${wanted}`, faults.length, repeats, again, twice, zombie, `${Math.round(slowestMs)} ms`]
  const isWrong = answers !== wanted || faults.length + repeats + again + twice + zombie > 0
  const numbers = counts.map((count) => String(count).padStart(10)).join('')
  print(
    `${blow.padEnd(16)}${place.padEnd(10)}${numbers}${isWrong ? '  WRONG' : ''}${note === undefined ? '' : `  ${note}`}`,
  )
  for (const fault of faults.slice(0, 5)) print(`    ${fault}`)
  return isWrong
}
