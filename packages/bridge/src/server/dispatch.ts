import type { CheckedCommand } from '../../../../src/protocol/bridge/commands.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'

/**
 * Returns true if an agent certainly works in this process. If commands are dispatched to an engine, another process may have begun to drive
 * an agent at rest without informing this one.
 */
export const isSurelyHere = (
  agent: { readonly isLoaded: boolean; readonly state: string } | undefined,
  dispatch: Dispatch | undefined,
): boolean => agent?.isLoaded === true && (dispatch === undefined || !['idle', 'paused'].includes(agent.state))

/** End of a run that its log does not record, such as a run that never began. */
export type UnloggedEnd = Pick<RunResult, 'stopReason' | 'error'>

/** An agent that is to begin. */
export interface AgentBirth {
  readonly id: string
  readonly definition: string
  readonly metadata?: Metadata
}

/**
 * Dispatches clients' commands to an engine that places the agents, instead of to the agents of this process. A repeated request with the same id is
 * carried out once. Contract: the methods resolve once the command is as durable as a log record, and reject like an agent's own refusal.
 */
export interface Dispatch {
  /** `ended` resolves once the run of the command has ended, with any outcome that the log does not contain. It never rejects. */
  command(
    command: CheckedCommand,
    requestId: string,
  ): Promise<{ readonly ended?: Promise<UnloggedEnd | undefined> | undefined }>
  /** Starts an agent; resolves with the `seq` of its last record. Rejects with `AGENT_EXISTS`. */
  begin(agent: AgentBirth, requestId: string): Promise<number>
  /**
   * Gives a machine that is kept an event, wherever it is; machines are then read from their logs alone. Rejects as `send` of a machine does, and with
   * `MACHINE_NOT_FOUND`. Missing: machines are those of this process.
   */
  event?(machine: { readonly hostId: string; readonly event: object }, requestId: string): Promise<void>
  /** Called when the server closes: it stops waiting for the outcome of commands, which continue. */
  close?(): void
}
