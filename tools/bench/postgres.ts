/**
 * `postgresStore` beside the other stores: records per second, how long an append takes and what it costs this process, with one agent and
 * with many that append at the same time, two records of about 450 bytes a call. The stores take turns, and figures are medians of the rounds.
 *
 *   node tools/bench/postgres.ts [--url postgres://…] [--agents 1,100,1000] [--appends 4000] [--rounds 3]
 *
 * Without a URL it starts a server of its own, which does not sync; where there is none, it says so and ends.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fileStore, type LogRecord, type Store } from '../../src/index.ts'
import { postgresStore } from '../../src/postgres.ts'
import { sqliteStore } from '../../src/sqlite.ts'
import { findPostgres, howToInstall } from '../../packages/postgres/test/installPostgres.ts'
import { PostgresServer } from '../../packages/postgres/test/server.ts'
import { format, median, now } from './measure.ts'

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    agents: { type: 'string', default: '1,100,1000' },
    appends: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '3' },
  },
})

const text = 'What was found in the file, in some words of no particular meaning. '.repeat(4)

const recordAt = (seq: number): LogRecord => ({
  v: 3,
  seq,
  time: 1_700_000_000_000 + seq,
  runId: 'bench/r1',
  turnIndex: 0,
  type: 'message.added',
  nodeId: seq,
  parentId: seq === 1 ? null : seq - 1,
  message: { role: 'user', source: 'prompt', content: [{ type: 'text', text }] },
})

interface Figures {
  readonly perSecond: number
  /** Milliseconds of one append. */
  readonly p50: number
  readonly p99: number
  /** Microseconds of this process for one record. */
  readonly cpu: number
}

/** Lets so many agents append at the same time, each one call after the other. */
async function measure(store: Store, agents: number, appends: number, round: string): Promise<Figures> {
  const ids = Array.from({ length: agents }, (_, index) => `${round}-${agents}-${index}`)
  await Promise.all(ids.map((id) => store.open(id)))
  const calls = Math.max(1, Math.floor(appends / agents))
  const took: number[] = []
  const cpu = process.cpuUsage()
  const start = now()
  await Promise.all(
    ids.map(async (id) => {
      for (let call = 0; call < calls; call += 1) {
        const at = now()
        await store.append(id, [recordAt(2 * call + 1), recordAt(2 * call + 2)])
        took.push(now() - at)
      }
    }),
  )
  const ms = now() - start
  const { user, system } = process.cpuUsage(cpu)
  const records = 2 * took.length
  const sorted = took.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))]!
  return { perSecond: records / (ms / 1_000), p50: at(0.5), p99: at(0.99), cpu: (user + system) / records }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

async function compare(url: string): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-bench-'))
  const stores: readonly (readonly [name: string, store: Store])[] = [
    ['postgres', postgresStore(url)],
    ['file, os', fileStore(join(dir, 'os'))],
    ['file, batch', fileStore(join(dir, 'batch'), { durability: 'batch' })],
    ['sqlite, os', sqliteStore(join(dir, 'os.db'))],
    ['sqlite, batch', sqliteStore(join(dir, 'batch.db'), { durability: 'batch' })],
  ]
  const columns = ['records/s', 'p50 ms', 'p99 ms', 'CPU µs a record']
  for (const agents of values.agents.split(',').map(Number)) {
    print(`${`${agents} agents`.padEnd(16)}${columns.map((column) => column.padStart(16)).join('')}`)
    const figures = new Map<string, Figures[]>()
    for (let round = 0; round < Number(values.rounds); round += 1)
      for (const [name, store] of stores) {
        const one = await measure(store, agents, Number(values.appends), `r${process.pid}-${round}`)
        figures.set(name, [...(figures.get(name) ?? []), one])
      }
    for (const [name, rounds] of figures) {
      const of = (key: keyof Figures, digits: number): string =>
        format(median(rounds.map((one) => one[key])), digits).padStart(16)
      print(`${name.padEnd(16)}${of('perSecond', 0)}${of('p50', 2)}${of('p99', 2)}${of('cpu', 1)}`)
    }
  }
  for (const [, store] of stores) await store.close()
  await rm(dir, { recursive: true })
}

if (values.url !== undefined) await compare(values.url)
else if (findPostgres() === undefined) print(`There is no PostgreSQL: ${howToInstall}, or name one by --url.`)
else {
  const server = await PostgresServer.start()
  await compare(server.url(await server.newDatabase()))
  await server.remove()
}
