import type { Place } from './job.ts'

/** Settings of a worker in the crash cells. */
export interface WorkerSettings {
  /** The logs: a URL of PostgreSQL, or a file of SQLite. */
  readonly where: string
  /** Name of the virtual object. */
  readonly name: string
  /** Where effects are noted. */
  readonly effectsFile: string
  /** Where its agents wait. */
  readonly armed?: Place | undefined
  /** Set if its definition, of the same name, says other things. */
  readonly code?: 'other' | undefined
  /** How long it tries to write, in milliseconds. Default: as the store has it. */
  readonly retryMs?: number | undefined
  /** How long its leases last, in milliseconds. Default: as the store has it. */
  readonly leaseMs?: number | undefined
  /** Where the engine takes what clients of gateways command; without it no gateway reaches the worker. */
  readonly ingress?: string | undefined
}

/** Secret of workers and gateways. */
export const secret = 'a secret of workers and gateways, long enough'
