/** The door "escapement/acp": agents for clients of the Agent Client Protocol, and foreign agents for our own. */
export { acp } from '../packages/acp/src/acp.ts'
export { acpAgent } from '../packages/acp/src/client/acpAgent.ts'

// Agents elsewhere by any other protocol
export type { RemoteAgentEntry } from './actors/parts/remote/remoteEntry.ts'
