import type { Agent } from '../../src/index.ts'

/** Ids of an agent's own calls that wait for an approval. */
export const heldCalls = (agent: Pick<Agent, 'id' | 'pending'>): readonly string[] =>
  agent.pending().flatMap(({ kind, agentId, callId }) => (kind === 'approval' && agentId === agent.id ? [callId] : []))
