import type { PruneOutcome, PruneRequest } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import { renderIndex, renderMemo } from '../../request/brakeNotes.ts'
import type { Conversation } from '../../tree/conversation.ts'
import type { Prices } from '../../../protocol/economics.ts'
import { economicsOf, reshapingFactor } from '../../limits/economics.ts'
import { foldLine } from './foldLine.ts'
import { noteStep } from '../hiddenSpan.ts'
import { cacheLifetimes } from '../../../protocol/cacheLifetimes.ts'
import { isUncached, type Measured } from '../../limits/tokenCounter.ts'
import { nameIndex } from '../../names/nameIndex.ts'
import { tokensOfShown } from '../../request/maskedResults.ts'
import type { Step } from '../../tree/node.ts'
import { chooseSteps, tokensOfStep, type ChosenSteps, type WayToHide } from '../prune/planPrune.ts'
import { notesOfSpan, stepOf } from '../prune/pruneNotes.ts'
import { noRollUp, rollUpMemos, type RollUp } from './rollUpMemos.ts'
import { sizesOfFold } from '../../limits/trunkSizes.ts'
import { trunkSums } from '../../limits/trunkSums.ts'

/** Policy for when and how far old steps are folded. Token counts refer to the model's context window. */
export interface FoldPolicy {
  /** Room for work above the part that cannot be folded, in tokens. Default 8,000. */
  readonly work: number
  /** Share of the unfolded request size that a long session may keep, from 0 to 1. Default 0.15. */
  readonly phi: number
  /** Share of the size allowed by `phi` that a fold leaves, from 0 to 1; the rest is room to grow. Default 0.65. */
  readonly lambda: number
  /** Minimum room between a fold and the next, in tokens. Default 5,000. */
  readonly minBatch: number
  /** Number of newest steps that are never folded. Default 6. */
  readonly keepSteps: number
  /**
   * Room for the index of names, in tokens of four characters, so that it holds as many names whatever a model counts.
   * 0 means no index. Default 6,000, but at most a tenth of `cap`.
   */
  readonly indexTokens: number
  /** Size that a request should not exceed, in tokens. Default: 0.7 of `compaction.contextWindow`. */
  readonly cap: number
  /**
   * Number of requests that a conversation has to have made, or be expected to make, before it is folded; before that, only where it costs nothing
   * or a request exceeds `cap`. 0: also where it does not pay. Default 30.
   */
  readonly leastRequests: number
}

/** Defaults of all options except `cap`, which is a share of the context window. */
export const defaultFoldPolicy: Omit<FoldPolicy, 'cap'> = {
  work: 8_000,
  phi: 0.15,
  lambda: 0.65,
  minBatch: 5_000,
  keepSteps: 6,
  indexTokens: 6_000,
  leastRequests: 30,
}

/** Circumstances of a fold that the conversation does not tell. */
export interface FoldTerms {
  /** Prices of the model; the usual ones if they are not known. */
  readonly prices?: Prices | null
  /** Time for which the provider keeps a cached beginning, in milliseconds. Default 5 minutes. */
  readonly lifetimeMs?: number
}

/** Levels for a request, in tokens as the conversation counts them. A request above `high` is folded down to `low`. */
export interface FoldLevels {
  readonly request: number
  readonly low: number
  readonly high: number
  readonly least: number
  /** Maximum number of tokens that a fold could remove, without counting memos. */
  readonly foldable: number
  /** True if nothing is cached, so that rewriting costs nothing. */
  readonly isFree: boolean
  readonly keepSteps: number
}

/** Factor for the size of a batch relative to the growth of a request, with a cache that holds. It was the best value on recorded sessions. */
const batchFactor = 5
/** Growth that is assumed for a session that has just begun. */
const leastGrowth = 50
const leastSpan = 2_000
/** Tokens by which a fold goes deeper, and steps that it keeps, once the cache has expired. */
const deeper = 4_000
const keptWhenDead = 4
/** Number of additional steps that a fold keeps if nothing is ever cached, because folds are small and frequent then. */
const moreWhenUncached = 4
/** Share of `cap` to which a fold reduces a request. */
const shareOfCap = 0.7

