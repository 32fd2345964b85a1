import type { AgentPorts } from './agentPorts.ts'

/** Tokens of a request whose trunk is estimated at `trunkTokens`, corrected by what the provider last measured. */
export const requestTokens = ({ definition, conversation }: AgentPorts, trunkTokens: number): number =>
  Math.max(0, Math.round((definition.frameTokens + trunkTokens) * conversation.correction))
