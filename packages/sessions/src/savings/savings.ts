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

/** US dollars, as a lower and an upper bound. */
export interface Dollars {
  readonly low: number
  readonly high: number
}

/** Tokens and dollars that brakes saved, net of their costs; negative if they cost more. */
export interface Saved {
  readonly tokens: number
  /** Low: the cache would have held all that was taken away. High: the measured share of it. `null` without sound prices. */
  readonly usd: Dollars | null
}

/** The savings of one change of what the model sees, so far. */
export interface BrakeSaving extends Saved {
  readonly seq: number
  readonly turnIndex: number
  readonly type: BrakeRecord
  /** Number of requests since, counted from the one that followed it. */
  readonly requests: number
  /** US dollars for the beginning that the next request wrote anew; it is in `usd`. `null` without sound prices. */
  readonly spoiltUsd: Dollars | null
}

/** Spending of an agent, and what its brakes saved. */
export interface Savings extends Saved {
  readonly agentId?: string
  /** Its own use of models, without that of sub-agents. */
  readonly spent: Spending
  /** Part of it that only the brakes caused: summaries, reviewers, lessons, and turns in which the model asked for nothing but a brake. */
  readonly byBrakes: Spending
  /** Why there are no dollars. */
  readonly unpriced?: Unpriced
  readonly sizes: readonly RequestSize[]
  readonly brakes: readonly BrakeSaving[]
  /** Context window of the newest request, in tokens. */
  readonly window: number
  /** True if the log does not say the window. */
  readonly isWindowAssumed: boolean
  /** First turn, from 0, whose request would have been larger than the window without brakes. */
  readonly fullAt?: number
  /** True if some sizes are estimates, because the provider reported none. */
  readonly isEstimated: boolean
  /** True if the log begins in the middle: what was before is not counted. */
  readonly isPartial: boolean
  /** Spending of all its sub-agents, by id, as its calls reported it so far. */
  readonly children: { readonly [childId: string]: Spending }
}

/** Returns a range; the bounds change places where more was added than freed. */
const dollars = (a: number, b: number): Dollars => ({ low: Math.min(a, b), high: Math.max(a, b) })

/** Returns an amount net of the model calls for it. */
function net({ tokens, cached, measured }: Amount, { usage, costUsd }: Spending, unpriced?: Unpriced): Saved {
  const usd = (at: number): number => at / 1_000_000 - costUsd
  return {
    tokens: Math.round(tokens) - totalTokens(usage),
    usd: unpriced === undefined ? dollars(usd(cached), usd(measured)) : null,
  }
}

/** Requests after which the parts of a sum are dropped. */
const mostParts = 64

/** Savings of one log, one record at a time: the sums of `savingsOf` alone, in little room. */
export class SavedSoFar {
  readonly #folding = new Folding([reckoningFold])
  readonly #reckoning = this.#folding.at(reckoningFold)

  apply(record: LogRecord): void {
    this.#folding.apply(record)
    const { state } = this.#reckoning
    if (state.sizes.length > mostParts) dropParts(state)
  }

  /** `undefined`: no brake has done anything. */
  get saved(): Saved | undefined {
    const { saved, byBrakes, unpriced, freed } = this.#reckoning.state
    return freed === 0 && byBrakes.requests === 0 ? undefined : net(saved, byBrakes, unpriced)
  }
}

/** Returns the savings that a reckoning comes to. Pure. */
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
 * Returns what an agent spent and what its brakes saved, from its log. Without brakes each request would have had all that they took out of it, at
 * most the context window, at the prices of the model that answered; and there would have been no calls for the brakes, and no beginning to write
 * anew. Pure; never throws.
 */
export const savingsOf = (records: Iterable<LogRecord>): Savings => savingsIn(foldLog(reckoningFold, records))

/** Spending and savings of several agents. */
export interface TreeSavings extends Saved {
  readonly spent: Spending
  readonly unpriced?: Unpriced
}

/**
 * Sums agents of a tree, each at its own prices. What an agent says of a sub-agent counts only if that one is not among them, such as one without a
 * log; the number of its requests is unknown. Pure.
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