/** Computes the levels of a request. Its cost depends on the kept steps only, not on the length of the conversation. Pure. */
export function foldLevels(
  conversation: Conversation,
  policy: FoldPolicy,
  frameTokens: number,
  terms: FoldTerms = {},
  measured: Measured = conversation.measured,
): FoldLevels {
  const { path, notes, trunkTokens, overlay } = conversation
  const { correction, cachedShare } = measured
  const isNever = isUncached(measured)
  const isDead = !isNever && hasLostCache(measured, terms)
  const keepSteps = isNever
    ? policy.keepSteps + moreWhenUncached
    : isDead
      ? Math.min(keptWhenDead, policy.keepSteps)
      : policy.keepSteps
  const factor = isDead || isNever ? 0 : batchFactor * reshapingFactor(cachedShare, terms.prices)
  const counted = (tokens: number): number => tokens / correction
  const { user, growth } = trunkSums(conversation)
  const unmanaged = frameTokens + (path.at(-1)?.pathTokens ?? 0)
  const stays = frameTokens + user + notes.shown + (overlay?.tokens ?? 0)
  const cap = counted(policy.cap)
  const usual = Math.max(stays + counted(policy.work), policy.lambda * policy.phi * unmanaged)
  const low = Math.min(shareOfCap * cap, isDead ? Math.max(stays, usual - counted(deeper)) : usual)
  const minBatch = counted(policy.minBatch)
  const batch = Math.max(
    minBatch,
    factor * Math.sqrt(Math.max(leastGrowth, growth) * Math.max(leastSpan, low - frameTokens)),
  )
  const high = Math.min(Math.max(cap, low + minBatch), low + batch)
  const request = frameTokens + trunkTokens + waitingTokens(conversation)
  return {
    request,
    low,
    high,
    least: high - low + policy.indexTokens,
    foldable: frameTokens + trunkTokens - stays + notes.index - recentTokens(conversation, keepSteps),
    isFree: factor === 0,
    keepSteps,
  }
}

/** Returns true if the pause before this run outlasted the cache, so that the next request is written anew as a whole. */
const hasLostCache = ({ pause = 0 }: Measured, { lifetimeMs = cacheLifetimes['5m'] }: FoldTerms): boolean =>
  pause >= lifetimeMs

/**
 * Returns the trunk size in tokens above which a fold may be due once the current reply and its results have arrived; the largest integer if folding
 * would not be worth it. It is computed with every reply, so that no drain checks in vain. `measured`: the measurements including that reply. Pure.
 */
export function nextFold(
  conversation: Conversation,
  policy: FoldPolicy,
  frameTokens: number,
  terms?: FoldTerms,
  measured: Measured = conversation.measured,
): number {
  // The reply under way takes one of the places of the steps that are kept.
  const { high, least, foldable, isFree } = foldLevels(
    conversation,
    { ...policy, keepSteps: Math.max(0, policy.keepSteps - 1) },
    frameTokens,
    terms,
    measured,
  )
  if (foldable < 0.9 * least) return Number.MAX_SAFE_INTEGER
  const isEarly = !isFree && isShort(policy, measured)
  return (isEarly ? Math.max(high, policy.cap / measured.correction) : high) - frameTokens
}

/** Returns true for a conversation that is not expected to make enough requests for a fold to pay. */
const isShort = ({ leastRequests }: FoldPolicy, { replies, expected = 0 }: Measured): boolean =>
  Math.max(replies, expected) < leastRequests

/** Estimated tokens of messages that reach the trunk before the next request. */
function waitingTokens({ queues: { steering, followUps }, counter }: Conversation): number {
  let tokens = 0
  for (const { content } of [...steering, ...followUps])
    tokens += counter.message({ role: 'user', content, source: 'steering' })
  return tokens
}

/** Returns the estimated tokens of the model's newest steps, without hidden ones. */
function recentTokens(conversation: Conversation, keepSteps: number): number {
  const { path, annotations } = conversation
  const end = foldedTo(conversation)
  let tokens = 0
  let kept = 0
  for (let i = path.length - 1; i >= 0 && kept < keepSteps && path[i]!.id > end; i--) {
    const node = path[i]!
    if (node.message.role === 'user' || annotations?.hiddenBy(node.stepId) !== undefined) continue
    tokens += tokensOfShown(node, conversation)
    if (node.id === node.stepId) kept += 1
  }
  return tokens
}

