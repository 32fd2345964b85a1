import type { StoreFigures } from '../../../../src/protocol/ports/store.ts'

/** Figures of a worker, at this moment. */
export interface WorkerFigures {
  /** Agents by state of their machines, such as `idle` and `replying`. */
  readonly agents: { readonly [state: string]: number }
  /** Agents in memory. */
  readonly loaded: number
  /** Attempts of the engine under way. */
  readonly attempts: number
  /** Runs that wait for the limits of their tenants. */
  readonly queue: number
  /** How often an attempt found its agent in memory, and how often it was read from its log. */
  readonly openings: { readonly warm: number; readonly read: number }
  readonly store: StoreFigures
}

/** Figures of a gateway, at this moment. */
export interface GatewayFigures {
  readonly clients: number
  /** How often it looked for who has an agent. */
  readonly looks: number
  /** How often it refused something, by kind: `token`, `full`, `tenant`, `worker` and so on. */
  readonly refusals: { readonly [kind: string]: number }
  /** Commands that no worker has answered yet. */
  readonly commands: number
}
