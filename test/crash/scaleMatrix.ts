/**
 * The crash matrix of agents that an engine places, by hand: real processes, a real engine, and PostgreSQL where there is one, else SQLite.
 * Takes some minutes; exits with 1 when something was wrong.
 *
 *   node test/crash/scaleMatrix.ts [--cells 120] [--agents 20] [--seed 1] [--sqlite]
 *
 * Each cell is one of {kill a worker, freeze one and let it go on, kill the engine} at one of {in a reply, between a record and its effect, in a
 * tool, in a sub-agent's tool, in a drain, while an approval waits}; the seed decides their order.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findPostgres } from '../postgres/installPostgres.ts'
import { PostgresServer } from '../postgres/server.ts'
import { blows, runCell, type Cell } from '../restate/crash/cell.ts'
import { places } from '../restate/crash/job.ts'
import { Engine } from '../restate/engine.ts'

const { values } = parseArgs({
  options: {
    cells: { type: 'string', default: '120' },
    agents: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    sqlite: { type: 'boolean', default: false },
  },
})
const [cells, agents, seed] = [Number(values.cells), Number(values.agents), Number(values.seed)]
for (const value of [cells, agents, seed])
  if (!Number.isSafeInteger(value)) throw new Error('--cells, --agents and --seed take numbers')
const print = (line: string): void => void process.stdout.write(`${line}\n`)

const all: readonly Cell[] = blows.flatMap((blow) => places.map((place) => ({ blow, place, agents })))
/** The cells in another order for each seed, again and again until there are enough. */
const planned = Array.from({ length: cells }, (_, index) => all[(index * 7 + seed) % all.length]!)

const columns = ['answers', 'gaps', 'repeats', 'again', 'twice', 'zombie', 'slowest'] as const
const titles =
  ['blow', 'place'].map((title) => title.padEnd(14)).join('') + columns.map((name) => name.padStart(10)).join('')
const dir = await mkdtemp(join(tmpdir(), 'escapement-scale-'))
const server = values.sqlite || findPostgres() === undefined ? undefined : await PostgresServer.start()
const engine = await Engine.start()
let wrong = 0
try {
  print(`${cells} cells of ${agents} agents on ${server === undefined ? 'SQLite' : 'PostgreSQL'}, seed ${seed}`)
  print(titles)
  for (const cell of planned) {
    const postgres = server === undefined ? {} : { postgres: server.url(await server.newDatabase()) }
    const result = await runCell(cell, { engine, dir, ...postgres })
    const { answers, wanted, faults, repeats, again, twice, zombie, slowestMs } = result
    const counts = [`${answers}/${wanted}`, faults.length, repeats, again, twice, zombie, `${Math.round(slowestMs)} ms`]
    const isWrong = answers !== wanted || faults.length + repeats + again + twice + zombie > 0
    if (isWrong) wrong += 1
    print(
      cell.blow.padEnd(14) +
        cell.place.padEnd(14) +
        counts.map((count) => String(count).padStart(10)).join('') +
        (isWrong ? '  WRONG' : ''),
    )
    for (const fault of faults.slice(0, 5)) print(`    ${fault}`)
  }
  print(`${cells - wrong} of ${cells} cells came to the right end.`)
} finally {
  await engine.remove()
  await server?.remove()
  await rm(dir, { recursive: true, force: true })
  process.exitCode = wrong === 0 ? 0 : 1
}
