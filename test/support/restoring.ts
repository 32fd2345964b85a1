import type { AgentDefinition } from '../../src/actors/agentDefinition.ts'

/** What an agent's input is restored for. */
export const restoring = (definition: AgentDefinition) => ({ agentId: 'a1', path: [], deps: undefined, definition })