/** Returns the last step that the newest fold or summary covers. Steps after it are shown. */
function foldedTo(conversation: Conversation): NodeId {
  const { annotations, overlay } = conversation
  return Math.max(annotations?.hidden.foldedTo(conversation) ?? 0, overlay?.to ?? 0)
}

/** Returns the steps that a fold may take, oldest first. Its cost depends on the number of shown steps, not of hidden ones. */
function* foldableSteps(conversation: Conversation, keepSteps: number): Generator<Step> {
  const { path, annotations, overlay } = conversation
  // An unpinned step may stand before the last fold.
  const end = annotations?.hasUnpinned === true ? (overlay?.to ?? 0) : foldedTo(conversation)
  const ids: NodeId[] = []
  for (let i = path.length - 1; i >= 0 && path[i]!.id > end; i--) {
    const { id, stepId, message } = path[i]!
    if (id === stepId && message.role === 'assistant' && annotations?.hiddenBy(id) === undefined) ids.push(id)
  }
  for (const id of ids.slice(keepSteps).toReversed()) {
    // While a call of it works in the background, the model needs its receipt. Who asked for a step does not want it folded at once.
    if (annotations?.isPinned(id) || annotations?.isWorking(id) || annotations?.isShownAgain(id)) continue
    const step = stepOf(id, conversation)
    if (!isProtected(step)) yield step
  }
}

/** Returns true for a step with a call that a person denied. Such a step stays visible. */
const isProtected = ({ nodes }: Step): boolean =>
  nodes.some(({ message }) => message.role === 'toolResult' && message.synthetic === 'denied')

const mayPay = ({ request, high, least, foldable }: FoldLevels, { notes }: Conversation): boolean =>
  request > high && foldable + notes.shown - notes.index >= least

/** Share of the requests made so far within which a fold must have paid. As many requests again are expected. */
const payback = 1 / 3

/** Returns true if a fold would cost nothing, or the request is too large to wait. */
const mustNotPay = ({ isFree, request }: FoldLevels, { cap }: FoldPolicy, { correction }: Conversation): boolean =>
  isFree || request * correction > cap

/** Returns true if the conversation may be folded at its length and size, whatever the fold costs. */
const isTimely = (levels: FoldLevels, policy: FoldPolicy, conversation: Conversation): boolean =>
  mayPay(levels, conversation) && (mustNotPay(levels, policy, conversation) || !isShort(policy, conversation.measured))

/** Returns true if a fold would pay back soon enough for the conversation as it has been so far. */
function paysBack(plan: FoldPlan, conversation: Conversation, frameTokens: number, { prices }: FoldTerms): boolean {
  const { before, after, unchanged } = sizesOfFold(conversation, plan)
  const { cachedShare, replies } = conversation.measured
  const sizes = { before: before + frameTokens, after: after + frameTokens, unchanged: unchanged + frameTokens }
  const { paysAfter } = economicsOf({ ...sizes, prices, cachedShare })
  return paysAfter !== null && paysAfter <= payback * replies
}

/** Returns true if `planFold` would look for steps to fold. It may still find too few. */
export const isFoldDue = (
  conversation: Conversation,
  policy: FoldPolicy,
  frameTokens: number,
  terms?: FoldTerms,
): boolean => isTimely(foldLevels(conversation, policy, frameTokens, terms), policy, conversation)

export interface FoldPlan {
  readonly outcome: PruneOutcome
  /** Estimated tokens of the trunk once it is applied. */
  readonly trunkTokens: number
}

/**
 * Decides how many of the model's oldest whole steps are folded into a memo; `undefined` for none now. It never folds a person's message, a pinned
 * step, a denied call, one of the newest steps, or anything at or before a summary. Pure.
 */
