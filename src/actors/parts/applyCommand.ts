import type { PartDraft, PartStates } from '../../machines/partStates.ts'
import type { CheckedCommand } from '../../protocol/bridge/commands.ts'
import type { AgentDefinition } from '../define/agentDefinition.ts'
import type { StatePort } from './state/stateDoor.ts'

/** The agent that a command of a part is for, and the circumstances of the command. */
export interface PartCommandContext {
  readonly agentId: string
  readonly definition: AgentDefinition
  readonly parts: PartStates
  /** The agent's state, if it has one and is loaded. */
  readonly state: StatePort | undefined
  /** Set if rules decide about the agent's calls. */
  readonly isGoverned: boolean
  /** Id of the command. Its records carry it as `requestId`, so that a command that is sent again is not carried out again. */
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
}

/** Returns the records that a command makes, from the state of the agent's parts. Pure. @throws RuntimeError */
export type ApplyCommand<T extends CheckedCommand['type']> = (
  command: Extract<CheckedCommand, { readonly type: T }>,
  context: PartCommandContext,
) => readonly PartDraft[]
