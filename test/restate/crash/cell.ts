import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { postgresStore } from '../../../src/postgres.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/store.ts'
import { restateClient, type RestateClient, type RestateOutcome } from '../../../src/restate.ts'
import { sqliteStore } from '../../../src/sqlite.ts'
import { checkLog } from '../../support/journeyRules.ts'
import type { Engine } from '../engine.ts'
import { recordsIn } from '../recordsIn.ts'
import type { Effect, Place } from './job.ts'
import { Switchboard } from './switchboard.ts'
import { WorkerProcess } from './workerProcess.ts'

/** What is done to whom. */
export const blows = ['kill worker', 'freeze worker', 'kill engine'] as const
export type Blow = (typeof blows)[number]

export interface Cell {
  readonly blow: Blow
  readonly place: Place
  readonly agents: number
}

/** What came of a cell; the numbers below `answers` are to be 0. */
export interface CellResult {
  readonly wanted: number
  readonly answers: number
  /** Logs that are not whole, in words. */
  readonly faults: readonly string[]
  /** Prompts that were recorded other than once. */
  readonly repeats: number
  /** Effects that happened again although their end was in the log. */
  readonly again: number
  /** Irreversible effects that happened twice. */
  readonly twice: number
  /** Records that a frozen worker has added once it went on. */
  readonly zombie: number
  readonly slowestMs: number
}

export interface CellPlace {
  readonly engine: Engine
  readonly dir: string
  /** The URL of a PostgreSQL database; default: a file of SQLite in the folder. */
  readonly postgres?: string
}

/** Long enough that a summary is shorter. */
const padding = `\n${'It is a long story. '.repeat(200)}`

const lists: Readonly<Record<Place, readonly string[]>> = {
  reply: ['look,pay', ''],
  record: ['look,pay', 'look'],
  tool: ['look,pay', 'look'],
  child: ['pay,helper,look', 'look'],
  drain: ['look', 'look,pay'],
  approval: ['look,publish,pay', 'look'],
}

/** Runs a cell: some agents come to a place, something dies there, and all is gone on with. */
export async function runCell(
  { blow, place, agents }: Cell,
  { engine, dir, postgres }: CellPlace,
): Promise<CellResult> {
  const name = `job_${randomUUID().replaceAll('-', '')}`
  const effectsFile = join(dir, `${name}.effects`)
  const where = postgres ?? join(dir, `${name}.db`)
  const store: Store = postgres === undefined ? sqliteStore(where) : postgresStore(where)
  const board = await Switchboard.open()
  const armed = place === 'approval' ? undefined : place
  const workers = [
    new WorkerProcess(where, name, effectsFile, armed),
    new WorkerProcess(where, name, effectsFile),
  ] as const
  const client = await restateClient({ ingress: engine.ingress, store, name, pollMs: 50 })
  const ids = Array.from({ length: agents }, (_, index) => `${name.slice(4, 12)}-${index}`)
  try {
    const [first, second] = workers
    const ports = [await first.port(), await second.port()] as const
    board.switchTo(ports[0])
    await engine.register(board.url)
    const began = performance.now()
    const [list = '', next = ''] = lists[place]
    const asked = ids.map((agentId) => drive(client, agentId, place, [list, next]))
    if (place === 'approval') await Promise.all(asked.map((job) => job.waits))
    else await first.at(agents)
    if (blow === 'kill engine') {
      await engine.kill()
      await engine.begin()
      // What was held there is let go of, and would be held again.
      board.switchTo(ports[1])
    } else {
      if (blow === 'kill worker') await first.kill()
      else first.signal('SIGSTOP')
      board.switchTo(ports[1])
    }
    for (const job of asked) job.decide()
    const answers = await Promise.all(asked.map((job) => job.answers))
    const slowestMs = performance.now() - began
    const before = await logsOf(store, ids)
    if (blow === 'freeze worker') {
      first.signal('SIGCONT')
      await first.rests()
    }
    const logs = await logsOf(store, ids)
    const effects = readEffects(effectsFile)
    return {
      wanted: 2 * agents,
      answers: answers.flat().filter((outcome) => outcome.status === 'done').length,
      slowestMs,
      zombie: sum(logs, (records, index) => records.length - before[index]!.length),
      faults: logs.flatMap((records, index) => faultsIn(ids[index]!, records)),
      repeats: sum(logs, repeatsIn),
      again: sum(logs, (records) => againIn(records, effects)),
      twice: twiceIn(effects),
    }
  } finally {
    client.close()
    await Promise.all(workers.map((worker) => worker.kill()))
    await board.close()
    await store.close()
  }
}

interface Job {
  /** Resolves once a call waits for a person. */
  readonly waits: Promise<unknown>
  decide(): void
  readonly answers: Promise<readonly RestateOutcome[]>
}

/** Gives an agent its two prompts, with what lies between them. */
function drive(client: RestateClient, agentId: string, place: Place, [list, next]: readonly [string, string]): Job {
  const prompt = (requestId: string, content: string): Promise<RestateOutcome> =>
    client.request(
      { type: 'agent.prompt', agentId, content: `${content}${padding}` },
      { requestId: `${agentId}-${requestId}` },
    )
  const first = prompt('p1', list)
  const decided = Promise.withResolvers<void>()
  const answers = async (): Promise<readonly RestateOutcome[]> => {
    let one = await first
    if (place === 'approval') {
      await decided.promise
      const callId = one.callIds?.[0] ?? ''
      const command = { type: 'agent.decide', agentId, callId, decision: 'approve' } as const
      one = await client.request(command, { requestId: `${agentId}-d1` })
    }
    if (place === 'drain') await client.request({ type: 'agent.compact', agentId }, { requestId: `${agentId}-c1` })
    return [one, await prompt('p2', next)]
  }
  return { waits: first, decide: decided.resolve, answers: answers() }
}

async function logsOf(store: Store, ids: readonly string[]): Promise<LogRecord[][]> {
  return await Promise.all(ids.map((id) => recordsIn(store, id)))
}

const sum = <T>(all: readonly T[], of: (one: T, index: number) => number): number =>
  all.reduce((total, one, index) => total + of(one, index), 0)

function faultsIn(agentId: string, records: readonly LogRecord[]): string[] {
  const gaps = records.flatMap(({ seq }, index) => (seq === index + 1 ? [] : [`record ${index + 1} is ${seq}`]))
  return [...gaps, ...checkLog(records, { isWhole: true })].map((fault) => `${agentId}: ${fault}`)
}

/** Two prompts were said. */
const repeatsIn = (records: readonly LogRecord[]): number =>
  Math.abs(records.filter((record) => record.type === 'message.added' && record.message.role === 'user').length - 2)

/** Effects that began after the end of their call was in the log. */
function againIn(records: readonly LogRecord[], effects: readonly Effect[]): number {
  const ends = new Map(
    records.flatMap((record) => (record.type === 'tool.end' ? [[record.key, record.time] as const] : [])),
  )
  return effects.filter(({ key, at }) => at > (ends.get(key) ?? Infinity)).length
}

const irreversible = new Set(['pay', 'publish'])

function twiceIn(effects: readonly Effect[]): number {
  const keys = effects.filter(({ tool }) => irreversible.has(tool)).map(({ key }) => key)
  return keys.length - new Set(keys).size
}

function readEffects(file: string): Effect[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Effect)
}
