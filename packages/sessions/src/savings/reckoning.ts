import type { Fold } from '../../../../src/log/fold.ts'
import { askedBrakes } from '../../../../src/protocol/brakes/brakeTable.ts'
import type { Economics, Prices } from '../../../../src/protocol/economics.ts'
import type { Usage } from '../../../../src/protocol/messages.ts'
import type { LogRecord, RecordOf } from '../../../../src/protocol/records.ts'
import { addUsage, noUsage, toolCallsOf } from '../../../../src/protocol/text/messageText.ts'
import { recallName } from '../../../../src/conversation/tree/stepText.ts'
import { keptPrice, usualWindow } from '../../../../src/conversation/limits/economics.ts'
import { measure, unmeasured, type Measured, estimateTokens } from '../../../../src/conversation/limits/tokenCounter.ts'

/** Tokens, and their price if the cache held all that the brakes removed, or the measured share of it. US dollars per million tokens. */
export interface Amount {
  readonly tokens: number
  readonly cached: number
  readonly measured: number
}

/** Input size of an answered request of the agent, in tokens. */
export interface RequestSize {
  readonly seq: number
  readonly turnIndex: number
  /** Size as the provider reported it, or else an estimate. */
  readonly tokens: number
  /** Size without brakes, at most the window. 0 if there would have been no such request. */
  readonly without: number
}

/** Use of models. */
export interface Spending {
  /** Number of requests that failed or were answered, at least in part. */
  readonly requests: number
  readonly usage: Usage
  readonly costUsd: number
}

/** Reason why amounts in dollars are not known. */
export type Unpriced = 'missing' | 'free' | 'absurd'

/** An applied change of the model's view. */
export interface AppliedBrake {
  readonly seq: number
  readonly turnIndex: number
  readonly type: BrakeRecord
  /** Tokens that it takes out of each later request. */
  readonly freed: number
  readonly rewritten: number
  /** Cost of the model calls for it. */
  readonly used: Spending
  /** Number of requests before it. */
  readonly requests: number
  /** Value that each freed token had brought before this brake. */
  readonly before: Amount
  /** Cost of the prefix that the next request had to write to the cache again. */
  readonly spoilt: Amount
}

/** Spending and savings of a log so far. */
export interface Reckoning {
  readonly agentId?: string
  readonly isBegun: boolean
  readonly isPartial: boolean
  /** Number of imported records that are still to come. */
  readonly imported: number
  readonly spent: Spending
  /** Part of `spent` that only the brakes caused. */
  readonly byBrakes: Spending
  readonly unpriced?: Unpriced
  readonly isEstimated: boolean
  readonly measured: Measured
  /** Tokens that the brakes took out of the next request. `added`: tokens in it only because of brakes, such as recalled steps. */
  readonly freed: number
  readonly added: number
  /** Savings of all requests. `brought`: the value that each freed token has brought. */
  readonly saved: Amount
  readonly brought: Amount
  readonly brakes: readonly AppliedBrake[]
  /** Number of brakes before the last request. */
  readonly settled: number
  readonly sizes: readonly RequestSize[]
  readonly largest: number
  readonly window: number
  readonly isWindowAssumed: boolean
  readonly fullAt?: number
  readonly childOf: { readonly [callId: string]: string }
  readonly children: { readonly [childId: string]: Spending }
}
type Writable = { -readonly [K in keyof Reckoning]: Reckoning[K] } & {
  brakes: AppliedBrake[]
  sizes: RequestSize[]
  childOf: { [callId: string]: string }
  children: { [childId: string]: Spending }
}

const nothing: Amount = Object.freeze({ tokens: 0, cached: 0, measured: 0 })
const noSpending: Spending = Object.freeze({ requests: 0, usage: noUsage, costUsd: 0 })

const begin = (): Reckoning => ({
  isBegun: false,
  isPartial: false,
  imported: 0,
  spent: noSpending,
  byBrakes: noSpending,
  isEstimated: false,
  measured: unmeasured,
  freed: 0,
  added: 0,
  saved: nothing,
  brought: nothing,
  brakes: [],
  settled: 0,
  sizes: [],
  largest: 0,
  window: usualWindow,
  isWindowAssumed: true,
  childOf: {},
  children: {},
})

