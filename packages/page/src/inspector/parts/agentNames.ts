import { createContext } from 'preact'

/** Names of agents by their ids; the id itself when the name is not known. */
export const AgentNames = createContext<(agentId: string) => string>((agentId) => agentId)
