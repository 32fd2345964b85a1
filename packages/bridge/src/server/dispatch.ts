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

/** An agent to be started. */
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
  /** Dispatches a command. `ended` resolves once the command's run has ended, to the outcome if the log does not contain it. It never rejects. */
  command(
    command: CheckedCommand,
    requestId: string,
  ): Promise<{ readonly ended?: Promise<UnloggedEnd | undefined> | undefined }>
  /** Starts an agent. Resolves to the `seq` of its last record. Rejects with `AGENT_EXISTS`. */
  begin(agent: AgentBirth, requestId: string): Promise<number>
  /**
   * Sends an event to a durable machine, wherever it runs. Machines are then read only from their logs. Rejects as
   * `send` of a machine does, and with `MACHINE_NOT_FOUND`. If missing, only this process's machines are used.
   */
  event?(machine: { readonly hostId: string; readonly event: object }, requestId: string): Promise<void>
  /** Called when the server closes. Stops waiting for the outcome of commands, which continue. */
  close?(): void
}
