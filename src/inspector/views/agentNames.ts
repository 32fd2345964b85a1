import { createContext } from 'preact'

/** What an agent is about, by its id; its id when that is not known. */
export const AgentNames = createContext<(agentId: string) => string>((agentId) => agentId)
