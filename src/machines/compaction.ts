import { noUsage } from '../protocol/messages.ts'
import type { AgentContext, CompactOutput } from './agentTypes.ts'
import { forgetFold } from './brakes.ts'
import type { Draft } from './draft.ts'
import { spend } from './spending.ts'

/** Key of the current compaction. */
export const compactionKey = (context: AgentContext): string => `${context.agentId}/compact/${context.compactions}`

export function startCompaction(draft: Draft, cause: AgentContext['compactionCause']): void {
  draft.record({ type: 'compaction.start', ...draft.at, cause, tokens: draft.context.contextTokens })
  draft.set({ compactionCause: cause, isCompacting: true, compactions: draft.context.compactions + 1 })
}

/** Applies the summary, or records why there is none. */
export function endCompaction(draft: Draft, output: CompactOutput): void {
  const { overlay, reason, tokensBefore, tokensAfter, usage, costUsd, economics } = output
  spend(draft, usage ?? noUsage, costUsd)
  const nodeId = draft.context.lastNodeId + 1
  draft.record({
    type: 'compaction.end',
    ...draft.at,
    applied: overlay !== null,
    ...(reason === null ? {} : { reason }),
    ...(overlay === null ? {} : { overlay: { nodeId, ...overlay } }),
    tokensBefore,
    tokensAfter,
    ...(usage === null ? {} : { usage }),
    costUsd,
    ...(economics === undefined ? {} : { economics }),
  })
  if (overlay !== null) {
    forgetFold(draft)
    draft.set({ lastNodeId: nodeId })
  }
  draft.set({ contextTokens: tokensAfter, compactedAt: tokensAfter, isCompacting: false })
}

/** Records a compaction that did not finish. */
export const cancelCompaction = (draft: Draft, reason: string): void =>
  endCompaction(draft, {
    key: compactionKey(draft.context),
    overlay: null,
    reason,
    tokensBefore: draft.context.contextTokens,
    tokensAfter: draft.context.contextTokens,
    usage: null,
    costUsd: 0,
    at: draft.context.now,
  })
