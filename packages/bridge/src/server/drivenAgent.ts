import type { AgentCommand } from '../../../../src/protocol/bridge/commands.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { Permissions } from '../../../../src/protocol/parts/permissions/permissionState.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Run } from '../../../../src/protocol/runs/run.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'

/** An agent that other protocols read and drive: one of this process, or one that an engine places. */
export interface DrivenAgent extends Pick<
  Agent,
  | 'id'
  | 'definition'
  | 'path'
  | 'incognito'
  | 'state'
  | 'pause'
  | 'lastSeq'
  | 'spent'
  | 'clientTools'
  | 'conversation'
  | 'growingReply'
  | 'durable'
  | 'wake'
  | 'wasAsked'
  | 'pending'
  | 'approvals'
  | 'tree'
  | 'decide'
  | 'revert'
  | 'abort'
  | 'close'
> {
  /** Set if an engine resumes runs that were cut off. An interruption is then not the end of the run. */
  readonly isPlaced?: true
  readonly parent: object | undefined
  /** The agent's application state, with its version; missing for a placed agent. */
  readonly appState?: unknown
  readonly stateVersion?: number
  children(): DrivenBelow[]
  dispatch(
    command: AgentCommand,
    options?: { readonly requestId?: string },
  ): Pick<Run, 'requestId' | 'result'> | undefined
  /**
   * Resolves once the commands dispatched so far are accepted, and rejects if one was refused. Set for a placed
   * agent. Any other agent refuses immediately.
   */
  taken?(): Promise<void>
  /** Returns the rules for the agent's calls; `null` without `permissions`. Missing for a placed agent. */
  permissions?(): Permissions | null
  events(): AsyncIterableIterator<AgentEvent>
  subscribe(listener: (event: AgentEvent) => unknown, options?: { readonly descendants?: boolean }): () => void
}

/** A sub-agent that is alive. */
export interface DrivenBelow extends Pick<Agent, 'id' | 'lastSeq' | 'durable'> {
  children(): DrivenBelow[]
}

/** Returns true if a record or an event marks the end of a run that was cut off and will resume by itself. */
export const isCutOff = (agent: Pick<DrivenAgent, 'isPlaced'>, happened: LogRecord | AgentEvent): boolean =>
  agent.isPlaced === true && happened.type === 'run.end' && happened.reason?.type === 'interrupted'
