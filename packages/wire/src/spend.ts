import type { Usage } from '../../../src/protocol/messages.ts'

/** By what spending is summed. `user` is `{ metadata: 'user' }`. */
export type SpendBy = 'session' | 'user' | 'model' | 'definition' | { readonly metadata: string }

/** Use of models. */
export interface SpendAmount {
  /** Requests that were answered, at least in part, or failed after they had used tokens. */
  readonly requests: number
  readonly usage: Usage
  /** US dollars. Use without a known price is not in it. */
  readonly costUsd: number
  /** The part of it whose price is not known, in requests and tokens. */
  readonly unpriced: { readonly requests: number; readonly usage: Usage }
}

/** Spending of one session, user, model, definition or value. */
export interface SpendGroup extends SpendAmount {
  /** Id of the session's root agent, id of the model, name of the definition, or value as text; `null`: without such a value. */
  readonly key: string | null
  /** Number of agents that spent something. */
  readonly agents: number
  /** US dollars in each slice of time, where `every` was given; later slices without costs are left out. */
  readonly over?: readonly number[]
}

/** Savings of the agents whose brakes did something, net of what the brakes cost; negative if they cost more. */
export interface SpendSaved {
  readonly agents: number
  readonly tokens: number
  /** US dollars. Low: the cache would have held all that was taken away. High: the measured share of it. */
  readonly usd: { readonly low: number; readonly high: number }
  /** Those without sound prices, who are in none of the above. */
  readonly unpriced: { readonly agents: number; readonly tokens: number }
}

/** Spending, in groups. */
export interface Spend extends SpendAmount {
  /** Missing where only a part of the time is asked for: savings have no time of their own. */
  readonly saved?: SpendSaved
  readonly by: SpendBy
  /** The most expensive first; without prices, the one with most tokens. */
  readonly groups: readonly SpendGroup[]
}
