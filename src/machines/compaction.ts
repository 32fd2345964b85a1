import type { CompactionRequest } from '../protocol/braking.ts'
import type { AgentContext } from './agentTypes.ts'
import type { CompactOutput } from './drainTypes.ts'
import { forgetFold } from './brakes.ts'
import type { Draft } from './draft.ts'

/** Key of the current compaction. */
export const compactionKey = (context: AgentContext): string => `${context.agentId}/compact/${context.compactions}`

/** Queues a compaction for the next drain. */
export function requestCompaction(draft: Draft, request: CompactionRequest): void {
  draft.record({ type: 'compaction.requested', ...draft.at, request })
  draft.set({ compactRequests: [...draft.context.compactRequests, request] })
}

/** The request that the current compaction answers. */
export const compactRequest = ({ compactionCause, compactRequests }: AgentContext): CompactionRequest | undefined =>
  compactionCause === 'requested' ? compactRequests[0] : undefined

const answerTo = (request: CompactionRequest | undefined): { requestId?: string } =>
  request === undefined ? {} : { requestId: request.id }

export function startCompaction(draft: Draft, cause: AgentContext['compactionCause']): void {
  draft.set({ compactionCause: cause })
  const answered = answerTo(compactRequest(draft.context))
  draft.record({ type: 'compaction.start', ...draft.at, cause, tokens: draft.context.contextTokens, ...answered })
}

/** Applies the summary, or records why there is none. Answers the request, if there was one, unless it `staysAsked`. */
export function endCompaction(draft: Draft, output: CompactOutput, staysAsked = false): void {
  const { overlay, reason, tokensBefore, tokensAfter, usage, costUsd, economics } = output
  const nodeId = draft.context.lastNodeId + 1
  const answered = answerTo(staysAsked ? undefined : compactRequest(draft.context))
  draft.record({
    type: 'compaction.end',
    ...draft.at,
    applied: overlay !== null,
    ...answered,
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
  dropRequests(draft, answered.requestId)
  draft.set({ contextTokens: tokensAfter, compactedAt: tokensAfter })
}

/** Records a compaction that did not finish. */
export const cancelCompaction = (draft: Draft, reason: string, staysAsked = false): void =>
  endCompaction(draft, nothingSaved(draft.context, reason), staysAsked)

/** Refuses the compactions that wait, because they will not happen. */
export function refuseCompactions(draft: Draft, why: string): void {
  for (const { id: requestId } of draft.context.compactRequests) {
    const { tokensBefore, tokensAfter, costUsd } = nothingSaved(draft.context, why)
    const reason = `compaction refused: ${why}`
    const saved = { tokensBefore, tokensAfter, costUsd }
    draft.record({ type: 'compaction.end', ...draft.at, applied: false, requestId, reason, ...saved })
    dropRequests(draft, requestId)
  }
}

const nothingSaved = (context: AgentContext, reason: string): CompactOutput => ({
  key: compactionKey(context),
  overlay: null,
  reason,
  tokensBefore: context.contextTokens,
  tokensAfter: context.contextTokens,
  usage: null,
  costUsd: 0,
  at: context.now,
})

function dropRequests(draft: Draft, answered: string | undefined): void {
  if (answered === undefined) return
  draft.set({ compactRequests: draft.context.compactRequests.filter(({ id }) => id !== answered) })
}
