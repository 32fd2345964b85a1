import { Folding, foldLog } from '../../../../src/log/fold.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { noUsage, totalTokens } from '../../../../src/protocol/text/messageText.ts'
import {
  dropParts,
  plus,
  reckoningFold,
  spend,
  type Amount,
  type BrakeRecord,
  type Reckoning,
  type RequestSize,
  type Spending,
  type Unpriced,
} from './reckoning.ts'

export type { RequestSize, Spending, Unpriced }

/** Range in US dollars. */
export interface Dollars {
  readonly low: number
  readonly high: number
}

/** Tokens and dollars that brakes saved, net of their costs; negative if they cost more. */
export interface Saved {
  readonly tokens: number
  /** Low: if the cache had held all that was removed. High: if it had held the measured share. `null` without sound prices. */
  readonly usd: Dollars | null
}

/** Savings so far from one change of the model's view. */
export interface BrakeSaving extends Saved {
  readonly seq: number
  readonly turnIndex: number
  readonly type: BrakeRecord
  /** Number of requests since, including the first one after it. */
  readonly requests: number
  /** US dollars for the prefix that the next request wrote to the cache again, included in `usd`. `null` without sound prices. */
  readonly spoiltUsd: Dollars | null
}

/** Spending of an agent, and the savings from its brakes. */
export interface Savings extends Saved {
  readonly agentId?: string
  /** The agent's own use of models, without that of sub-agents. */
  readonly spent: Spending
  /** Part of `spent` that only brakes caused: summaries, reviewers, lessons, and turns in which the model only called brakes. */
  readonly byBrakes: Spending
  /** Reason why amounts in dollars are missing. */
  readonly unpriced?: Unpriced
  readonly sizes: readonly RequestSize[]
  readonly brakes: readonly BrakeSaving[]
  /** Context window of the newest request, in tokens. */
  readonly window: number
  /** True if the log does not record the window. */
  readonly isWindowAssumed: boolean
  /** First turn, from 0, whose request would have been larger than the window without brakes. */
  readonly fullAt?: number
  /** True if some sizes are estimates, because the provider reported none. */
  readonly isEstimated: boolean
  /** True if the log begins in the middle, so that earlier use is not counted. */
  readonly isPartial: boolean
  /** Spending of all its sub-agents, by id, as its calls have reported it so far. */
  readonly children: { readonly [childId: string]: Spending }
}

/** Returns a range. The bounds are swapped if more was added than freed. */
const dollars = (a: number, b: number): Dollars => ({ low: Math.min(a, b), high: Math.max(a, b) })

/** Returns an amount net of the model calls for it. */
function net({ tokens, cached, measured }: Amount, { usage, costUsd }: Spending, unpriced?: Unpriced): Saved {
  const usd = (at: number): number => at / 1_000_000 - costUsd
  return {
    tokens: Math.round(tokens) - totalTokens(usage),
    usd: unpriced === undefined ? dollars(usd(cached), usd(measured)) : null,
  }
}

/** Number of requests after which the parts of a sum are dropped. */
const mostParts = 64

/** Computes the sums of `savingsOf` for one log, record by record, in little memory. */
export class SavedSoFar {
  readonly #folding = new Folding([reckoningFold])
  readonly #reckoning = this.#folding.at(reckoningFold)

  apply(record: LogRecord): void {
    this.#folding.apply(record)
    const { state } = this.#reckoning
    if (state.sizes.length > mostParts) dropParts(state)
  }

  /** Savings so far; `undefined` if no brake has done anything. */
  get saved(): Saved | undefined {
    const { saved, byBrakes, unpriced, freed } = this.#reckoning.state
    return freed === 0 && byBrakes.requests === 0 ? undefined : net(saved, byBrakes, unpriced)
  }
}

/** Returns the savings according to a reckoning. Pure. */
export function savingsIn(reckoning: Reckoning): Savings {
  const { saved, byBrakes, unpriced, brought, sizes, brakes } = reckoning
  const { agentId, spent, window, isWindowAssumed, fullAt, isEstimated, isPartial, children } = reckoning
  return {
    ...net(saved, byBrakes, unpriced),
    ...(agentId === undefined ? {} : { agentId }),
    ...(unpriced === undefined ? {} : { unpriced }),
    ...(fullAt === undefined ? {} : { fullAt }),
    spent,
    byBrakes,
    sizes,
    window,
    isWindowAssumed,
    isEstimated,
    isPartial,
    children,
    brakes: brakes.map(({ seq, turnIndex, type, freed, used, requests, before, spoilt }) => ({
      seq,
      turnIndex,
      type,
      requests: sizes.length - requests,
      spoiltUsd: unpriced === undefined ? dollars(spoilt.cached / 1_000_000, spoilt.measured / 1_000_000) : null,
      ...net(plus(plus(plus(spoilt, spoilt, -2), brought, freed), before, -freed), used, unpriced),
    })),
  }
}

/**
 * Returns an agent's spending and the savings from its brakes, computed from its log. Without brakes each request would have included all that they
 * removed, up to the context window, at the prices of the model that answered, and neither model calls for brakes nor rewritten prefixes
 * would have been paid for. Pure; never throws.
 */
export const savingsOf = (records: Iterable<LogRecord>): Savings => savingsIn(foldLog(reckoningFold, records))

/** Spending and savings of several agents. */
export interface TreeSavings extends Saved {
  readonly spent: Spending
  readonly unpriced?: Unpriced
}

/**
 * Sums the agents of a tree, each at its own prices. Spending reported for a sub-agent counts only if that agent is not in the list, for example
 * because it has no log. Its number of requests is unknown. Pure.
 */
export function treeSavings(agents: readonly Savings[]): TreeSavings {
  const known = new Set<string | undefined>(agents.map(({ agentId }) => agentId))
  const unpriced = agents.find((agent) => agent.unpriced !== undefined)?.unpriced
  let spent: Spending = { requests: 0, usage: noUsage, costUsd: 0 }
  let tokens = 0
  const usd = { low: 0, high: 0 }
  for (const agent of agents) {
    spent = spend(spent, agent.spent, agent.spent.requests)
    for (const [id, used] of Object.entries(agent.children)) if (!known.has(id)) spent = spend(spent, used, 0)
    tokens += agent.tokens
    usd.low += agent.usd?.low ?? 0
    usd.high += agent.usd?.high ?? 0
  }
  return { spent, tokens, usd: unpriced === undefined ? usd : null, ...(unpriced === undefined ? {} : { unpriced }) }
}
