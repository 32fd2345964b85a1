import type { PreparedTurn, TurnUse } from '../protocol/bridge/turns.ts'
import type { FrameState } from './agentTypes.ts'

/** Returns the frame after a `use.changed`. */
export const usedFrame = (frame: FrameState | null, use: TurnUse | null): FrameState => ({
  use,
  instructions: use?.instructions ?? frame?.instructions ?? null,
  offered: frame?.offered ?? null,
})

/** Returns the frame after a `turn.prepared`. */
export const preparedFrame = (
  frame: FrameState | null,
  { instructions, tools }: Pick<PreparedTurn, 'instructions' | 'tools'>,
): FrameState => ({
  use: frame?.use ?? null,
  instructions: instructions ?? frame?.instructions ?? null,
  offered: tools ?? null,
})

/** Returns the frame without the values in use, which were requested for the previous definition. */
export const withoutUse = (frame: FrameState | null): FrameState | null =>
  frame === null ? null : { ...frame, use: null }
