import type { RevertRequest } from '../protocol/braking.ts'
import type { AgentContext } from './agentTypes.ts'
import { askFor } from './brakes.ts'
import type { StallCheck } from './drainTypes.ts'
import type { Draft } from './draft.ts'
import { pauseRun } from './runs.ts'

/** Returns the key of the current stall check. */
export const stallKey = (context: AgentContext): string => `${context.agentId}/stall/${context.drainedAt}`

/** Returns the id of the revert that ends a stall, which is the same however often the step is checked. */
export const stallRevertId = (context: AgentContext): string => `${context.agentId}/stall/n${context.lastNodeId}`

/** Records the stall, and requests the revert first, so that a crash between two records loses nothing. */
export function applyStall(draft: Draft, { stall, revert, isRecorded, noteTokens }: StallCheck): void {
  if (stall === null || isRecorded === true) return
  if (revert !== undefined && !isWaiting(draft, revert)) askFor(draft, 'revert', revert)
  draft.record({ type: 'stall.detected', ...draft.at, ...stall })
  draft.set({ contextTokens: draft.context.contextTokens + noteTokens })
}

const isWaiting = ({ context: { reverts } }: Draft, { id }: RevertRequest): boolean =>
  reverts.some((request) => request.id === id)

/** Pauses the run that goes in circles. */
export function pauseForStall(draft: Draft, check: StallCheck): void {
  applyStall(draft, check)
  const { rule, first, target, evidence } = check.stall!
  pauseRun(draft, { type: 'stall', rule, first, target, evidence })
}
