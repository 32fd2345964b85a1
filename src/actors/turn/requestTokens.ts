import type { AgentPorts } from '../agentPorts.ts'

/** Tokens of a request whose trunk is estimated at `trunkTokens`, corrected by what the provider last measured. */
export const requestTokens = ({ frame, conversation }: AgentPorts, trunkTokens: number): number =>
  Math.max(0, Math.round((frame.frameTokens + trunkTokens) * conversation.correction))
