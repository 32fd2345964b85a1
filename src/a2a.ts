/** The door "escapement/a2a": serves agents to others, and calls their agents, by the Agent2Agent protocol. Needs the package `@a2a-js/sdk`. */
export { a2a } from '../packages/a2a/src/server/a2a.ts'
export { a2aAgent } from '../packages/a2a/src/client/a2aAgent.ts'

// Agents elsewhere by any other protocol
export type { RemoteAgentEntry } from './actors/parts/remote/remoteEntry.ts'
