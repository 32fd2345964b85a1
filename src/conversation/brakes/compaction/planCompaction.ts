import { formatNodeId, type NodeId } from '../../../protocol/ids.ts'
import type { Overlay } from '../../../protocol/records.ts'
import type { Conversation } from '../../tree/conversation.ts'
import { cutEnd } from '../../../protocol/text/cutMiddle.ts'
import type { ConversationNode, Step } from '../../tree/node.ts'
import { staysWhole } from '../../request/overlay.ts'
import { usualWindow } from '../../limits/economics.ts'
import { sizesOfCompaction } from '../../limits/trunkSizes.ts'

/** Policy for when and how far to compact. Token counts refer to the model's context window. */
export interface CompactionPolicy {
  readonly contextWindow: number
  /** Share of the window the request may fill. */
  readonly compactAt: number
  /** Headroom below `compactAt` at which a compaction starts, as a share of the window. */
  readonly threshold: number
  /** Number of steps that are kept word for word at the start and at the end of the trunk. */
  readonly keepFirst: number
  readonly keepRecent: number
  readonly maxSummaryTokens: number
  readonly maxToolOutputChars: number
  /** A compaction that saves less than this share is not applied. */
  readonly minShrink: number
}

export const defaultCompactionPolicy: CompactionPolicy = {
  contextWindow: usualWindow,
  compactAt: 0.9,
  threshold: 0.05,
  keepFirst: 1,
  keepRecent: 6,
  maxSummaryTokens: 2_000,
  maxToolOutputChars: 2_000,
  minShrink: 0.2,
}

/** Tokens above which a request leaves too little headroom: `compactAt − request/max < threshold`, solved for the request. */
export const compactionTrigger = (policy: CompactionPolicy): number =>
  Math.floor((policy.compactAt - policy.threshold) * policy.contextWindow)

/** The middle of the trunk that a summary is to replace. */
export interface CompactionPlan {
  readonly from: NodeId
  readonly to: NodeId
  readonly kept: readonly NodeId[]
  readonly recentTo: NodeId
  /** Tool outputs after the span that are not cut, because their step is pinned. */
  readonly uncut: readonly NodeId[]
  readonly span: readonly ConversationNode[]
  /** The existing summary, if nothing new is summarised and only outputs after the span are cut. */
  readonly summary?: string
  /** Length to which outputs are cut, if it is less than the policy's. */
  readonly cutTo?: number
}

const noMiddle = 'the conversation has no middle to summarise'

/**
 * Chooses the span: everything but the first and the most recent steps. The recent part is halved until the result fits under the trigger and saves
 * enough. If that does not help and the request does not fit, or with `isForced`, only long outputs are cut. Returns a string for a refusal, which
 * names the part that has to stay; no model was asked. Pure.
 */
export function planCompaction(
  conversation: Conversation,
  policy: CompactionPolicy,
  frameTokens: number,
  isForced = false,
): CompactionPlan | string {
  const steps = conversation.steps()
  const target = compactionTrigger(policy) / conversation.correction - frameTokens - policy.maxSummaryTokens
  let plan: CompactionPlan | undefined
  let why: string | undefined
  let recent = policy.keepRecent
  for (; ; recent = Math.floor(recent / 2)) {
    const candidate = planSpan(conversation, steps, policy.keepFirst, Math.max(1, recent))
    if (typeof candidate === 'string') why = candidate
    else {
      plan = candidate
      const { left, shrink } = forecast(conversation, plan, policy, frameTokens)
      if (left <= target && shrink >= policy.minShrink) return plan
    }
    if (recent <= 1) break
  }
  const shrink = plan === undefined ? -1 : forecast(conversation, plan, policy, frameTokens).shrink
  if (plan !== undefined && shrink >= policy.minShrink) return plan
  const full = policy.compactAt * policy.contextWindow
  const mayCut = isForced || (frameTokens + conversation.trunkTokens) * conversation.correction > full
  const cut = mayCut ? planCut(conversation, steps, policy, { frameTokens, target }) : undefined
  if (cut !== undefined) return cut
  return plan === undefined ? (why ?? noMiddle) : whyTooLittle(conversation, plan, policy, frameTokens)
}

