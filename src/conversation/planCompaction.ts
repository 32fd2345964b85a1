import type { NodeId } from '../protocol/ids.ts'
import type { Overlay } from '../protocol/records.ts'
import type { Conversation } from './conversation.ts'
import type { ConversationNode, Step } from './node.ts'
import { savedByCutting, savedBySummary, staysWhole } from './overlay.ts'

/** When and how far to compact. Token counts refer to the model's context window. */
export interface CompactionPolicy {
  readonly contextWindow: number
  /** Share of the window the request may fill. */
  readonly compactAt: number
  /** Headroom below `compactAt`, as a share of the window, at which a compaction starts. */
  readonly threshold: number
  /** Steps kept word for word at the start and at the end of the trunk. */
  readonly keepFirst: number
  readonly keepRecent: number
  readonly maxSummaryTokens: number
  readonly maxToolOutputChars: number
  /** A compaction that saves less than this share is not applied. */
  readonly minShrink: number
}

export const defaultCompactionPolicy: CompactionPolicy = {
  contextWindow: 200_000,
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
  /** The nodes of the span. */
  readonly span: readonly ConversationNode[]
}

/**
 * Chooses the span: everything but the first and the most recent steps; the recent part is halved until what is left fits
 * under the trigger. `undefined` when the trunk has no middle. Pure.
 */
export function planCompaction(
  conversation: Conversation,
  policy: CompactionPolicy,
  frameTokens: number,
): CompactionPlan | undefined {
  const steps = conversation.steps()
  const target = compactionTrigger(policy) / conversation.correction - frameTokens - policy.maxSummaryTokens
  let plan: CompactionPlan | undefined
  for (let recent = policy.keepRecent; ; recent = Math.floor(recent / 2)) {
    const candidate = planSpan(conversation, steps, policy.keepFirst, Math.max(1, recent))
    if (candidate !== undefined) {
      plan = candidate
      if (tokensLeft(conversation, candidate, policy) <= target) return plan
    }
    if (recent <= 1) return plan
  }
}

function planSpan(
  conversation: Conversation,
  steps: readonly Step[],
  first: number,
  recent: number,
): CompactionPlan | undefined {
  const middle = steps.slice(first, Math.max(first, steps.length - recent))
  const span = middle.flatMap((step) => step.nodes)
  if (span.every((node) => staysWhole(node, conversation))) return undefined
  const { overlay, annotations } = conversation
  if (overlay !== undefined && annotations?.isPinned(overlay.nodeId) === true && span.at(-1)!.id >= overlay.from)
    return undefined
  return {
    from: span[0]!.id,
    to: span.at(-1)!.id,
    kept: span.filter((node) => staysWhole(node, conversation)).map((node) => node.id),
    recentTo: conversation.head!,
    uncut: conversation.path
      .slice(span.at(-1)!.depth)
      .filter((node) => node.message.role === 'toolResult' && staysWhole(node, conversation))
      .map((node) => node.id),
    span,
  }
}

/** Trunk tokens once the plan's span is gone, before a summary takes its place. */
const tokensLeft = (conversation: Conversation, plan: CompactionPlan, policy: CompactionPolicy): number =>
  tokensUnder(conversation, overlayOf(plan, 1, '', policy))

/** Trunk tokens with an overlay laid over. */
const tokensUnder = (conversation: Conversation, overlay: Overlay): number =>
  (conversation.path.at(-1)?.pathTokens ?? 0) -
  savedBySummary(overlay, conversation) -
  savedByCutting(overlay, conversation)

/** The record's part that puts a plan and its summary in force. */
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
  maxToolOutputChars: policy.maxToolOutputChars,
  ...(plan.uncut.length === 0 ? {} : { uncut: plan.uncut }),
})
