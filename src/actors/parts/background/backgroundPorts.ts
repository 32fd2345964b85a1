import type { Evidence } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import type { WaitedFor } from '../../tools/waitForTool.ts'

/** The calls of one agent that work in the background, as its effects see them. */
export interface BackgroundPorts {
  /** Keeps the end of the output so far of the call under `key`. */
  progressed(key: string, progress: unknown): void
  /** Returns the newest output of a call, or the ids of the calls at work if the given one is not among them. */
  check(id: string): string
  /** Returns the background calls whose receipts are among these nodes, and whether they end with them. */
  within(nodes: readonly NodeId[]): NonNullable<Evidence['background']>
  /** Ends a call and resolves with its report, or with the ids of the calls at work if the given one is not among them. */
  cancel(id: string, signal: AbortSignal): Promise<WaitedFor>
}