/** Summary of a span from which nothing was removed. */
const nothingSummarised = 'Nothing has been summarised here. Long outputs of tools have lost their middle.'

/** Minimum length to which outputs are cut, in characters. */
const leastCut = 100

/**
 * Cuts only outputs, as short as necessary, under the existing summary or under a new one that summarises nothing. Returns `undefined` if that saves
 * too little.
 */
function planCut(
  conversation: Conversation,
  steps: readonly Step[],
  policy: CompactionPolicy,
  { frameTokens, target }: { readonly frameTokens: number; readonly target: number },
): CompactionPlan | undefined {
  const { overlay, annotations, path, head } = conversation
  const first = steps[0]?.nodes ?? []
  if (head === null || (overlay !== undefined && annotations?.isPinned(overlay.nodeId) === true)) return undefined
  if (overlay === undefined && !first.every((node) => staysWhole(node, conversation))) return undefined
  const { from, to, summary } = overlay ?? { from: first[0]!.id, to: first.at(-1)!.id, summary: nothingSummarised }
  const end = conversation.depthOf(to)
  const span = path.slice(conversation.depthOf(from) - 1, end)
  const kept = idsOf(span.filter((node) => staysWhole(node, conversation)))
  const uncut = idsOf(uncutAfter(end, conversation))
  let best: CompactionPlan | undefined
  for (let cutTo = policy.maxToolOutputChars; cutTo >= leastCut; cutTo = Math.floor(cutTo / 4)) {
    const plan = { from, to, kept, summary, cutTo, recentTo: head, uncut, span }
    const { bare, shrink } = forecast(conversation, plan, policy, frameTokens)
    if (shrink < policy.minShrink) continue
    best = plan
    if (bare <= target) break
  }
  return best
}

function planSpan(
  conversation: Conversation,
  steps: readonly Step[],
  keepFirst: number,
  recent: number,
): CompactionPlan | string {
  const { overlay, annotations } = conversation
  // Steps that a summary stands for stay in the span of the next one.
  const summarised = steps.findIndex(({ id }) => id === overlay?.from)
  const first = summarised < 0 ? keepFirst : Math.min(keepFirst, summarised)
  const span = steps.slice(first, Math.max(first, steps.length - recent)).flatMap(({ nodes }) => nodes)
  const last = span.at(-1)
  if (last === undefined) return noMiddle
  if (overlay !== undefined && annotations?.isPinned(overlay.nodeId) === true)
    return `the summary ${formatNodeId(overlay.nodeId)} is pinned: no other takes its place`
  const gone = span.filter((node) => !staysWhole(node, conversation))
  if (gone.length === 0) return `the middle of the conversation cannot go: ${whatStays(conversation, span)}`
  const isNew = ({ id, stepId }: ConversationNode): boolean => {
    const hidden = annotations?.hiddenBy(stepId)
    if (hidden !== undefined) return hidden.memo !== undefined
    return overlay === undefined || id < overlay.from || id > overlay.to || overlay.kept.includes(id)
  }
  if ((overlay !== undefined && last.id < overlay.to) || !gone.some(isNew))
    return `there is nothing to summarise that ${overlay === undefined ? 'a prune' : 'the last summary'} left in sight`
  return {
    from: span[0]!.id,
    to: last.id,
    kept: idsOf(span.filter((node) => staysWhole(node, conversation))),
    recentTo: conversation.head!,
    uncut: idsOf(uncutAfter(last.depth, conversation)),
    span,
  }
}

const idsOf = (nodes: readonly ConversationNode[]): NodeId[] => nodes.map(({ id }) => id)

