import type { AgentPorts } from '../agentPorts.ts'

/** Returns the maximum trunk size of a request in tokens, as the conversation counts them. Without compaction the window is not known. */
export function mostTokens({ conversation, definition, frame }: AgentPorts): number {
  if (definition.compaction === null) return Infinity
  const { contextWindow, compactAt } = definition.compaction.policy
  return (compactAt * contextWindow) / conversation.correction - frame.frameTokens
}
