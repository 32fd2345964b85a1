import { createContext } from 'preact'

/** Names of agents by their ids, or the id itself if the name is not known. */
export const AgentNames = createContext<(agentId: string) => string>((agentId) => agentId)
