import type { Costs, Load, Topology } from './costs.ts'
import { System } from './system.ts'

/** How much of one thing is in use. */
export interface Use {
  readonly name: string
  /** From 0 to 1, or more where it is a count that is not enough. */
  readonly used: number
  /** Remedy if it is not enough, in words, and as a function that returns the new topology. */
  readonly remedy: string
  readonly relieve: (topology: Topology) => Topology
}

/** A run of the simulation. */
export interface Outcome {
  readonly uses: readonly Use[]
  /** Milliseconds that the platform added to an answer. */
  readonly p50: number
  readonly p99: number
  readonly answersPerSecond: number
  /** Which part of the prompts found their agent in memory. */
  readonly warm: number
  /** Simulated records in a second. */
  readonly recordsPerSecond: number
}

/** Up to this many cores one database grows; then there is another one. */
const mostDatabaseCores = 32

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

/** Simulates so many seconds of a load; the first quarter of them, in which agents are opened that were warm before, is left out of the answers. */
export function simulate(topology: Topology, load: Load, costs: Costs, seconds: number, seed = 1): Outcome {
  const system = new System(topology, load, costs, seed)
  const end = seconds * 1_000
  system.run(end)
  const added = system.answers
    .filter(({ at }) => at > end / 4)
    .map(({ addedMs }) => addedMs)
    .toSorted((a, b) => a - b)
  const records = system.databases.reduce((sum, database) => sum + database.records, 0)
  return {
    uses: usesOf(system, topology, costs, end),
    p50: percentile(added, 0.5),
    p99: percentile(added, 0.99),
    answersPerSecond: system.answers.length / seconds,
    warm: system.hits / Math.max(1, system.hits + system.opened),
    recordsPerSecond: records / seconds,
  }
}

function usesOf(system: System, topology: Topology, costs: Costs, end: number): Use[] {
  const busiest = (ms: readonly number[], servers = 1): number => Math.max(...ms) / (end * servers)
  const total = (ms: readonly number[]): number => ms.reduce((sum, one) => sum + one, 0) / (end * ms.length)
  const { databases, workers, partitions } = system
  return [
    {
      name: 'worker processes',
      used: total(workers.map(({ core }) => core.busyMs)),
      remedy: 'more workers',
      relieve: (now) => ({ ...now, workers: now.workers * 2 }),
    },
    {
      name: 'connections of a database',
      used: (topology.workers * topology.connectionsPerWorker) / topology.maxConnections,
      remedy: 'fewer connections a worker (2 are enough), then a pooler in transaction mode, which shares them',
      relieve: (now) =>
        now.connectionsPerWorker > 2
          ? { ...now, connectionsPerWorker: 2 }
          : { ...now, maxConnections: now.maxConnections * 4 },
    },
    {
      name: 'cores of a database',
      used: busiest(
        databases.map(({ cores }) => cores.busyMs),
        topology.databaseCores,
      ),
      remedy: `more cores; past ${mostDatabaseCores} another database, with the logs spread by agent id`,
      relieve: (now) =>
        now.databaseCores < mostDatabaseCores
          ? { ...now, databaseCores: now.databaseCores * 2 }
          : { ...now, databases: now.databases * 2 },
    },
    {
      name: 'flushes of the WAL',
      // Flushes are shared, so that one which is always busy is not yet a limit: what is written is.
      used:
        (busiest(databases.map(({ records }) => records * costs.database.walBytes)) * 1_000) /
        (topology.walMbPerSecond * 1e6),
      remedy: 'a faster disk for the WAL; then another database',
      relieve: (now) =>
        now.walMbPerSecond < 800
          ? { ...now, walMbPerSecond: now.walMbPerSecond * 2 }
          : { ...now, databases: now.databases * 2 },
    },
    {
      name: 'partitions of the engine',
      used: busiest(partitions.map(({ busyMs }) => busyMs)),
      remedy: 'more partitions: they are chosen when the engine is set up, so begin with 24 or more',
      relieve: (now) => ({ ...now, partitions: now.partitions * 2 }),
    },
    {
      name: 'cores of the engine',
      used: system.engineCores.busyMs / (end * topology.engineCores),
      remedy: 'more cores, then more nodes of the engine',
      relieve: (now) => ({ ...now, engineCores: now.engineCores * 2 }),
    },
    {
      name: 'invocations at once',
      used: system.gate.waited > 0 ? 1 : system.gate.most / topology.invocations,
      remedy: 'a higher limit of concurrent invocations: a prompt that waits for its model holds one',
      relieve: (now) => ({ ...now, invocations: now.invocations * 4 }),
    },
    {
      name: 'gateways',
      used: system.gateways.busyMs / (end * topology.gateways),
      remedy: 'more gateways: they share nothing',
      relieve: (now) => ({ ...now, gateways: now.gateways * 2 }),
    },
  ]
}

/** A limit that was met on the way up, and what was done. */
export interface Rung {
  readonly promptsPerSecond: number
  readonly limit: Use
  readonly outcome: Outcome
  /** With what the load was borne. */
  readonly topology: Topology
}

/** Share that may be in use before more is needed: the rest is for the hour in which a machine is missing. */
const mostUsed = 0.7

/**
 * Raises the load step by step up to `most` prompts a second; whenever something is used up, does what helps. Returns each limit that was
 * met, in order, and the topology that bears the highest load.
 */
export function climb(
  from: Topology,
  load: Load,
  costs: Costs,
  { most, seconds }: { readonly most: number; readonly seconds: number },
): { readonly rungs: readonly Rung[]; readonly topology: Topology; readonly outcome: Outcome } {
  const rungs: Rung[] = []
  let topology = from
  for (let promptsPerSecond = load.promptsPerSecond; ; promptsPerSecond = Math.min(most, promptsPerSecond * 2)) {
    for (;;) {
      const outcome = simulate(topology, { ...load, promptsPerSecond }, costs, seconds)
      const limit = outcome.uses.toSorted((a, b) => b.used - a.used)[0]!
      if (limit.used <= mostUsed) {
        if (promptsPerSecond >= most) return { rungs, topology, outcome }
        break
      }
      rungs.push({ promptsPerSecond, limit, outcome, topology })
      topology = limit.relieve(topology)
    }
  }
}
