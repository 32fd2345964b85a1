import type { Usage } from '../../../src/protocol/messages.ts'

/** Key by which spending is grouped. `user` is `{ metadata: 'user' }`. */
export type SpendBy = 'session' | 'user' | 'model' | 'definition' | { readonly metadata: string }

/** Amount of model usage and its cost. */
export interface SpendAmount {
  /** Requests that were answered, at least in part, or failed after they had used tokens. */
  readonly requests: number
  readonly usage: Usage
  /** Cost in US dollars, without usage that has no known price. */
  readonly costUsd: number
  /** The part of the usage without a known price, in requests and tokens. */
  readonly unpriced: { readonly requests: number; readonly usage: Usage }
}

/** Spending of one session, user, model, definition or metadata value. */
export interface SpendGroup extends SpendAmount {
  /** Id of the session's root agent, id of the model, name of the definition, or value as text; `null` for spending without such a value. */
  readonly key: string | null
  /** Number of agents that spent something. */
  readonly agents: number
  /** Cost in US dollars for each time slice, if `every` was given. Later slices without costs are left out. */
  readonly over?: readonly number[]
}

/** Savings of the agents whose brakes took effect, after the brakes' own costs; negative if the costs were higher. */
export interface SpendSaved {
  readonly agents: number
  readonly tokens: number
  /** Savings in US dollars. Low: the cache would have held everything that was removed. High: it would have held the measured share. */
  readonly usd: { readonly low: number; readonly high: number }
  /** Agents without reliable prices, which are not included above. */
  readonly unpriced: { readonly agents: number; readonly tokens: number }
}

/** Spending, in groups. */
export interface Spend extends SpendAmount {
  /** Savings by brakes. Missing if only part of the time was asked for, because savings are not recorded by time. */
  readonly saved?: SpendSaved
  readonly by: SpendBy
  /** Groups, the most expensive first; without prices, the one with the most tokens first. */
  readonly groups: readonly SpendGroup[]
}
