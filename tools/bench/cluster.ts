/**
 * Measures the cost of the engine against the same agents in one process, on the same PostgreSQL: CPU of the worker and of the engine per
 * turn, turns per second, and the time of one prompt alone. Rounds of both alternate; figures are medians. A prompt is two turns with two
 * tools.
 *
 *   node tools/bench/cluster.ts [--agents 1000] [--at-once 200] [--rounds 5] [--only warm|opened|alone] [--history 10000]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { postgresStore } from '../../src/postgres.ts'
import { restateClient, type RestateClient } from '../../src/restate.ts'
import { PostgresServer } from '../../packages/postgres/test/server.ts'
import { Engine } from '../../packages/cluster/test/restate/engine.ts'
import { format, median, now } from './measure.ts'
import { forAll, turnsOfPrompt } from './scale/benchAgent.ts'
import type { Answer, Order } from './scale/seat.ts'

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '1000' },
    'at-once': { type: 'string', default: '200' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    history: { type: 'string', default: '10000' },
  },
})
const agents = Number(values.agents)
const atOnce = Number(values['at-once'])
const rounds = Number(values.rounds)

const database = await PostgresServer.start('fsync = on\nfull_page_writes = on\nshared_buffers = 128MB\n')
const engine = await Engine.start()
const children: ChildProcess[] = []
try {
  const parts = { warm, opened, alone }
  for (const [name, part] of Object.entries(parts)) if (values.only === undefined || values.only === name) await part()
} finally {
  for (const child of children) child.kill('SIGKILL')
  await engine.remove()
  await database.remove()
}

/** A process of its own, with what it says. */
interface Seat {
  readonly url: string | undefined
  tell(order: Order): Promise<Answer>
}

async function seat(...args: readonly string[]): Promise<Seat> {
  const child = fork(new URL('scale/seat.ts', import.meta.url), args)
  children.push(child)
  const ended = once(child, 'exit').then(([code]): never => {
    throw new Error(`a process of the bench ended with ${code}`)
  })
  ended.catch(() => {})
  const heard = (): Promise<Answer> =>
    Promise.race([ended, new Promise<Answer>((resolve) => child.once('message', (answer: Answer) => resolve(answer)))])
  const { url } = await heard()
  return {
    url,
    tell(order) {
      const answer = heard()
      child.send(order)
      return answer
    },
  }
}

interface Setting {
  readonly embedded: Seat
  readonly worker: Seat
  readonly client: RestateClient
  readonly url: string
}

/** Both on one database, each with its own tables. */
async function setting(kept: number): Promise<Setting> {
  const url = database.url(await database.newDatabase())
  const embedded = await seat('embedded', url, 'embedded')
  const worker = await seat('worker', url, 'worked', String(kept))
  await engine.register(worker.url!)
  const client = await restateClient({ ingress: engine.ingress, store: postgresStore(url, { schema: 'worked' }) })
  return { embedded, worker, client, url }
}

function idsOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
}

async function ask(client: RestateClient, agentId: string): Promise<void> {
  const { status, stopReason } = await client.request({ type: 'agent.prompt', agentId, content: 'go' })
  if (status !== 'done' || stopReason !== 'stop') throw new Error(`${agentId}: ${status}, ${stopReason}`)
}

/** CPU of the engine's processes so far, in microseconds. */
async function engineCpuUs(): Promise<number> {
  const stat = await readFile(`/proc/${await engine.pid()}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // Ticks of a hundredth of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

interface Round {
  readonly cpuMsATurn: number
  readonly engineMsATurn: number
  readonly turnsASecond: number
}

async function byEmbedded({ embedded }: Setting, ids: readonly string[], many: number): Promise<Round> {
  const before = (await embedded.tell({ type: 'usage' })).cpuUs
  const begun = now()
  const { cpuUs } = await embedded.tell({ type: 'prompt', ids, atOnce: many })
  return roundOf(ids.length, cpuUs - before, 0, now() - begun)
}

async function byWorker({ worker, client }: Setting, ids: readonly string[], many: number): Promise<Round> {
  const before = (await worker.tell({ type: 'usage' })).cpuUs
  const engineBefore = await engineCpuUs()
  const begun = now()
  await forAll(ids, many, (id) => ask(client, id))
  const took = now() - begun
  const { cpuUs } = await worker.tell({ type: 'usage' })
  return roundOf(ids.length, cpuUs - before, (await engineCpuUs()) - engineBefore, took)
}

function roundOf(prompts: number, cpuUs: number, engineUs: number, ms: number): Round {
  const turns = prompts * turnsOfPrompt
  return {
    cpuMsATurn: cpuUs / 1_000 / turns,
    engineMsATurn: engineUs / 1_000 / turns,
    turnsASecond: (turns * 1_000) / ms,
  }
}

function print(title: string, ours: readonly Round[], floor: readonly Round[]): void {
  const of = (rows: readonly Round[], key: keyof Round): number => median(rows.map((row) => row[key]))
  const over = median(ours.map(({ cpuMsATurn }, index) => cpuMsATurn - floor[index]!.cpuMsATurn))
  console.log(
    `${title}: worker ${format(of(ours, 'cpuMsATurn'), 2)} CPU-ms a turn, embedded ${format(of(floor, 'cpuMsATurn'), 2)}, over it ${format(over, 2)}; ` +
      `engine ${format(of(ours, 'engineMsATurn'), 2)}; ${format(of(ours, 'turnsASecond'), 0)} turns/s, embedded ${format(of(floor, 'turnsASecond'), 0)}`,
  )
}

/** Agents that stay in memory. */
async function warm(): Promise<void> {
  const here = await setting(agents * 2)
  const ids = idsOf('warm', agents)
  const ours: Round[] = []
  const floor: Round[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const one = await byEmbedded(here, ids, atOnce)
    const other = await byWorker(here, ids, atOnce)
    if (round > 0) {
      floor.push(one)
      ours.push(other)
    }
  }
  print(`${agents} agents, kept warm, ${atOnce} prompts at once`, ours, floor)
  here.client.close()
}

/** Agents with a long log, opened for every prompt. */
async function opened(): Promise<void> {
  const here = await setting(0)
  const ids = idsOf('opened', 10)
  const store = postgresStore(here.url, { schema: 'worked' })
  const ours: Round[] = []
  const floor: Round[] = []
  const wanted = Number(values.history)
  for (const id of ids) {
    for (let length = 0; length < wanted;) {
      await byWorker(here, [id], 1)
      await byEmbedded(here, [id], 1)
      for await (const _ of store.read(id, length + 1)) length += 1
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    floor.push(await byEmbedded(here, ids, 5))
    ours.push(await byWorker(here, ids, 5))
  }
  print(`agents with ${wanted} records, opened for each prompt`, ours, floor)
  await store.close()
  here.client.close()
}

/** One prompt at a time to one agent. */
async function alone(): Promise<void> {
  const here = await setting(agents)
  for (let warmUp = 0; warmUp < 50; warmUp += 1) await ask(here.client, 'alone')
  const took: number[] = []
  for (let prompt = 0; prompt < 300; prompt += 1) {
    const begun = now()
    await ask(here.client, 'alone')
    took.push(now() - begun)
  }
  const sorted = took.toSorted((a, b) => a - b)
  console.log(
    `a prompt alone: p50 ${format(median(took))} ms, p99 ${format(sorted[Math.floor(sorted.length * 0.99)]!)} ms`,
  )
  here.client.close()
}