/** Returns the sum of `a` and `times` times `b`. */
export const plus = (a: Amount, b: Amount, times = 1): Amount => ({
  tokens: a.tokens + times * b.tokens,
  cached: a.cached + times * b.cached,
  measured: a.measured + times * b.measured,
})

interface Used {
  readonly usage?: Usage | undefined
  readonly costUsd?: number | undefined
}

/** Adds one use of a model. A log may hold anything in place of a number. */
export const spend = ({ requests, usage, costUsd }: Spending, used: Used, count = 1): Spending => ({
  requests: requests + count,
  usage: addUsage(usage, used.usage ?? noUsage),
  costUsd: costUsd + (Number.isFinite(used.costUsd) ? used.costUsd! : 0),
})

/** US dollars per million tokens: prices above the first, or an `input` price below the second, are mistakes. */
const [mostUsd, leastUsd] = [10_000, 0.0001]

/** Returns the reason why prices, which may be malformed, give no amounts; `undefined` if they do. Pure. */
export function unpricedBy(prices: Prices | undefined): Unpriced | undefined {
  if (prices === undefined) return 'missing'
  const { input, output, cacheRead = 0, cacheWrite = 0 } = prices
  const all = [input, output, cacheRead, cacheWrite]
  if (all.every((price) => price === 0)) return 'free'
  const isSound = all.every((price) => price >= 0 && price <= mostUsd)
  return isSound && input >= leastUsd ? undefined : 'absurd'
}

/** Tools that are called only because there are brakes. Some count only after a brake, as an agent without brakes may have a tool of that name. */
const asking = new Set<string>([askedBrakes.revert.tool, askedBrakes.prune.tool])
const askingLater = new Set<string>([recallName, askedBrakes.graft.tool, askedBrakes.prune.showTool])

const isOfBrakes = ({ brakes }: Reckoning, name: string): boolean =>
  asking.has(name) || (askingLater.has(name) && brakes.length > 0)

function addReply(state: Writable, record: RecordOf<'reply.end'>): void {
  const { seq, turnIndex, message, costUsd, estimatedTokens, window, prices } = record
  const { usage } = message
  const read = usage.input + usage.cacheRead + usage.cacheWrite
  state.measured = measure(state.measured, record)
  const tokens = read || Math.round(estimatedTokens * state.measured.correction)
  const used = {
    usage: read === 0 && tokens > 0 ? { ...usage, input: tokens, estimated: true as const } : usage,
    costUsd,
  }
  state.spent = spend(state.spent, used)
  if (tokens === 0 || message.stopReason === 'aborted') return
  const unpriced = unpricedBy(prices)
  if (unpriced !== undefined) state.unpriced ??= unpriced
  if (read === 0 || usage.estimated === true) state.isEstimated = true
  state.largest = Math.max(state.largest, tokens)
  state.isWindowAssumed = window === undefined
  // A request that was answered did fit the window.
  state.window = window ?? Math.max(usualWindow, state.largest)
  settle(state, usage, prices)
  const calls = toolCallsOf(message.content)
  if (calls.length > 0 && calls.every(({ name }) => isOfBrakes(state, name))) {
    state.added += usage.output
    state.byBrakes = spend(state.byBrakes, used)
    state.sizes.push({ seq, turnIndex, tokens, without: 0 })
    return
  }
  const hidden = state.freed - state.added
  if (tokens + hidden > state.window) state.fullAt ??= turnIndex
  const saved = Math.min(hidden, Math.max(0, state.window - tokens))
  const each = priceOf(state, prices)
  state.saved = plus(state.saved, each, saved)
  if (state.freed !== 0) state.brought = plus(state.brought, each, saved / state.freed)
  state.sizes.push({ seq, turnIndex, tokens, without: tokens + saved })
}

/** Returns the price of a token that a request repeats from the one before. */
function priceOf({ measured, unpriced, spent: { usage } }: Reckoning, prices: Prices | undefined): Amount {
  if (prices === undefined || unpriced !== undefined) return { ...nothing, tokens: 1 }
  // A log without any tokens from a cache has been paid in full, whatever the share is assumed to be.
  const share = usage.cacheRead + usage.cacheWrite === 0 ? 0 : measured.cachedShare
  return { tokens: 1, cached: keptPrice(prices, 1), measured: keptPrice(prices, share) }
}

