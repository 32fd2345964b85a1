/** The door "escapement/acp": agents for the clients of the Agent Client Protocol. */
export { acp } from '../packages/acp/src/acp.ts'