export function planFold(
  conversation: Conversation,
  policy: FoldPolicy,
  frameTokens: number,
  id: string,
  terms: FoldTerms = {},
): FoldPlan | undefined {
  const levels = foldLevels(conversation, policy, frameTokens, terms)
  if (!isTimely(levels, policy, conversation)) return undefined
  const { request, low, least, foldable, keepSteps } = levels
  const rolled = rollUpMemos(conversation, low)
  if (foldable + rolled.saved < least) return undefined
  const { counter, notes } = conversation
  const excess = request - low + policy.indexTokens
  const steps: Step[] = []
  let freed = rolled.saved + notes.index
  for (const step of foldableSteps(conversation, keepSteps)) {
    if (freed >= excess) break
    steps.push(step)
    freed += tokensOfStep(step, conversation) - counter.text(`${foldLine(step)}\n`)
  }
  if (steps.length === 0 || freed < least) return undefined
  const plan = foldOf(conversation, policy, id, steps, rolled)
  if (policy.leastRequests === 0 || mustNotPay(levels, policy, conversation)) return plan
  return paysBack(plan, conversation, frameTokens, terms) ? plan : undefined
}

/**
 * Plans a requested fold: of the named steps that may be folded or, without names, of every step that may, whatever the saving. Steps `taken` by
 * another request are left out. Returns a string for a refusal. Pure.
 */
export function planAskedFold(
  conversation: Conversation,
  policy: FoldPolicy,
  frameTokens: number,
  request: PruneRequest,
  taken: ReadonlySet<NodeId>,
): FoldPlan | string {
  const { id, steps: named, policy: asker } = request
  const { steps, reason } =
    named === undefined ? allFoldable(conversation, policy, taken) : chooseSteps(conversation, request, taken, folding)
  if (steps.length === 0) return `fold refused: ${reason ?? 'there is no step that may be folded'}`
  const mayRollUp = named === undefined || request.rollUp === true
  const rolled = mayRollUp ? rollUpMemos(conversation, foldLevels(conversation, policy, frameTokens).low) : noRollUp
  const { outcome, trunkTokens } = foldOf(conversation, policy, id, steps, rolled)
  const by = asker === undefined ? {} : { policy: asker }
  const refused = reason === undefined ? {} : { reason: `fold refused: ${reason}` }
  return { outcome: { ...outcome, ...by, ...refused }, trunkTokens }
}

const allFoldable = (
  conversation: Conversation,
  { keepSteps }: FoldPolicy,
  taken: ReadonlySet<NodeId>,
): ChosenSteps => ({
  steps: [...foldableSteps(conversation, keepSteps)].filter(({ id }) => !taken.has(id)),
})

const folding: WayToHide = {
  tokensOf: tokensOfStep,
  whyNot: (step) => (isProtected(step) ? 'was denied by a person' : undefined),
  steps: 'that',
}

function foldOf(
  conversation: Conversation,
  policy: FoldPolicy,
  id: string,
  steps: readonly Step[],
  rolled: RollUp,
): FoldPlan {
  const { counter, notes } = conversation
  const tokens = steps.reduce((sum, step) => sum + tokensOfStep(step, conversation), 0)
  const memo = steps.map((step) => foldLine(step)).join('\n')
  const ids = steps.map((step) => step.id)
  const chars = Math.floor(policy.indexTokens * charsPerToken)
  const names = namesLost(conversation, new Set(ids), memo, rolled, chars)
  const outcome: PruneOutcome = {
    id,
    applied: true,
    by: 'runtime',
    steps: ids,
    tokens,
    memo,
    ...(names === '' ? {} : { index: names }),
    ...(rolled.parts.length === 0 ? {} : { rolled: rolled.parts }),
  }
  const added = counter.text(renderMemo(memo, ids)) + (names === '' ? 0 : counter.text(renderIndex(names)))
  return { outcome, trunkTokens: conversation.trunkTokens - tokens - notes.index - rolled.saved + added }
}

const charsPerToken = 4

/** Returns the index of a fold: the names that occur only in its steps and in steps hidden before. */
function namesLost(
  conversation: Conversation,
  folded: ReadonlySet<NodeId>,
  memo: string,
  rolled: RollUp,
  maxChars: number,
): string {
  if (maxChars <= 0) return ''
  const { annotations, overlay } = conversation
  const replaced = new Set(rolled.parts.flatMap((part) => annotations!.hidden.partsOf(part)))
  const memos = (annotations?.hidden.spans ?? [])
    .filter((span) => !replaced.has(span) && noteStep(span, conversation) !== undefined)
    .flatMap((span) => notesOfSpan(span, conversation).map(({ text }) => text))
  const written = [...memos, ...rolled.parts.map((part) => part.memo), memo, overlay?.summary ?? '']
  return nameIndex(conversation, folded, written.join('\n'), maxChars)
}