/** Charges the brakes since the last request with the tokens it had to write again because of them, at most all tokens not in the cache. */
function settle(state: Writable, { input, cacheWrite }: Usage, prices: Prices | undefined): void {
  const fresh = state.brakes.slice(state.settled)
  const rewritten = fresh.reduce((sum, brake) => sum + brake.rewritten, 0)
  if (rewritten > 0 && prices !== undefined && state.unpriced === undefined) {
    const share = Math.min(1, (input + cacheWrite) / rewritten)
    const written = prices.cacheWrite ?? prices.input
    const { cached, measured } = priceOf(state, prices)
    const extra = { tokens: 0, cached: Math.max(0, written - cached), measured: Math.max(0, written - measured) }
    for (let at = state.settled; at < state.brakes.length; at += 1) {
      const brake = state.brakes[at]!
      const spoilt = plus(nothing, extra, share * brake.rewritten)
      state.brakes[at] = { ...brake, spoilt }
      state.saved = plus(state.saved, spoilt, -1)
    }
  }
  state.settled = state.brakes.length
}

/** Types of the records with the outcome of a brake. */
export type BrakeRecord = 'prune.applied' | 'revert.applied' | 'graft.applied' | 'compaction.end'

interface Reshaping extends Used {
  readonly type: BrakeRecord
  readonly seq: number
  readonly turnIndex: number
  readonly applied: boolean
  readonly economics?: Economics | undefined
}

function addBrake(state: Writable, { seq, turnIndex, type, applied, economics, usage, costUsd }: Reshaping): void {
  const used = usage === undefined ? noSpending : spend(noSpending, { usage, costUsd })
  spendOnBrakes(state, { usage, costUsd })
  if (!applied) return
  const { freed = 0, rewritten = 0 } = economics ?? {}
  state.freed += freed
  const at = { requests: state.sizes.length, before: state.brought, spoilt: nothing }
  state.brakes.push({ seq, turnIndex, type, freed, rewritten, used, ...at })
}

function spendOnBrakes(state: Writable, used: Used): void {
  if (used.usage === undefined) return
  state.spent = spend(state.spent, used)
  state.byBrakes = spend(state.byBrakes, used)
}

/** Adds the spending that a call reports for a sub-agent. `{}` reports only that it has begun. */
function addChild(state: Writable, childId: string | undefined, spent: Used | undefined): void {
  if (childId === undefined || spent === undefined) return
  state.children[childId] = spend(state.children[childId] ?? noSpending, spent, 0)
}

/** Takes in the next record. Records that are imported, or belong to the source of a fork, were paid for elsewhere. */
function reckon(before: Reckoning, record: LogRecord): Reckoning {
  const state = before as Writable
  if (record.type === 'agent.created')
    return { ...before, isBegun: true, agentId: record.agentId, imported: record.imported ?? 0 }
  if (!state.isBegun) {
    state.isBegun = true
    state.isPartial = true
  }
  if (state.imported > 0) {
    state.imported -= 1
    return state
  }
  switch (record.type) {
    case 'reply.end':
      addReply(state, record)
      break
    case 'reply.reset':
      state.spent = spend(state.spent, record)
      break
    case 'policy.end':
    case 'memory.extracted':
      spendOnBrakes(state, record)
      break
    case 'prune.applied':
    case 'revert.applied':
    case 'graft.applied':
    case 'compaction.end':
      addBrake(state, record)
      break
    case 'tool.start':
      if (record.childId !== undefined) state.childOf[record.callId] = record.childId
      addChild(state, record.childId, {})
      break
    case 'child.spawned':
      addChild(state, record.childId, {})
      break
    case 'tool.end':
      if (isOfBrakes(state, record.name))
        state.added += Math.round(estimateTokens.message(record.message) * state.measured.correction)
      addChild(state, state.childOf[record.callId], record.spent)
      break
    case 'child.ended':
      addChild(state, record.childId, record.spent)
      break
    default:
  }
  return state
}

/** Drops requests and brakes after a reply, in place. Their costs are known by then, and the sums stay. */
export function dropParts(reckoning: Reckoning): void {
  const state = reckoning as Writable
  state.sizes = []
  state.brakes = []
  state.settled = 0
}

/** Fold over an agent's own log. Its state is changed in place. */
export const reckoningFold: Fold<Reckoning> = { name: 'savings', isOwn: true, initial: begin, each: reckon }
