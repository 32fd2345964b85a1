import type { AgentContext, AgentMachineEvent } from './agentTypes.ts'
import type { SettleOutput } from './effectTypes.ts'
import { endBackground } from './background.ts'
import { refuseReshaping } from './brakes.ts'
import { type AbortedCalls, cancelCalls, stopCalls } from './calls.ts'
import { cancelCompaction, refuseCompactions } from './compaction.ts'
import { endInnerAgents } from './innerAgents.ts'
import { endTask, tellChildren } from './children.ts'
import type { Draft } from './draft.ts'
import { cancelConsultation, refusePolicies } from './policies.ts'
import { dropSaid, withdrawPrompt } from './queues.ts'
import { endUndo } from './undoing.ts'
import { addPartialReply, dropResuming, endRun } from './runs.ts'

/** Key of the settling in progress. */
export const settleKey = (context: AgentContext): string => `${context.run?.runId ?? context.agentId}/settle`

const nothing = { partial: null, spent: {} } as const

/** Tells everything in flight to stop, and drops messages waiting for the run. */
export function beginAbort(draft: Draft, event?: AgentMachineEvent): void {
  if ((event?.type === 'abort' || event?.type === 'withdraw') && event.requestId !== undefined)
    draft.setRun({ abortedBy: event.requestId })
  if (draft.context.isCompacting) cancelCompaction(draft, 'aborted')
  if (draft.context.consulting !== null) cancelConsultation(draft, 'aborted')
  stopCalls(draft)
  tellChildren(draft, 'abort')
  dropSaid(draft)
  if (event !== undefined) abortBackground(draft, event)
}

/** Ends background calls: all of them for `withdraw`, and for `abort` those that its `background` selects. */
export function abortBackground(draft: Draft, event: AgentMachineEvent): void {
  const runId = draft.context.run?.runId
  if (event.type === 'withdraw') endBackground(draft, 'aborted')
  else if (event.type === 'abort' && event.background !== false)
    endBackground(draft, 'aborted', event.background === 'run' ? (call) => call.runId === runId : undefined)
}

/** Cleans up after an abort and ends the run. */
export function endAbort(
  draft: Draft,
  { partial, ...left }: Pick<SettleOutput, 'partial' | 'spent'> & AbortedCalls = nothing,
): void {
  addPartialReply(draft, partial)
  endInnerAgents(draft, left.spent)
  cancelCalls(draft, 'aborted', left)
  endUndo(draft, 'the run was aborted')
  refuseReshaping(draft, 'the run was aborted')
  refuseCompactions(draft, 'the run was aborted')
  refusePolicies(draft, 'the run was aborted')
  endRun(draft, 'aborted')
}

/** Aborts the background calls and children of an idle agent, and withdraws its pending continuation. */
export function abortAtRest(draft: Draft, event: AgentMachineEvent): void {
  dropResuming(draft)
  abortBackground(draft, event)
  tellChildren(draft, 'abort')
  endTask(draft)
}

/** Withdraws a request that waits to begin: a prompt, or the continuation of a run that failed. */
export function withdraw(draft: Draft, event: { readonly id: string }): void {
  withdrawPrompt(draft, event)
  if (draft.context.resuming?.id === event.id) dropResuming(draft)
}
