import type { Tool } from '../../tools/defineTool.ts'

/** An agent that runs elsewhere, as an entry of an agent's `agents`: a supervised child of the caller that keeps no log here. */
export interface RemoteAgentEntry {
  readonly protocol: string
  readonly name: string
  /** The tool with which a model calls the agent. */
  readonly tool: Tool
}

export const isRemoteAgent = (entry: unknown): entry is RemoteAgentEntry =>
  typeof entry === 'object' && entry !== null && 'protocol' in entry && 'tool' in entry
