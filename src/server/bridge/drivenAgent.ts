import type { AgentCommand } from '../../protocol/commands.ts'
import type { AgentEvent } from '../../protocol/events.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { Run } from '../../runs/run.ts'
import type { Agent } from '../../runtime/agents/agent.ts'

/** An agent as other protocols read and drive it: one of this process, or one that an engine places. */
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
  /** Set where somebody else sees to it that a run that was cut off goes on: its interruption is not its end. */
  readonly isPlaced?: true
  readonly parent: object | undefined
  children(): DrivenBelow[]
  dispatch(
    command: AgentCommand,
    options?: { readonly requestId?: string },
  ): Pick<Run, 'requestId' | 'result'> | undefined
  /** Of a placed one: resolves once what was dispatched just now is taken, and rejects if it was refused. Any other refuses at once. */
  taken?(): Promise<void>
  events(): AsyncIterableIterator<AgentEvent>
  subscribe(listener: (event: AgentEvent) => unknown, options?: { readonly descendants?: boolean }): () => void
}

/** A sub-agent that is alive. */
export interface DrivenBelow extends Pick<Agent, 'id' | 'lastSeq' | 'durable'> {
  children(): DrivenBelow[]
}

/** Whether a record or an event says that a run was cut off that goes on by itself. */
export const isCutOff = (agent: Pick<DrivenAgent, 'isPlaced'>, happened: LogRecord | AgentEvent): boolean =>
  agent.isPlaced === true && happened.type === 'run.end' && happened.reason?.type === 'interrupted'
