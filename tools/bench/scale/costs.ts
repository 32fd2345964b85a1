/**
 * Costs of the parts. Measured with PostgreSQL 15, Restate 1.7 and Node 24 on two shared cores, unless it says "assumed". CPU times are in
 * milliseconds of one core.
 */
export interface DatabaseCosts {
  /** Network there and back, with the work of the driver's socket. */
  readonly roundTripMs: number
  /** One statement that appends. */
  readonly statementMs: number
  /** Each of its records. */
  readonly recordMs: number
  /** One flush of the WAL. */
  readonly flushMs: number
  /** Bytes of WAL for a record of 450 bytes, with its share of the agent's row. */
  readonly walBytes: number
  /** Bytes that it takes on disk, with its index. */
  readonly storedBytes: number
}

export interface Costs {
  readonly database: DatabaseCosts
  readonly worker: {
    /** A turn of an agent that is in memory, driven by the engine, with its appends. */
    readonly turnMs: number
    /** Opening an agent from its checkpoint. */
    readonly openMs: number
    /** Memory of an agent that is kept warm, in kB (assumed: a conversation of 100 records). */
    readonly warmKb: number
  }
  readonly engine: {
    /** One invocation: of it, what only its partition can do one after the other (assumed: half), and the rest. */
    readonly partitionMs: number
    readonly otherMs: number
  }
  /** One event through a gateway to one client (assumed: as a frame through a bridge). */
  readonly gatewayEventMs: number
}

export const measuredCosts: Costs = {
  database: { roundTripMs: 0.15, statementMs: 0.3, recordMs: 0.02, flushMs: 0.27, walBytes: 800, storedBytes: 650 },
  worker: { turnMs: 1.25, openMs: 4, warmKb: 100 },
  engine: { partitionMs: 0.7, otherMs: 0.7 },
  gatewayEventMs: 0.02,
}

/** Installed parts of the system. */
export interface Topology {
  /** Processes of one core each. */
  readonly workers: number
  /** Memory of a worker for agents that are kept warm, in MB. */
  readonly warmMb: number
  readonly connectionsPerWorker: number
  /** Logs are spread over them by agent id. */
  readonly databases: number
  /** Cores of each database. */
  readonly databaseCores: number
  /** Write rate of each database's disk, in MB per second. */
  readonly walMbPerSecond: number
  /** Connections that each database allows. */
  readonly maxConnections: number
  readonly partitions: number
  readonly engineCores: number
  /** `RESTATE_WORKER__INVOKER__CONCURRENT_INVOCATIONS_LIMIT`: prompts that are being answered count, as the engine holds them. */
  readonly invocations: number
  /** Processes of one core each. */
  readonly gateways: number
}

/** Load on the system. A person prompts an agent several times with time to think between, and comes back another day. */
export interface Load {
  readonly agents: number
  readonly promptsPerSecond: number
  readonly promptsPerSitting: number
  readonly thinkMs: number
  readonly turns: number
  readonly recordsPerTurn: number
  /** How often a turn waits for the store: before effects, and at its end. */
  readonly appendsPerTurn: number
  /** Median of a model's reply; replies are spread log-normally. */
  readonly modelMs: number
  readonly toolMs: number
  readonly deltasPerTurn: number
  /** Which part of the prompts somebody watches through a gateway. */
  readonly watched: number
}

export const everydayLoad: Load = {
  agents: 1_000_000,
  promptsPerSecond: 100,
  promptsPerSitting: 8,
  thinkMs: 45_000,
  turns: 2,
  recordsPerTurn: 6.5,
  appendsPerTurn: 3,
  modelMs: 3_000,
  toolMs: 500,
  deltasPerTurn: 80,
  watched: 0.5,
}

/** One machine with two cores for everything, as the costs were measured on. */
export const smallTopology: Topology = {
  workers: 1,
  warmMb: 1_000,
  connectionsPerWorker: 4,
  databases: 1,
  databaseCores: 1,
  walMbPerSecond: 100,
  maxConnections: 100,
  partitions: 4,
  engineCores: 1,
  invocations: 1_000,
  gateways: 1,
}