/** Returns the outputs after this depth that are not cut. */
const uncutAfter = (depth: number, conversation: Conversation): ConversationNode[] =>
  conversation.path.slice(depth).filter((node) => node.message.role === 'toolResult' && staysWhole(node, conversation))

/** Explains why nothing can be removed from a span: all of it was said or pinned by people. */
function whatStays(conversation: Conversation, span: readonly ConversationNode[]): string {
  const pinned = span.filter(({ id }) => conversation.annotations?.isPinned(id) === true)
  if (pinned.length === 0) return 'people said all of it'
  const names = pinned.map((node) => formatNodeId(conversation.stepEnd(node).id))
  return `people said it, or pinned it (${cutEnd(names.join(', '), 80)})`
}

interface Forecast {
  readonly bare: number
  /** Trunk tokens with a summary. */
  readonly left: number
  /** Share of the request that is saved. */
  readonly shrink: number
}

/** Forecasts the remaining tokens if the summary takes a tenth of its span, at most `maxSummaryTokens`. */
function forecast(
  conversation: Conversation,
  plan: CompactionPlan,
  policy: CompactionPolicy,
  frameTokens: number,
): Forecast {
  const { before, after: bare } = sizesOfCompaction(conversation, overlayOf(plan, 0, plan.summary ?? '', policy))
  const room = plan.summary === undefined ? policy.maxSummaryTokens : 0
  const left = bare + Math.min(room, Math.ceil(Math.max(0, before - bare) / 10))
  return { bare, left, shrink: 1 - (frameTokens + left) / (frameTokens + before) }
}

/** Explains why a plan is not worth its summary: the possible saving, and the part that has to stay. */
function whyTooLittle(
  conversation: Conversation,
  plan: CompactionPlan,
  policy: CompactionPolicy,
  frameTokens: number,
): string {
  const { correction, path, trunkTokens, annotations } = conversation
  const { bare, left, shrink } = forecast(conversation, plan, policy, frameTokens)
  const tokens = (count: number): string => Math.max(0, Math.round(count * correction)).toLocaleString('en')
  const sum = (nodes: readonly ConversationNode[]): number => nodes.reduce((total, node) => total + node.tokens, 0)
  const ofPeople = path.filter(({ message }) => message.role === 'user')
  const pinned = path.filter(({ stepId, message }) => message.role !== 'user' && annotations?.isPinned(stepId) === true)
  const parts = [
    ['instructions and tools', frameTokens],
    ['messages of people', sum(ofPeople)],
    ['pinned steps', sum(pinned)],
    ['the first and the newest steps, and notes', bare - sum(ofPeople) - sum(pinned)],
  ] as const
  const stays = parts.filter(([, count]) => count > 0).map(([what, count]) => `${tokens(count)} ${what}`)
  const most = `${tokens(trunkTokens - left)} of ${tokens(frameTokens + trunkTokens)} tokens`
  return `it could save ${percent(Math.max(0, shrink))} % of the request (${most}), ${tooLittle(policy)}; what stays: ${stays.join(', ')}`
}

/** Formats a share in percent, with a decimal where that matters. */
export const percent = (share: number): string => String(Math.round(share * 1_000) / 10)

/** Describes how much a compaction must save. */
export const tooLittle = ({ minShrink }: Pick<CompactionPolicy, 'minShrink'>): string =>
  minShrink < 0.001 ? 'and must make it smaller' : `less than ${percent(minShrink)} %`

/** Returns the part of the record that applies a plan with its summary. */
export const overlayOf = (
  plan: CompactionPlan,
  nodeId: NodeId,
  summary: string,
  policy: CompactionPolicy,
): Overlay => ({
  nodeId,
  from: plan.from,
  to: plan.to,
  summary,
  kept: plan.kept,
  recentTo: plan.recentTo,
  maxToolOutputChars: plan.cutTo ?? policy.maxToolOutputChars,
  ...(plan.uncut.length === 0 ? {} : { uncut: plan.uncut }),
})
