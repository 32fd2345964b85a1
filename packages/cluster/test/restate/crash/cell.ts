import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Balancer } from '../../../../cli/src/cluster/balancer.ts'
import { systemClock } from '../../../../../src/protocol/ports/clock.ts'
import { postgresStore } from '../../../../../src/postgres.ts'
import type { Store } from '../../../../../src/protocol/ports/store.ts'
import { restateClient, type RestateOutcome } from '../../../../../src/restate.ts'
import { sqliteStore } from '../../../../../src/sqlite.ts'
import type { PostgresServer } from '../../../../postgres/test/server.ts'
import type { Engine } from '../engine.ts'
import { blowOf, type BlowName, type Lab } from './blows.ts'
import { judge, logsOf, type CellResult } from './cellResult.ts'
import { seemingDisk, SmallDisk, type Disk } from './disk.ts'
import { drive } from './drive.ts'
import type { Place } from './job.ts'
import { Relay } from './relay.ts'
import { Switchboard } from './switchboard.ts'
import { WorkerProcess } from './workerProcess.ts'

/** Agents come to a place, something goes wrong, and all is gone on with. */
export interface Cell {
  readonly blow: BlowName
  readonly place: Place
  readonly agents: number
  /** How many each agent is given, one after another. Default and at least 2. */
  readonly prompts?: number
  /** How long what is wrong lasts, in milliseconds. Default: until somebody has met it. */
  readonly lastMs?: number
  /** How long workers try to write, in milliseconds. Default: as the store has it. */
  readonly retryMs?: number
  /** How long the leases of workers last, in milliseconds. Default: as the store has it. */
  readonly leaseMs?: number
}

export interface CellPlace {
  readonly engine: Engine
  readonly dir: string
  /** Default: a file of SQLite in the folder. */
  readonly database?: PostgresServer | undefined
}

/** Where the logs of a cell are. */
interface Logs {
  readonly where: string
  /** By the way that may fail. */
  readonly byRelay: string
  readonly relay: Relay | undefined
  readonly disk: Disk | undefined
  remove(): Promise<void>
}

async function logsFor(needs: string | undefined, file: string, database: PostgresServer | undefined): Promise<Logs> {
  if (database === undefined) {
    if (needs !== undefined) throw new Error('this needs PostgreSQL')
    return { where: file, byRelay: file, relay: undefined, disk: undefined, remove: async () => {} }
  }
  const small = needs === 'disk' ? await SmallDisk.mount(database) : undefined
  const name = await (small ?? database).newDatabase()
  const where = database.url(name)
  const relay = needs === 'relay' ? await Relay.open(database.socket) : undefined
  return {
    where,
    byRelay: relay === undefined ? where : `postgres://postgres@127.0.0.1:${relay.port}/${name}`,
    relay,
    disk: small ?? seemingDisk(database, name),
    async remove() {
      await relay?.close()
      await small?.remove(name)
    },
  }
}

/** Runs a cell. */
export async function runCell(
  { blow, place, agents, prompts = 2, lastMs = 0, retryMs, leaseMs }: Cell,
  { engine, dir, database }: CellPlace,
): Promise<CellResult> {
  const { front, needs, isOther, strike } = blowOf(blow)
  const name = `job_${randomUUID().replaceAll('-', '')}`
  const effectsFile = join(dir, `${name}.effects`)
  const { where, byRelay, relay, disk, remove } = await logsFor(needs, join(dir, `${name}.db`), database)
  const store = storeAt(where)
  const board = await Switchboard.open()
  const balancer = await Balancer.listen(systemClock)
  const armed = place === 'approval' ? undefined : place
  const settings = { name, effectsFile, retryMs, leaseMs }
  const first = WorkerProcess.worker({ ...settings, where: byRelay, armed })
  const second = WorkerProcess.worker({ ...settings, where, ...(isOther === true ? { code: 'other' } : {}) })
  const others: WorkerProcess[] = []
  const client = await restateClient({ ingress: engine.ingress, store, name, pollMs: 50, patienceMs: 120_000 })
  const ids = Array.from({ length: agents }, (_, index) => `${name.slice(4, 12)}-${index}`)
  try {
    board.switchTo(await first.port())
    balancer.add(await first.url())
    // It is ready before it is needed.
    await second.port()
    await register(engine, front === 'balancer' ? balancer.url : board.url)
    const began = performance.now()
    const driven = ids.map((agentId) => drive(client, agentId, place, prompts))
    if (armed === undefined) await Promise.all(driven.map((job) => job.waits))
    else await first.at(driven)
    const decide = (): void => {
      for (const job of driven) job.decide()
    }
    const lab: Lab = {
      engine,
      first,
      second,
      board,
      balancer,
      lastMs,
      database: database!,
      relay: relay!,
      disk: disk!,
      another() {
        const other = WorkerProcess.worker({ ...settings, where })
        others.push(other)
        return other
      },
      goOn() {
        first.goOn()
        decide()
      },
    }
    const lastAnswer = Promise.all(driven.map((job) => job.answers)).then((all) => ({
      answers: all.flat(),
      slowestMs: performance.now() - began,
    }))
    // It is awaited below, unless the blow fails.
    lastAnswer.catch(() => {})
    const aftermath = await strike(lab)
    decide()
    const { answers, slowestMs } = await lastAnswer
    const before = await logsOf(store, ids)
    await aftermath?.()
    const seen = await judge({ store, ids, prompts, effectsFile }, before)
    const older = database === undefined ? 0 : await olderEpochs(database, where)
    return {
      ...seen,
      zombie: seen.zombie + older,
      wanted: prompts * agents,
      answers: answers.filter((answer, index) => isAnswer(answer, place === 'approval' && index % prompts === 0))
        .length,
      slowestMs,
      ...(needs === 'disk' && !(disk instanceof SmallDisk) ? { note: 'errors of a full disk, and not one' } : {}),
    }
  } finally {
    client.close()
    await Promise.all([first, second, ...others].map((worker) => worker.kill()))
    await Promise.all([board.close(), balancer.close()])
    await store.close()
    await remove()
  }
}

/** A prompt's answer says how its run ended, whoever brought it to its end; what was decided says only that it is done. */
const isAnswer = ({ status, stopReason }: RestateOutcome, isDecided: boolean): boolean =>
  status === 'done' && (isDecided || stopReason === 'stop')

export const storeAt = (where: string): Store =>
  where.startsWith('postgres:') ? postgresStore(where) : sqliteStore(where)

/** The engine asks the worker what it has, which a balancer must know by then. */
export async function register(engine: Engine, url: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await engine.register(url)
    } catch (thrown) {
      if (attempt === 100) throw thrown
      await pause(50)
    }
}

/** Records that were written by somebody after another one had taken their log. */
async function olderEpochs(database: PostgresServer, where: string): Promise<number> {
  const [row] = await database.query(
    new URL(where.replace('@/', '@localhost/')).pathname.slice(1),
    `SELECT count(*)::int AS older FROM (
      SELECT epoch < lag(epoch) OVER (PARTITION BY agent ORDER BY seq) AS is_older FROM escapement.records
    ) AS r WHERE is_older`,
  )
  return Number(row!['older'])
}
