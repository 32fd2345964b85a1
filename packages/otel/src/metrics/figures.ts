import type { StoreFigures } from '../../../../src/protocol/ports/store.ts'

/** Current figures of a worker. */
export interface WorkerFigures {
  /** Agents by state of their machines, such as `idle` and `replying`. */
  readonly agents: { readonly [state: string]: number }
  /** Agents in memory. */
  readonly loaded: number
  /** Attempts of the engine under way. */
  readonly attempts: number
  /** Runs that wait because of their tenants' limits. */
  readonly queue: number
  /** Number of attempts that found their agent in memory, and of those that read it from its log. */
  readonly openings: { readonly warm: number; readonly read: number }
  readonly store: StoreFigures
}

/** Current figures of a gateway. */
export interface GatewayFigures {
  readonly clients: number
  /** Number of lookups of an agent's owner. */
  readonly looks: number
  /** Number of refusals by kind: `token`, `full`, `tenant`, `worker` and so on. */
  readonly refusals: { readonly [kind: string]: number }
  /** Commands that no worker has answered yet. */
  readonly commands: number
}
