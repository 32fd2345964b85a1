import type { Evidence } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import type { WaitedFor } from '../../tools/waitForTool.ts'

/** The calls of one agent that work in the background, as its effects see them. */
export interface BackgroundPorts {
  /** Keeps the end of what the call under `key` has put out. */
  progressed(key: string, progress: unknown): void
  /** Returns the newest output of a call; for an id that is not at work, says which are. */
  check(id: string): string
  /** Returns the calls whose receipts are among these nodes, and whether they end with them. */
  within(nodes: readonly NodeId[]): NonNullable<Evidence['background']>
  /** Ends a call, and resolves with its report; for an id that is not at work, says which are. */
  cancel(id: string, signal: AbortSignal): Promise<WaitedFor>
}
