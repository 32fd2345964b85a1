import type { CheckedCommand } from '../../protocol/commands.ts'
import type { Metadata } from '../../protocol/metadata.ts'
import type { RunResult } from '../../runs/runResult.ts'

/**
 * Whether an agent certainly works in this process. One that rests may be driven by another one by now, without a word to this one, if
 * somebody dispatches commands.
 */
export const isSurelyHere = (
  agent: { readonly isLoaded: boolean; readonly state: string } | undefined,
  dispatch: Dispatch | undefined,
): boolean => agent?.isLoaded === true && (dispatch === undefined || !['idle', 'paused'].includes(agent.state))

/** How a run ended that its log says nothing of, such as one that never began. */
export type UnloggedEnd = Pick<RunResult, 'stopReason' | 'error'>

/** An agent that is to begin. */
export interface AgentBirth {
  readonly id: string
  readonly definition: string
  readonly metadata?: Metadata
}

/**
 * Takes what clients command to where the agents are, in place of those of this process: to an engine that places them. A request that comes
 * again under the same id is carried out once.
 *
 * Contract: both resolve once the command is as safe as the log would have it, and reject as an agent's own refusal would.
 */
export interface Dispatch {
  /** `ended` resolves once the run of the command has ended, with what its log does not say. It never rejects. */
  command(
    command: CheckedCommand,
    requestId: string,
  ): Promise<{ readonly ended?: Promise<UnloggedEnd | undefined> | undefined }>
  /** Begins an agent; resolves with the `seq` of the last of its records. Rejects with `AGENT_EXISTS`. */
  begin(agent: AgentBirth, requestId: string): Promise<number>
  /** The server closes: nobody waits any more for what comes of commands, which go on. */
  close?(): void
}
